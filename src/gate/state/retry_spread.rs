//! When those who were refused together should come back: not all at once.
//!
//! Whoever is told to wait as long as the limit really takes comes back together with everyone else who was told so, and all
//! but the first few are refused again. So each is given a place of its own in the limit's own schedule, one after the other,
//! and told to wait until then: no fewer seconds than are true, and in no second more callers than the limit admits in one.
//!
//! A caller who comes back early keeps its place, so asking again and again neither helps it nor makes others wait longer. An
//! isolate knows of those whom it has refused itself, and of no others.
//!
//! Where a limit cannot be checked nobody knows a true wait, and everyone who meets it is refused. They are spread over a few seconds,
//! each caller always at the same one, so that what has just come back does not meet them all.

use crate::gate::decision::{Reason, Refusal};
use crate::identity::digest::Subject;
use crate::limit::monotonic::MonotonicClock;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::Scope;
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};

/// Callers whose place is kept in mind, per limit. Those after them get a place among these, by their digest.
const CAPACITY: usize = 10_000;

/// Seconds over which those come back for whom a limit could not be checked.
const UNAVAILABLE: Span = Span::from_secs(5);

/// Parts of a window that are told apart.
const BUCKETS: u64 = 1_000;

const SECOND: Span = Span::from_secs(1);

/// The waiting callers of one isolate.
#[derive(Debug, Default)]
pub struct RetrySpread {
    /// By the number of the limit that refused them.
    queues: BTreeMap<u32, RetryQueue>,
    clock: MonotonicClock,
}

/// Those who wait for one limit.
#[derive(Debug, Default)]
struct RetryQueue {
    turns: HashMap<Subject, Time>,
    /// When places that have passed were last dropped.
    swept: Time,
    /// The latest places, in their order: when, and how many.
    latest: VecDeque<(Time, u64)>,
    /// The sum of these.
    held: u64,
}

/// How many may come back together.
#[derive(Clone, Copy, Debug)]
struct RetryRate {
    callers: u64,
    window: Span,
}

impl RetrySpread {
    /// Makes the wait of a refusal longer where others come back before the caller `who`: by a shared rate, or by a limit that
    /// could not be checked.
    pub fn spread(&mut self, refusal: &mut Refusal<'_>, who: Subject, wall: Time) {
        if refusal.reason == Reason::LimiterUnavailable {
            refusal.wait = refusal.wait.plus(somewhere(who, UNAVAILABLE));
            return;
        }
        let now = self.clock.read(wall);
        let limit = refusal.planned.limit;
        let (Scope::Global, Allowance::Rate(rate)) = (limit.scope, &limit.allowance) else { return };
        let gcra = rate.gcra();
        let pace = RetryRate::of(gcra.interval().times(limit.cost), gcra.burst().checked_div(limit.cost).unwrap_or(1));
        let queue = self.queues.entry(limit.number).or_default();
        refusal.wait = queue.wait(who, now, whole_seconds(refusal.wait), pace);
    }
}

impl RetryRate {
    /// Of a limit that has room for one more caller in each `interval`, and for `burst` at once.
    fn of(interval: Span, burst: u64) -> RetryRate {
        let fit = |nanos: u64| nanos.checked_div(interval.as_nanos()).unwrap_or(1);
        // Intervals are rounded up to whole nanoseconds: seven of 7/s are a nanosecond more than a second.
        let second = SECOND.as_nanos();
        let all = fit(second.saturating_add(fit(second)).saturating_add(1)).min(burst).max(1);
        // Half is left to those who come for the first time, and to what isolates hold in leases: up to half a burst.
        let callers = (all / 2).max(1);
        RetryRate { callers, window: interval.times(all).min(SECOND.max(interval)) }
    }

    /// Which part of a window a place is in; places in one are kept as one, so that no rate makes a long list.
    fn bucket(self, turn: Time) -> u64 {
        turn.as_nanos().checked_div(self.window.as_nanos() / BUCKETS).unwrap_or(turn.as_nanos())
    }
}

impl RetryQueue {
    /// How long `who` is to wait, in whole seconds: no less than `real_wait`.
    fn wait(&mut self, who: Subject, now: Time, real_wait: Span, pace: RetryRate) -> Span {
        if let Some(turn) = self.turns.get(&who).filter(|turn| now < **turn) {
            return whole_seconds(turn.since(now)).max(real_wait);
        }
        if self.turns.len() >= CAPACITY && self.swept.plus(SECOND) <= now {
            self.turns.retain(|_, turn| now < *turn);
            self.swept = now;
        }
        if self.turns.len() >= CAPACITY {
            let last = self.latest.back().map_or(Span::ZERO, |(last, _)| last.since(now));
            return real_wait.plus(somewhere(who, last.saturating_sub(real_wait)));
        }
        let wait = real_wait.max(whole_seconds(self.next(pace).since(now)));
        self.turns.insert(who, now.plus(wait));
        self.note(now.plus(wait), pace);
        wait
    }

    /// The earliest time for one more caller: not before the latest, and when the window has room.
    fn next(&self, pace: RetryRate) -> Time {
        let (last, _) = self.latest.back().copied().unwrap_or_default();
        match self.latest.front() {
            Some((first, _)) if self.held >= pace.callers => last.max(first.plus(pace.window)),
            _ => last,
        }
    }

    /// Notes a place, and forgets those which no window can hold together with it any more.
    fn note(&mut self, turn: Time, pace: RetryRate) {
        match self.latest.back_mut() {
            // As if they came with the last of them: by that nobody comes too early.
            Some((last, count)) if pace.bucket(*last) == pace.bucket(turn) => {
                (*last, *count) = ((*last).max(turn), count.saturating_add(1));
            }
            _ => self.latest.push_back((turn, 1)),
        }
        self.held = self.held.saturating_add(1);
        while let Some((first, count)) = self.latest.front()
            && (self.held.saturating_sub(*count) >= pace.callers || first.plus(pace.window) <= turn)
        {
            self.held = self.held.saturating_sub(*count);
            self.latest.pop_front();
        }
    }
}

/// `span` rounded up to whole seconds, at least one: what `Retry-After` can say.
fn whole_seconds(span: Span) -> Span {
    Span::from_secs(span.as_secs_up().max(1))
}

/// A whole number of seconds, less than `most`, always the same for one caller.
fn somewhere(who: Subject, most: Span) -> Span {
    let [a, b, c, d, ..] = who.to_bytes();
    let share = u64::from(u32::from_be_bytes([a, b, c, d]));
    let secs = most.as_secs_up().saturating_mul(share).checked_shr(32).unwrap_or(0);
    Span::from_secs(secs)
}
