//! A circuit breaker: leaves a callee alone after failures, and probes whether they are over.
//!
//! Used on both sides: by the isolate for each actor, by the actor for D1, and for the actor of each cap.
//! After [`FAILURES`] in a row the breaker opens: nobody calls, and the callers' `on_error` decides at once.
//! After a pause one call, the probe, is let through. The pauses double, and are drawn by chance, so that isolates
//! do not come back together.

use crate::limit::time::{Span, Time};
use crate::protocol::rates::CallError;

/// So many failures in a row open a circuit. One alone may be chance.
const FAILURES: u8 = 2;

/// The first pause, in the middle.
const PAUSE: Span = Span::from_millis(250);

/// The longest pause, in the middle.
const LONGEST: Span = Span::from_secs(10);

/// The way to one who may be in trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitBreaker {
    failures: u8,
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    /// The last pause, before chance.
    pause: Span,
    /// Nobody asks before then.
    until: Time,
    /// Until when an answer to the one question that was let through is waited for.
    probing: Option<Time>,
}

/// A question that may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPermission {
    /// Like any other.
    Usual,
    /// It is to find out whether the trouble is over; nobody else asks meanwhile.
    Probe,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResult {
    /// It was answered.
    Answer,
    /// It failed; another may not.
    Failure,
    /// There is too much to do: each further question makes it worse.
    Overload,
    /// It was not given the time to find out.
    Nothing,
}

impl CircuitBreaker {
    /// Whether everybody leaves it alone at `now`. A probe may be due all the same.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a question may be asked at `now` that waits for its answer for as long as `patience`.
    pub fn admit(&mut self, now: Time, patience: Span) -> Option<CallPermission> {
        let Some(open) = &mut self.open else { return Some(CallPermission::Usual) };
        if now < open.until || open.probing.is_some_and(|until| now < until) {
            return None;
        }
        open.probing = Some(now.plus(patience));
        Some(CallPermission::Probe)
    }

    /// Ends the pause: there is a question that cannot wait for longer.
    pub fn probe_now(&mut self, now: Time) {
        if let Some(open) = &mut self.open {
            open.until = open.until.min(now);
        }
    }

    /// Takes in what became of a question. `chance` is anything between 0 and 255.
    pub fn record(&mut self, pass: CallPermission, heard: CallResult, now: Time, chance: u8) {
        match (self.open, pass, heard) {
            (None, _, CallResult::Nothing) => {}
            (None, _, CallResult::Answer) | (Some(_), CallPermission::Probe, CallResult::Answer) => {
                *self = CircuitBreaker::default()
            }
            (None, _, _) => {
                self.failures = self.failures.saturating_add(1);
                if heard == CallResult::Overload || self.failures >= FAILURES {
                    self.pause(PAUSE, now, chance);
                }
            }
            (Some(open), CallPermission::Probe, _) => self.pause(open.pause.times(2).min(LONGEST), now, chance),
            // It was asked before the circuit opened. What it says is older than what the next probe will.
            (Some(_), CallPermission::Usual, _) => {}
        }
    }

    /// Opens it for half a pause to one and a half.
    fn pause(&mut self, pause: Span, now: Time, chance: u8) {
        let share = Span::from_nanos(pause.as_nanos() / 256).times(u64::from(chance));
        self.open = Some(Open { pause, until: now.plus(pause.half()).plus(share), probing: None });
    }
}

impl CallResult {
    /// What an answer says about the actor, or the lack of one.
    pub fn of<T>(answer: &Result<T, CallError>) -> CallResult {
        match answer {
            Ok(_) => CallResult::Answer,
            Err(CallError::Overloaded) => CallResult::Overload,
            Err(CallError::NotAsked | CallError::OverBudget(_)) => CallResult::Nothing,
            Err(CallError::Late | CallError::Disconnected | CallError::Nonsense(_) | CallError::Failed(_)) => {
                CallResult::Failure
            }
        }
    }
}
