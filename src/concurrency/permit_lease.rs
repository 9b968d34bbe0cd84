//! What an isolate knows of one cap: the slots it holds, who uses them, and whether more are to be had.

use crate::concurrency::heartbeats::{Heartbeats, Id};
use crate::concurrency::per_reserve::PerReserve;
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::policy::Size;
use crate::protocol::circuit_breaker::CircuitBreaker;
use crate::protocol::permits::{Holder, OriginSample, PermitAsk, Reserve};
use renewal::{Asked, Checked};

mod renewal;
mod reserve;

/// Slots that have lain idle for this long go back.
pub const IDLE: Span = Span::from_secs(1);

/// Where a cap has moved to is told at most this often.
const TELL_EVERY: Span = Span::from_secs(10);

/// One cap's book.
#[derive(Debug)]
pub struct PermitLease {
    holder: u64,
    size: Size,
    clock: MonotonicClock,
    /// Slots held until `until`: all, and of these the ones that were lent for requests that leave at least so much to others.
    held: PerReserve,
    until: Time,
    /// Whether an earlier instance may hold some that this one has not heard of.
    inherits: bool,
    /// The fair shares of these, as last heard; no more is used.
    share: PerReserve,
    /// As last heard.
    cap: u64,
    /// The requests under way.
    users: Heartbeats,
    /// Slots that the actor last gave.
    given: u64,
    /// The question under way.
    asked: Option<Asked>,
    number: u64,
    tried: Time,
    heard: Time,
    /// Whether the actor is left alone.
    circuit: CircuitBreaker,
    checked: Checked,
    /// Until then there are no slots for requests that leave so many to others, or more.
    full: Option<(Reserve, Time)>,
    /// Requests that found no slot since the last question for such, in this stretch of [`IDLE`].
    unmet: PerReserve,
    /// The most of each kind under way at once, in this stretch of [`IDLE`] and in the one before.
    peak: PerReserve,
    last_peak: PerReserve,
    stretch: Time,
    sample: OriginSample,
    /// Those who wait for a slot although it is full.
    waiting: Heartbeats,
    /// When idle slots were last looked after.
    tended: Option<Time>,
    /// The cap that was last logged, and when.
    logged: (u64, Time),
}

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Go on, with this slot.
    Start(Id),
    /// Ask the actor this, and say what it said.
    Ask(PermitAsk),
    /// Look again in a moment: another has asked.
    LookAgain,
    /// There is none.
    Full,
    /// Nobody knows: the actor is left alone, or there is no time to ask it.
    Unknown,
}

impl PermitLease {
    /// The empty book of an instance that holds slots as `holder`. What earlier ones have left under way is to [`PermitLease::beat`] before it is used.
    pub fn new(holder: Holder, size: Size) -> PermitLease {
        PermitLease {
            holder: holder.id,
            size,
            clock: MonotonicClock::default(),
            held: PerReserve::default(),
            until: Time::default(),
            inherits: holder.life > 0,
            share: PerReserve::all(u64::MAX),
            cap: 0,
            users: Heartbeats::above(holder.numbers()),
            given: 0,
            asked: None,
            number: holder.numbers(),
            tried: Time::default(),
            heard: Time::default(),
            circuit: CircuitBreaker::default(),
            checked: Checked::Yes,
            full: None,
            unmet: PerReserve::default(),
            peak: PerReserve::default(),
            last_peak: PerReserve::default(),
            stretch: Time::default(),
            sample: OriginSample::default(),
            waiting: Heartbeats::default(),
            tended: None,
            logged: (0, Time::default()),
        }
    }

    /// The isolate's time at which the wall clock reads `wall`.
    pub fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// How many requests are under way.
    pub fn in_use(&mut self, now: Time) -> u64 {
        self.users.count(now)
    }

    /// Slots held.
    pub fn held(&self, now: Time) -> u64 {
        self.held_for(Reserve::Nothing, now)
    }

    /// Of these, what was lent for requests that leave at least so much to others.
    pub fn held_for(&self, reserve: Reserve, now: Time) -> u64 {
        if now < self.until { self.held.of(reserve) } else { 0 }
    }

