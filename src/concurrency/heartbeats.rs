//! The requests that are still there, by their heartbeats.
//!
//! In Workers a request whose client has left may never run again, and nothing reports that. So
//! each request gives a heartbeat once a second. A request without one for [`GONE`] counts as gone.

use crate::concurrency::per_reserve::PerReserve;
use crate::limit::time::{Span, Time};
use crate::protocol::permits::Reserve;
use hashbrown::HashMap;

/// A request without a heartbeat for this long is gone. Heartbeats come once a second. A smaller
/// value counts slow requests as gone; a larger one keeps permits of gone requests from others.
pub const GONE: Span = Span::from_secs(3);

/// A pause this long between two calls may be a hold-up: the isolate ran no code, heartbeats
/// included.
const HOLD_UP: Span = Span::from_millis(1_500);

/// Time for requests to give a heartbeat after a hold-up. Nothing counts as gone until it is over.
const GRACE: Span = Span::from_millis(500);

/// A pause this long is no hold-up: the requests from before it count as ended.
const SILENCE: Span = Span::from_secs(6);

/// [`Heartbeats::extend_heartbeat`] announces a pause. The request's last heartbeat then counts as
/// given this long before the pause ends, but not before the call. After a pause of 2 s or more, a
/// silent request is gone [`GONE`] − `EARLY` later: after one second.
const EARLY: Span = Span::from_secs(2);

/// Time between two searches through all requests for those that are gone.
const SWEEP: Span = Span::from_millis(250);

/// Id of a request under one cap, and so of the permit that it uses. Its low two bits hold its
/// [`Reserve`]; see [`reserve_of`].
pub type Id = u64;

/// The low bits of an id that hold its reserve.
const RESERVE_BITS: Id = 0b11;

/// The low bits of an id that has this `reserve`.
///
/// The numbers are a format: JavaScript keeps ids while an instance of the module fails, and the
/// next instance reads the reserves of its requests from them. So they stay as they are, however
/// the variants of [`Reserve`] are ordered.
const fn reserve_bits(reserve: Reserve) -> Id {
    match reserve {
        Reserve::Nothing => 0,
        Reserve::Tenth => 1,
        Reserve::Fifth => 2,
    }
}

/// The reserve of the request with this `id`. The unused bits `3` read as the largest reserve.
pub fn reserve_of(id: Id) -> Reserve {
    match id & RESERVE_BITS {
        0 => Reserve::Nothing,
        1 => Reserve::Tenth,
        _ => Reserve::Fifth,
    }
}

/// A set of requests that give heartbeats.
#[derive(Debug, Default)]
pub struct Heartbeats {
    /// When each request gave its last heartbeat; in the future for an announced pause.
    last: HashMap<Id, Time>,
    /// The number of requests in `last`.
    count: PerReserve,
    /// The latest id given, without its reserve.
    latest: Id,
    /// Time of the latest call.
    called: Time,
    /// Time of the latest search for requests that are gone.
    swept: Time,
    /// After a hold-up, no request counts as gone before this time.
    grace: Time,
}

impl Heartbeats {
    /// No requests yet. Their ids will be above `base`, a multiple of four.
    pub fn numbered_above(base: Id) -> Heartbeats {
        Heartbeats { latest: base, ..Heartbeats::default() }
    }

    /// The number of requests that are there.
    pub fn count(&mut self, now: Time) -> u64 {
        self.remove_gone(now);
        self.last.len() as u64
    }

    /// The number of requests that are there, for each reserve.
    pub fn per_reserve(&mut self, now: Time) -> PerReserve {
        self.remove_gone(now);
        self.count
    }

    /// Adds a request. Returns its id.
    pub fn start(&mut self, reserve: Reserve, now: Time) -> Id {
        self.latest = self.latest.wrapping_add(RESERVE_BITS + 1);
        let id = self.latest | reserve_bits(reserve);
        self.heartbeat(id, now);
        id
    }

    /// Takes a heartbeat. Adds the request if it is unknown: it may have counted as gone too early,
    /// or have started in an earlier instance of the module.
    pub fn heartbeat(&mut self, id: Id, now: Time) {
        self.extend_heartbeat(id, now, Span::ZERO);
    }

    /// Takes a heartbeat of a request that gives no other for up to `span`.
    pub fn extend_heartbeat(&mut self, id: Id, now: Time, span: Span) {
        self.remove_gone(now);
        if self.last.insert(id, now.plus(span.saturating_sub(EARLY))).is_none() {
            self.count.add(reserve_of(id), 1);
        }
    }

    /// Removes a request that has ended.
    pub fn end(&mut self, id: Id) {
        if self.last.remove(&id).is_some() {
            let count = self.count.at(reserve_of(id));
            *count = count.saturating_sub(1);
        }
    }

    /// Removes requests without a heartbeat for [`GONE`], once in a [`SWEEP`].
    fn remove_gone(&mut self, now: Time) {
        let pause = now.since(self.called);
        self.called = self.called.max(now);
        if pause >= HOLD_UP && pause < SILENCE {
            self.grace = now.plus(GRACE);
        }
        if now >= self.grace && self.swept.plus(SWEEP) <= now {
            self.swept = now;
            let Heartbeats { last, count, .. } = self;
            *count = PerReserve::default();
            last.retain(|id, last| {
                let stays = now.since(*last) < GONE;
                count.add(reserve_of(*id), u64::from(stays));
                stays
            });
        }
    }
}
