//! Who is still there. In Workers a request whose client has left may never run on, and nothing tells: so each one gives a sign of
//! life again and again, and one that has not for a while is gone.

use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// A request that has given no sign of life for so long is gone. It gives one a second.
pub const GONE: Span = Span::from_secs(3);

/// Two looks that lie further apart than this leave it open what has been meanwhile: nothing, or a hold-up in which nobody had a turn.
const HOLD_UP: Span = Span::from_millis(1_500);

/// After a hold-up the living have so long to say so.
const GRACE: Span = Span::from_millis(500);

/// No hold-up is as long as this: nobody was there.
const SILENCE: Span = Span::from_secs(6);

/// Who is to be silent for so long is not gone by then, with a second to spare.
const SILENT: Span = Span::from_secs(2);

/// How often the gone are looked for.
const SWEEP: Span = Span::from_millis(250);

/// A sign of life's owner.
pub type Id = u64;

/// Those who are there.
#[derive(Debug, Default)]
pub struct Beats {
    last: HashMap<Id, Time>,
    next: Id,
    looked: Time,
    swept: Time,
    /// Nobody is counted out before.
    grace: Time,
}

impl Beats {
    /// Nobody yet; who enters is called by a number above `least`.
    pub fn above(least: Id) -> Beats {
        Beats { next: least, ..Beats::default() }
    }

    /// How many are there.
    pub fn count(&mut self, now: Time) -> u64 {
        self.look(now);
        self.last.len() as u64
    }

    /// One more.
    pub fn enter(&mut self, now: Time) -> Id {
        self.look(now);
        self.next = self.next.wrapping_add(1);
        self.last.insert(self.next, now);
        self.next
    }

    /// Is still there; also one that was counted out too early, or has entered elsewhere.
    pub fn beat(&mut self, id: Id, now: Time) {
        self.look(now);
        self.last.insert(id, now);
    }

    /// Is still there, and will give no sign for up to `span`.
    pub fn hold(&mut self, id: Id, now: Time, span: Span) {
        self.look(now);
        self.last.insert(id, now.plus(span.over(SILENT)));
    }

    /// Has left.
    pub fn leave(&mut self, id: Id) {
        self.last.remove(&id);
    }

    fn look(&mut self, now: Time) {
        let gap = now.since(self.looked);
        self.looked = self.looked.max(now);
        if gap >= HOLD_UP && gap < SILENCE {
            self.grace = now.plus(GRACE);
        }
        // Looking through them all is for once in a while.
        if now >= self.grace && self.swept.plus(SWEEP) <= now {
            self.swept = now;
            self.last.retain(|_, last| now.since(*last) < GONE);
        }
    }
}
