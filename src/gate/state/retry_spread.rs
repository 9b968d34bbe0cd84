//! Spreads the retries of a refused crowd, so that they do not all come back at once (a thundering
//! herd).
//!
//! Clients that are all told the true wait of a shared rate come back together, and all but the
//! first few are refused again. So each caller gets a turn of its own, one after the other in the
//! limit's schedule, and is told to wait until then. No wait is shorter than the true one, and no
//! second brings more callers back than the limit admits in a second.
//!
//! A caller that comes back early keeps its turn. Asking again and again does not help it, and
//! makes no other caller wait longer. An isolate knows only the callers that it has refused itself.
//! Requests of one caller share its turn, and have [places](super::retry_places) from there.
//!
//! While a limit cannot be checked, its true wait is unknown and everyone who meets it is refused.
//! Their retries spread over a few seconds, each caller always at the same one, so that an actor
//! that has just recovered does not meet all of them.

use crate::gate::state::lease_cache::LimitKey;
use crate::gate::state::retry_places::{Place, RetryPlaces, Schedule};
use crate::identity::digest::Subject;
use crate::limit::jitter;
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::policy::{Limit, Scope};
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};

/// Callers with a turn of their own, per limit. Later callers come back at a time among these
/// turns, by their digests.
const CAPACITY: usize = 10_000;

/// Callers whom a limit refuses because it cannot be checked come back within this time.
const UNCHECKED_SPREAD: Span = Span::from_secs(5);

/// Parts of a window. Turns in one part are kept as one, so the list of turns stays short at any
/// rate.
const PARTS: u64 = 1_000;

const SECOND: Span = Span::from_secs(1);

/// The callers that one isolate has refused and told when to come back.
#[derive(Debug, Default)]
pub struct RetrySpread {
    /// By the number of the limit that refused them.
    queues: BTreeMap<u64, RetryQueue>,
    /// Of callers that were refused several times at once.
    places: RetryPlaces,
    clock: MonotonicClock,
}

/// The callers that wait for one limit.
#[derive(Debug, Default)]
struct RetryQueue {
    turns: HashMap<Subject, Time>,
    /// When turns that have passed were last dropped.
    swept: Time,
    /// The latest turns in order of time, as far as one window reaches: the time, and the number of
    /// callers.
    latest: VecDeque<(Time, u64)>,
    /// The number of callers in `latest`.
    count: u64,
}

/// The rate at which callers come back: at most `callers` within any `window`.
#[derive(Clone, Copy, Debug)]
struct RetryRate {
    callers: u64,
    window: Span,
}

impl RetrySpread {
    /// Returns the wait until the turn of `caller`, whom `limit` refuses for `wait`. A limit that
    /// is not a shared rate has no turns, and leaves the wait as it is.
    pub fn wait_for_turn(&mut self, limit: &Limit, wait: Span, caller: Subject, wall: Time) -> Span {
        let now = self.clock.read(wall);
        let (Scope::Global, Some(schedule)) = (limit.scope, Schedule::of(limit)) else { return wait };
        let rate = RetryRate::of(schedule.step, schedule.burst);
        let queue = self.queues.entry(limit.number).or_default();
        queue.wait(caller, now, whole_seconds(wait), rate)
    }

    /// Returns the place of a request of `caller`, whom `limit` refuses for `wait`, and the time
    /// from one place to the next. `None` for a quota, which admits all at once when its day
    /// begins.
    pub fn place(&mut self, limit: &Limit, wait: Span, caller: Subject, wall: Time) -> Option<(Place, Span)> {
        let now = self.clock.read(wall);
        let schedule = Schedule::of(limit)?;
        let step = match limit.scope {
            Scope::Global => RetryRate::of(schedule.step, schedule.burst).step(),
            Scope::Ip | Scope::Key => schedule.step,
        };
        let key = LimitKey { limit: limit.number, subject: Some(caller) };
        Some((self.places.place(key, wait, schedule, now), step))
    }
}

