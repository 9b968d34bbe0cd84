//! The questions that one isolate puts to one cap's actor: at most one at a time, and none while
//! the circuit breaker is open.

use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult, CircuitBreaker};
use crate::protocol::permits::{Holder, Reserve};

/// Time after its deadline in which a question still counts as pending, so that the request that
/// asked learns of the missing answer before another one asks.
const MARGIN: Span = Span::from_millis(50);

/// The latest questions and their outcome.
#[derive(Debug)]
pub(super) struct Questions {
    /// The isolate's number as a holder of permits.
    pub(super) holder: u64,
    /// Number of the latest question. A later life of the module begins above all numbers of this
    /// one.
    number: u64,
    pending: Option<Pending>,
    /// When the latest question was asked.
    pub(super) asked: Time,
    /// When the latest answer came.
    pub(super) answered: Time,
    circuit: CircuitBreaker,
    checks: Checks,
}

/// A question without an answer yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) number: u64,
    permission: CallPermission,
    pub(super) asked: Time,
    /// From then on another question may be asked.
    due: Time,
    /// The number of permits asked for, those that the isolate keeps included.
    pub(super) wants: u64,
    pub(super) reserve: Reserve,
}

/// Whether the cap is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checks {
    /// The actor's word decides.
    Working,
    /// The actor cannot be asked, so `on_error` decides.
    Failing,
    /// The actor has answered again, and no request has reported that yet.
    Restored,
}

impl Questions {
    /// No question yet.
    pub(super) fn of(holder: Holder) -> Questions {
        Questions {
            holder: holder.id,
            number: holder.numbers(),
            pending: None,
            asked: Time::default(),
            answered: Time::default(),
            circuit: CircuitBreaker::default(),
            checks: Checks::Working,
        }
    }

    /// Whether a question is pending that may still be answered.
    pub(super) fn is_pending(&self, now: Time) -> bool {
        self.pending.is_some_and(|pending| now < pending.due)
    }

    /// Whether the circuit breaker is open.
    pub(super) fn is_open(&self) -> bool {
        self.circuit.is_open()
    }

    /// Ends the breaker's pause, so that the next question may be asked as a probe.
    pub(super) fn probe_now(&mut self, now: Time) {
        self.circuit.probe_now(now);
    }

    /// Begins a question for requests with this `reserve`, whose answer is waited for during
    /// `patience`. Its `wants` is filled in afterwards. `None`: the circuit breaker is open, or
    /// there is no time to wait.
    pub(super) fn begin(&mut self, reserve: Reserve, now: Time, patience: Span) -> Option<&mut Pending> {
        if patience == Span::ZERO {
            return None;
        }
        let patience = patience.plus(MARGIN);
        let permission = self.circuit.permission(now, patience)?;
        self.number = self.number.saturating_add(1);
        self.asked = now;
        let due = now.plus(patience);
        Some(self.pending.insert(Pending { number: self.number, permission, asked: now, due, wants: 0, reserve }))
    }

    /// Records the result of the question with this number. Returns it if it is the pending one.
    pub(super) fn record_result(&mut self, number: u64, result: CallResult, now: Time) -> Option<Pending> {
        let matching = self.pending.take_if(|pending| pending.number == number);
        let permission = matching.map_or(CallPermission::Usual, |pending| pending.permission);
        self.circuit.record(permission, result, now, self.chance());
        matching
    }

    /// Notes that the pending question has been answered.
    pub(super) fn note_answer(&mut self, now: Time) {
        self.answered = now;
        if self.checks == Checks::Failing {
            self.checks = Checks::Restored;
        }
    }

    /// Notes that `on_error` decides.
    pub(super) fn mark_unchecked(&mut self) {
        self.checks = Checks::Failing;
    }

    /// Whether the cap is checked again after a failure; true once for each recovery.
    pub(super) fn mark_checked(&mut self) -> bool {
        let restored = self.checks == Checks::Restored;
        if restored {
            self.checks = Checks::Working;
        }
        restored
    }

    /// `span` and up to half of it more, by the holder's number: isolates that were refused
    /// together do not ask again together.
    pub(super) fn spread(&self, span: Span) -> Span {
        span.plus(Span::from_nanos((span.as_nanos() / 512).saturating_mul(self.holder.rotate_left(8) & 0xff)))
    }

    /// A number from 0 to 255, another for each question of each isolate.
    fn chance(&self) -> u8 {
        (self.holder ^ self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(8) as u8
    }
}
