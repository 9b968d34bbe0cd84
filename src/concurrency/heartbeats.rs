//! Who is still there. In Workers a request whose client has left may never run on, and nothing tells: so each one gives a sign of
//! life again and again, and one that has not for a while is gone.

use crate::concurrency::per_reserve::PerReserve;
use crate::limit::time::{Span, Time};
use crate::protocol::permits::Reserve;
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

/// A sign of life's owner: its last two bits say what it leaves to others, so that this is known wherever it is.
pub type Id = u64;

/// What the owner of `id` leaves to others.
pub fn reserve(id: Id) -> Reserve {
    match id & 3 {
        0 => Reserve::Nothing,
        1 => Reserve::Tenth,
        _ => Reserve::Fifth,
    }
}

/// Those who are there.
#[derive(Debug, Default)]
pub struct Heartbeats {
    last: HashMap<Id, Time>,
    count: PerReserve,
    next: Id,
    looked: Time,
    swept: Time,
    /// Nobody is counted out before.
    grace: Time,
}

impl Heartbeats {
    /// Nobody yet; who enters is called by a number above `least`, a multiple of four.
    pub fn above(least: Id) -> Heartbeats {
        Heartbeats { next: least, ..Heartbeats::default() }
    }

    /// How many are there.
    pub fn count(&mut self, now: Time) -> u64 {
        self.look(now);
        self.last.len() as u64
    }

    /// How many are there that leave so much to others.
    pub fn each(&mut self, now: Time) -> PerReserve {
        self.look(now);
        self.count
    }

    /// One more, that leaves so much to others.
    pub fn start(&mut self, reserve: Reserve, now: Time) -> Id {
        self.next = self.next.wrapping_add(4);
        let id = self.next | reserve as Id;
        self.heartbeat(id, now);
        id
    }

    /// Is still there; also one that was counted out too early, or has entered elsewhere.
    pub fn heartbeat(&mut self, id: Id, now: Time) {
        self.extend_heartbeat(id, now, Span::ZERO);
    }

    /// Is still there, and will give no sign for up to `span`.
    pub fn extend_heartbeat(&mut self, id: Id, now: Time, span: Span) {
        self.look(now);
        if self.last.insert(id, now.plus(span.saturating_sub(SILENT))).is_none() {
            self.count.add(reserve(id), 1);
        }
    }

    /// Has left.
    pub fn end(&mut self, id: Id) {
        if self.last.remove(&id).is_some() {
            let count = self.count.at(reserve(id));
            *count = count.saturating_sub(1);
        }
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
            let Heartbeats { last, count, .. } = self;
            *count = PerReserve::default();
            last.retain(|id, last| {
                let stays = now.since(*last) < GONE;
                count.add(reserve(*id), u64::from(stays));
                stays
            });
        }
    }
}