impl RetryRate {
    /// Returns the rate of a limit that admits one caller per `interval`, and `burst` at once.
    ///
    /// It is half of what the limit admits. The other half is left to callers that come for the
    /// first time, and to tokens that isolates hold in leases, which are up to half a burst.
    fn of(interval: Span, burst: u64) -> RetryRate {
        let fit = |nanos: u64| nanos.checked_div(interval.as_nanos()).unwrap_or(1);
        // Intervals are rounded up to whole nanoseconds, so seven intervals of 7/s are a nanosecond
        // more than a second, and still count as one.
        let second = SECOND.as_nanos();
        let all = fit(second.saturating_add(fit(second)).saturating_add(1)).min(burst).max(1);
        let callers = (all / 2).max(1);
        RetryRate { callers, window: interval.times(all).min(SECOND.max(interval)) }
    }

    /// Returns the time from one caller to the next.
    fn step(self) -> Span {
        Span::from_nanos(self.window.as_nanos().checked_div(self.callers).unwrap_or(0))
    }

    /// Returns the number of the part in which a turn lies.
    fn part(self, turn: Time) -> u64 {
        turn.as_nanos().checked_div(self.window.as_nanos() / PARTS).unwrap_or(turn.as_nanos())
    }
}

impl RetryQueue {
    /// Returns how long `caller` waits, in whole seconds and no less than `real_wait`.
    fn wait(&mut self, caller: Subject, now: Time, real_wait: Span, rate: RetryRate) -> Span {
        if let Some(turn) = self.turns.get(&caller).filter(|turn| now < **turn) {
            return whole_seconds(turn.since(now)).max(real_wait);
        }
        if self.turns.len() >= CAPACITY && self.swept.plus(SECOND) <= now {
            self.turns.retain(|_, turn| now < *turn);
            self.swept = now;
        }
        if self.turns.len() >= CAPACITY {
            let last = self.latest.back().map_or(Span::ZERO, |(last, _)| last.since(now));
            return real_wait.plus(jitter::whole_seconds(caller.to_bytes(), last.saturating_sub(real_wait)));
        }
        let wait = real_wait.max(whole_seconds(self.next_turn(rate).since(now)));
        self.turns.insert(caller, now.plus(wait));
        self.note_turn(now.plus(wait), rate);
        wait
    }

    /// Returns the earliest turn for one more caller: not before the latest turn, and not before
    /// the window has room.
    fn next_turn(&self, rate: RetryRate) -> Time {
        let (last, _) = self.latest.back().copied().unwrap_or_default();
        match self.latest.front() {
            Some((first, _)) if self.count >= rate.callers => last.max(first.plus(rate.window)),
            _ => last,
        }
    }

    /// Adds a turn, and drops turns that no longer share a window with a turn to come.
    fn note_turn(&mut self, turn: Time, rate: RetryRate) {
        match self.latest.back_mut() {
            // All turns of a part count at the last of them, so the next turn comes no earlier than
            // it should.
            Some((last, count)) if rate.part(*last) == rate.part(turn) => {
                (*last, *count) = ((*last).max(turn), count.saturating_add(1));
            }
            _ => self.latest.push_back((turn, 1)),
        }
        self.count = self.count.saturating_add(1);
        while let Some((first, count)) = self.latest.front()
            && (self.count.saturating_sub(*count) >= rate.callers || first.plus(rate.window) <= turn)
        {
            self.count = self.count.saturating_sub(*count);
            self.latest.pop_front();
        }
    }
}

/// Returns the wait of `caller`, whom a limit refuses for `wait` because it cannot be checked: less
/// than five seconds longer, and always the same.
pub fn wait_while_unchecked(wait: Span, caller: Subject) -> Span {
    wait.plus(jitter::whole_seconds(caller.to_bytes(), UNCHECKED_SPREAD))
}

/// Returns `span` rounded up to whole seconds, at least one, as `Retry-After` needs it.
fn whole_seconds(span: Span) -> Span {
    Span::from_secs(span.as_secs_up().max(1))
}
