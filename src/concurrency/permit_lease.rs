//! The permits of one cap in one isolate: how many the actor has lent, and which requests use them.
//!
//! This file is the side of requests: [`PermitLease::next_step`] decides what a request does. The
//! parts are
//!
//! - `lent`: the permits held, and which requests may use them
//! - `demand`: the requests in flight, waiting, and lately refused
//! - `questions`: the questions to the actor, and whether it answers
//! - `renewal`: the side of the actor: asking for permits, renewing them, giving back idle ones

use crate::concurrency::heartbeats::Id;
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::policy::Size;
use crate::protocol::permits::{Holder, OriginSample, PermitAsk, Reserve};
use demand::PermitDemand;
use lent::LentPermits;
use questions::Questions;

mod demand;
mod lent;
mod questions;
mod renewal;

/// Shortest time between two log lines about the size of an adaptive cap.
const LOG_EVERY: Span = Span::from_secs(10);

/// The time for which a request that found the cap full counts as waiting: its client was told to
/// come back after three seconds at most.
const COMES_BACK: Span = Span::from_secs(4);

/// The permits of one cap in one isolate.
#[derive(Debug)]
pub struct PermitLease {
    size: Size,
    clock: MonotonicClock,
    lent: LentPermits,
    demand: PermitDemand,
    questions: Questions,
    /// Whether an earlier instance of the module may hold permits that this one has not heard of.
    inherits: bool,
    /// No permit can be had before this time for requests with this reserve or a larger one, as the
    /// actor said.
    full: Option<(Reserve, Time)>,
    /// When a request last found the cap full.
    found_full: Option<Time>,
    /// The origin's answers since the last question.
    sample: OriginSample,
    /// When the task that returns idle permits last checked. `None`: there is no such task.
    return_checked: Option<Time>,
    /// The size of the cap that was last logged, and when.
    logged: (u64, Time),
}

/// The next step of a request that needs a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Go to the origin. The request has a permit now, under this id.
    Start(Id),
    /// Ask the actor this question, then pass its answer to [`PermitLease::observe`].
    Ask(PermitAsk),
    /// Look again in a moment: another request has asked the actor.
    LookAgain,
    /// The cap is full.
    Full,
    /// The actor cannot be asked: the circuit breaker is open, or there is no time left.
    Unknown,
}

/// The outcome of a request to the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginOutcome {
    /// It was answered.
    Answered,
    /// It failed: a 5xx, a 429, no answer in time, or none at all.
    Failed,
}

impl OriginOutcome {
    /// The outcome of a request that the origin answered with this status. An origin says with 429
    /// that it takes no more just now, and does so at once: such an answer says as little about its
    /// speed as a 503.
    pub fn of_status(status: u16) -> OriginOutcome {
        match status {
            429 | 500.. => OriginOutcome::Failed,
            _ => OriginOutcome::Answered,
        }
    }
}

impl PermitLease {
    /// A lease without permits, for a cap of this `size`. Requests that an earlier instance of the
    /// module left in flight have to be passed to [`PermitLease::heartbeat`] before other calls.
    pub fn new(holder: Holder, size: Size) -> PermitLease {
        PermitLease {
            size,
            clock: MonotonicClock::default(),
            lent: LentPermits::none(),
            demand: PermitDemand::numbered_above(holder.numbers()),
            questions: Questions::of(holder),
            inherits: holder.life > 0,
            full: None,
            found_full: None,
            sample: OriginSample::default(),
            return_checked: None,
            logged: (0, Time::default()),
        }
    }

    /// The isolate's time at which the wall clock reads `wall`. It never steps back.
    pub fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// The number of requests in flight.
    pub fn in_use(&mut self, now: Time) -> u64 {
        self.demand.in_flight.count(now)
    }

    /// The number of permits held; zero when their term is over.
    pub fn held(&self, now: Time) -> u64 {
        self.held_for(Reserve::Nothing, now)
    }

    /// The number of permits held that requests with this `reserve` may use.
    pub fn held_for(&self, reserve: Reserve, now: Time) -> u64 {
        self.lent.held_for(reserve, now)
    }

    /// Decides what a request does that needs a permit and can wait for an answer of the actor for
    /// as long as `patience`.
    pub fn next_step(&mut self, reserve: Reserve, now: Time, patience: Span) -> NextStep {
        if self.lent.has_room(&mut self.demand, reserve, now) {
            return NextStep::Start(self.start(reserve, now));
        }
        if self.is_said_to_be_full(reserve, now) {
            self.found_full = Some(now);
            return NextStep::Full;
        }
        if self.questions.is_pending(now) {
            // The pending question may be the breaker's probe. Other requests do not wait for it.
            return if self.questions.is_open() { NextStep::Unknown } else { NextStep::LookAgain };
        }
        let more = self.demand.unmet(reserve).max(1);
        self.question(more, reserve, now, patience).map_or(NextStep::Unknown, NextStep::Ask)
    }