    /// A request's turn, which can wait so long for an answer.
    pub fn next_step(&mut self, reserve: Reserve, now: Time, patience: Span) -> NextStep {
        if self.has_room(reserve, now) {
            return NextStep::Start(self.start(reserve, now));
        }
        if self.full.is_some_and(|(least, until)| least <= reserve && now < until) {
            return NextStep::Full;
        }
        if self.busy(now) {
            // Nobody else waits for the one that is to find out whether the trouble is over.
            return if self.circuit.is_open() { NextStep::Unknown } else { NextStep::LookAgain };
        }
        let more = self.unmet.of(reserve).max(1);
        self.ask(more, reserve, now, patience).map_or(NextStep::Unknown, NextStep::Ask)
    }

    /// Notes that a request has found no slot: that is how many more are wanted.
    pub fn note_unmet(&mut self, reserve: Reserve) {
        self.unmet.add(reserve, 1);
    }

    /// Notes that one that had found no slot has one now.
    pub fn clear_unmet(&mut self, reserve: Reserve) {
        let unmet = self.unmet.at(reserve);
        *unmet = unmet.saturating_sub(1);
    }

    /// Lets a request pass whatever is held; it is counted all the same.
    pub fn start(&mut self, reserve: Reserve, now: Time) -> Id {
        let id = self.users.start(reserve, now);
        let used = self.users.each(now);
        self.roll(now);
        self.peak = self.peak.max(used);
        self.sample.peak = self.sample.peak.max(used.sum());
        id
    }

    /// Lets a request pass on the slots that were last held, but for its part that it leaves to others, or on one.
    pub fn start_locally(&mut self, reserve: Reserve, now: Time) -> Option<Id> {
        let most = self.given.saturating_sub(reserve.of_cap(self.given));
        (self.users.count(now) < most.max(1)).then(|| self.start(reserve, now))
    }

    /// Hears that a request is still under way; also of one that an earlier instance let in.
    pub fn heartbeat(&mut self, id: Id, now: Time) {
        self.users.heartbeat(id, now);
    }

    /// Hears that a request will be silent for up to `span`, and is there all the same.
    pub fn extend_heartbeat(&mut self, id: Id, now: Time, span: Span) {
        self.users.extend_heartbeat(id, now, span);
    }

    /// A request has ended.
    pub fn end(&mut self, id: Id) {
        self.users.end(id);
    }

    /// A request has its answer from the origin, or failed, after `took`.
    pub fn note(&mut self, took: Span, fate: OriginOutcome) {
        let OriginSample { ended, sum_ms, min_ms, errors, .. } = &mut self.sample;
        let took = took.as_millis();
        *min_ms = if *ended == 0 { took } else { took.min(*min_ms) };
        *ended = ended.saturating_add(1);
        match fate {
            // How long it took says nothing of how crowded the origin is.
            OriginOutcome::Failed => *errors = errors.saturating_add(1),
            _ => *sum_ms = sum_ms.saturating_add(took),
        }
    }

    /// Whether one more may wait for a slot that leaves so much to others: no more wait than work, or the last would wait in vain. Those
    /// that leave more come after it, and do not count.
    pub fn try_wait(&mut self, reserve: Reserve, now: Time) -> Option<Id> {
        let most = self.held(now).max(1);
        let waiting = self.waiting.each(now);
        let before = waiting.below(reserve).saturating_add(waiting.of(reserve));
        (before < most).then(|| self.waiting.start(reserve, now))
    }

    /// Where a cap that finds itself has moved by more than a fifth since that was last told, and not a moment ago: what it was, and what it is.
    pub fn size_change(&mut self, now: Time) -> Option<(u64, u64)> {
        let (was, at) = self.logged;
        let far = self.cap.abs_diff(was) > was / 5;
        let due = far && matches!(self.size, Size::Auto { .. }) && (was == 0 || at.plus(TELL_EVERY) <= now);
        due.then(|| self.logged = (self.cap, now))?;
        Some((was, self.cap))
    }

    /// Who waits is still there.
    pub fn heartbeat_waiting(&mut self, id: Id, now: Time) {
        self.waiting.heartbeat(id, now);
    }

    /// Who waited does so no more.
    pub fn stop_waiting(&mut self, id: Id) {
        self.waiting.end(id);
    }

    fn roll(&mut self, now: Time) {
        if self.stretch.plus(IDLE) <= now {
            let old = self.stretch.plus(IDLE.times(2)) <= now;
            self.last_peak = if old { PerReserve::default() } else { self.peak };
            (self.peak, self.unmet) = Default::default();
            self.stretch = now;
        }
    }
}

/// How a request to the origin ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginOutcome {
    /// It was answered.
    Answered,
    /// A 5xx, no answer in time, or none at all.
    Failed,
}
