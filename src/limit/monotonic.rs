//! A clock that never steps back, made from a wall clock that may.

use crate::limit::time::{Span, Time};

/// A step back by less than this is jitter: time stands still until the wall clock has caught up.
/// Following each such step would count the wall clock's way forward again and again, and time
/// would run fast.
const JITTER: Span = Span::from_secs(1);

/// Turns readings of a wall clock into times that never decrease.
///
/// After a step back the clock goes on at the wall clock's pace, and does not stand still until the
/// wall clock has caught up. A corrected clock therefore makes no client wait for hours. A later
/// step forward that may undo the correction is counted only as far as it exceeds the lead, so
/// nobody gains tokens from time that was counted already.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock {
    /// The last time returned.
    now: Time,
    /// The wall clock's last reading, jitter aside.
    wall: Time,
    /// How far `now` was ahead of the wall clock at that reading.
    lead: Span,
}

impl MonotonicClock {
    /// The monotonic time at which the wall clock reads `wall`.
    pub fn read(&mut self, wall: Time) -> Time {
        if wall < self.wall && self.wall.since(wall) < JITTER {
            return self.now;
        }
        let step = wall.since(self.wall);
        self.now = if wall < self.wall {
            self.now
        } else if step < self.lead {
            self.now.plus(step)
        } else {
            self.now.max(wall)
        };
        self.wall = wall;
        self.lead = self.now.since(wall);
        self.now
    }
}
