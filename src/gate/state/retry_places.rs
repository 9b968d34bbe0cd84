//! Places for several requests of one caller that a rate refuses at the same time.
//!
//! If all of them were told the wait for the next token, one would get in and the others would be
//! refused again; a client with two retries would lose most of them. So the refusals of one caller
//! within a short time count as different requests. Each gets the next place in the rate's
//! schedule, as many places as a full bucket has room for requests, and then the last place again.
//!
//! A refusal that comes later, and before the first place is due, is the first request come early.
//! It is told the rest of the first place's wait, so asking again and again makes no wait longer.
//! An isolate knows only the requests that it has refused itself.

use crate::gate::state::lease_cache::LimitKey;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::Limit;
use hashbrown::HashMap;

/// Refusals of one caller within this time count as different requests; within one step of the
/// rate, where that is shorter.
///
/// A longer span takes a client that asks again for several requests; a shorter one takes several
/// requests, sent one after another, for one.
const AT_ONCE: Span = Span::from_millis(250);

/// Callers whose places are kept, at about 50 bytes each. More cost memory; with fewer, a flood of
/// refused callers leaves no places to the requests of one more.
const CAPACITY: usize = 10_000;

/// The places that one isolate has told, by the limit and the caller.
#[derive(Debug, Default)]
pub struct RetryPlaces {
    refused: HashMap<LimitKey, Refused>,
    /// When room was last made.
    swept: Time,
}

/// The refusals of one caller by one limit, since the first of them.
#[derive(Clone, Copy, Debug)]
struct Refused {
    /// When the first place is due.
    due: Time,
    /// Until this time one more refusal is another request.
    other_until: Time,
    /// The places given out, from 1.
    places: u64,
}

/// One place in a rate's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How long until the first place is due.
    pub first: Span,
    /// The number of places before this one; zero for the first.
    pub ahead: u64,
}

/// The schedule in which a rate admits requests.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The time from one request to the next: interval × cost.
    pub step: Span,
    /// The number of requests that a full bucket has tokens for, at least 1.
    pub burst: u64,
}

impl Schedule {
    /// The schedule of `limit`; `None` for a quota.
    pub fn of(limit: &Limit) -> Option<Schedule> {
        let Allowance::Rate(rate) = &limit.allowance else { return None };
        let gcra = rate.gcra();
        let burst = gcra.burst().checked_div(limit.cost).unwrap_or(1).max(1);
        Some(Schedule { step: gcra.interval().times(limit.cost), burst })
    }
}

impl RetryPlaces {
    /// Returns the place of a request that a limit refuses at `now`, and would admit after `wait`
    /// if it came first. The subject of `key` is the caller, at a shared limit too.
    pub fn place(&mut self, key: LimitKey, wait: Span, schedule: Schedule, now: Time) -> Place {
        let due = now.plus(wait);
        match self.refused.get_mut(&key).filter(|refused| now < refused.due) {
            Some(refused) => {
                // Two answers of one actor may name times that differ by their way here.
                refused.due = refused.due.max(due);
                let mut ahead = 0;
                if now < refused.other_until {
                    ahead = refused.places.min(schedule.burst.saturating_sub(1));
                    refused.places = refused.places.saturating_add(1);
                }
                Place { first: refused.due.since(now), ahead }
            }
            None => {
                if self.has_room_for(&key, now) {
                    let other_until = now.plus(AT_ONCE.min(schedule.step));
                    self.refused.insert(key, Refused { due, other_until, places: 1 });
                }
                Place { first: wait, ahead: 0 }
            }
        }
    }

    /// Whether `key` may be kept. If the memory is full, it is looked through for callers whose
    /// next refusal is no other request, at most once in [`AT_ONCE`].
    fn has_room_for(&mut self, key: &LimitKey, now: Time) -> bool {
        if self.refused.len() >= CAPACITY && self.swept.plus(AT_ONCE) <= now {
            self.refused.retain(|_, refused| now < refused.other_until);
            self.swept = now;
        }
        self.refused.len() < CAPACITY || self.refused.contains_key(key)
    }
}
