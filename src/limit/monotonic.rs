//! A clock that never steps back, made from one that may.

use crate::limit::time::{Span, Time};

/// A clock that is behind by less than this only trembles: time stands still until it has caught up. Each step counted from
/// where it fell back to would make time run ahead, a little with every tremble.
const TREMBLE: Span = Span::from_secs(1);

/// Turns a wall clock's readings into times that never decrease.
///
/// While the wall clock is behind where it once was, time goes on at its pace instead of standing still until it has
/// caught up: nobody waits for hours because a clock was corrected. A leap forward that may be the correction's own
/// undoing is not counted a second time: nobody gains what the clock has merely regained.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock {
    now: Time,
    wall: Time,
    ahead: Span,
}

impl MonotonicClock {
    /// The steady time at which the wall clock reads `wall`.
    pub fn read(&mut self, wall: Time) -> Time {
        if wall < self.wall && self.wall.since(wall) < TREMBLE {
            return self.now;
        }
        let step = wall.since(self.wall);
        self.now = if wall < self.wall {
            self.now
        } else if step < self.ahead {
            self.now.plus(step)
        } else {
            self.now.max(wall)
        };
        self.wall = wall;
        self.ahead = self.now.since(wall);
        self.now
    }
}
