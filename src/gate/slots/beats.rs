//! Who is still there. In Workers a request whose client has left may never run on, and nothing tells: so each one gives a sign of
//! life again and again, and one that has not for a while is gone.

use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// How often a request gives a sign of life.
pub const BEAT: Span = Span::from_secs(1);

/// A request that has given none for so long is gone.
pub const GONE: Span = Span::from_secs(3);

/// The most that the watch goes on between two looks at it. An isolate that was held up for longer has heard of nobody
/// meanwhile; the living get their turn before they are counted out.
const STEP: Span = Span::from_secs(1);

/// A time in which nobody was heard of this long is no hold-up: nobody is there.
const SILENCE: Span = Span::from_secs(10);

/// A sign of life's owner.
pub type Id = u64;

/// Those who are there.
#[derive(Debug, Default)]
pub struct Beats {
    last: HashMap<Id, Time>,
    next: Id,
    /// Time as the watch counts it.
    watch: Time,
    looked: Time,
    swept: Time,
}

impl Beats {
    /// How many are there.
    pub fn count(&mut self, now: Time) -> u64 {
        self.look(now);
        self.last.len() as u64
    }

    /// One more.
    pub fn enter(&mut self, now: Time) -> Id {
        self.look(now);
        self.next = self.next.wrapping_add(1);
        self.last.insert(self.next, self.watch);
        self.next
    }

    /// Is still there; also one that was counted out too early.
    pub fn beat(&mut self, id: Id, now: Time) {
        self.look(now);
        self.last.insert(id, self.watch);
    }

    /// Has left.
    pub fn leave(&mut self, id: Id) {
        self.last.remove(&id);
    }

    fn look(&mut self, now: Time) {
        let gap = now.since(self.looked);
        self.watch = self.watch.plus(if gap >= SILENCE { gap } else { gap.min(STEP) });
        self.looked = self.looked.max(now);
        // Looking through them all is for once in a while.
        if self.watch.since(self.swept) >= Span::from_millis(250) {
            self.swept = self.watch;
            let watch = self.watch;
            self.last.retain(|_, last| watch.since(*last) < GONE);
        }
    }
}