    /// Whether a request would be told at once that the cap is full, without a question.
    pub fn is_full(&mut self, reserve: Reserve, now: Time) -> bool {
        let full = self.is_said_to_be_full(reserve, now) && !self.lent.has_room(&mut self.demand, reserve, now);
        if full {
            self.found_full = Some(now);
        }
        full
    }

    /// Whether requests wait for a permit of the full cap, or have lately found it full and will
    /// come again.
    pub fn is_crowded(&self, now: Time) -> bool {
        self.found_full.is_some_and(|found| now.since(found) < COMES_BACK)
    }

    fn is_said_to_be_full(&self, reserve: Reserve, now: Time) -> bool {
        self.full.is_some_and(|(smallest, until)| smallest <= reserve && now < until)
    }

    /// Counts a request that found no permit: the next question asks for one more.
    pub fn note_unmet(&mut self, reserve: Reserve) {
        self.demand.note_unmet(reserve);
    }

    /// Takes back one count of [`PermitLease::note_unmet`]: the request has a permit now.
    pub fn clear_unmet(&mut self, reserve: Reserve) {
        self.demand.clear_unmet(reserve);
    }

    /// Counts a request as in flight, whether or not a permit is free. Returns its id.
    pub fn start(&mut self, reserve: Reserve, now: Time) -> Id {
        let (id, in_flight) = self.demand.start(reserve, now);
        self.sample.peak = self.sample.peak.max(in_flight);
        id
    }

    /// Starts a request where the actor cannot be asked and `on_error` is `local`. It starts if
    /// fewer requests are in flight than permits were last lent, less the reserve; one may always
    /// be in flight. `None`: there is no permit.
    pub fn start_locally(&mut self, reserve: Reserve, now: Time) -> Option<Id> {
        let lent = self.lent.last_lent;
        let most = lent.saturating_sub(reserve.of_cap(lent)).max(1);
        (self.demand.in_flight.count(now) < most).then(|| self.start(reserve, now))
    }

    /// Takes a heartbeat of a request in flight, also of one that an earlier instance of the module
    /// let in.
    pub fn heartbeat(&mut self, id: Id, now: Time) {
        self.demand.in_flight.heartbeat(id, now);
    }

    /// Takes a heartbeat of a request that gives no other for up to `span`.
    pub fn extend_heartbeat(&mut self, id: Id, now: Time, span: Span) {
        self.demand.in_flight.extend_heartbeat(id, now, span);
    }

    /// Frees the permit of a request that has ended.
    pub fn end(&mut self, id: Id) {
        self.demand.in_flight.end(id);
    }

    /// Lets a request wait for a permit of a full cap, under the id returned. `None`: the queue is
    /// full. It is as long as the number of permits held, and one at least: with fewer permits than
    /// waiting requests, the last would wait in vain. Requests of lower priority do not count,
    /// since they come later.
    pub fn try_wait(&mut self, reserve: Reserve, now: Time) -> Option<Id> {
        let most = self.held(now).max(1);
        self.demand.try_wait(reserve, most, now)
    }

    /// Takes a heartbeat of a waiting request.
    pub fn heartbeat_waiting(&mut self, id: Id, now: Time) {
        self.demand.waiting.heartbeat(id, now);
    }

    /// Takes a request out of the queue.
    pub fn stop_waiting(&mut self, id: Id) {
        self.demand.waiting.end(id);
    }

    /// Records that the origin's answer has begun, or that the request failed, after `took`. The
    /// time of a failed request does not count: it says nothing about how loaded the origin is.
    pub fn note(&mut self, took: Span, outcome: OriginOutcome) {
        let OriginSample { ended, sum_ms, min_ms, errors, .. } = &mut self.sample;
        let took = took.as_millis();
        *min_ms = if *ended == 0 { took } else { took.min(*min_ms) };
        *ended = ended.saturating_add(1);
        match outcome {
            OriginOutcome::Failed => *errors = errors.saturating_add(1),
            OriginOutcome::Answered => *sum_ms = sum_ms.saturating_add(took),
        }
    }

    /// The size of an adaptive cap that was last logged, and its size now. `None`: it has moved by
    /// no more than a fifth, or was logged less than 10 s ago.
    pub fn size_change(&mut self, now: Time) -> Option<(u64, u64)> {
        let (was, at) = self.logged;
        let cap = self.lent.cap;
        let far = cap.abs_diff(was) > was / 5;
        let due = far && matches!(self.size, Size::Auto { .. }) && (was == 0 || at.plus(LOG_EVERY) <= now);
        due.then(|| self.logged = (cap, now))?;
        Some((was, cap))
    }
}
