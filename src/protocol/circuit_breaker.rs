//! A circuit breaker: leaves an actor or D1 alone after failures, and finds out when it has
//! recovered.
//!
//! The isolate has a breaker for each actor of rates and for each cap. An actor has one for D1.
//!
//! After [`FAILURES`] failures in a row the breaker opens: nothing is called, and the limits'
//! `on_error` decides at once. After a pause the breaker lets one call through, the probe. If the
//! probe fails, the next pause is twice as long. Each pause is spread by chance, so that isolates
//! do not come back together.

use crate::limit::time::{Span, Time};
use crate::protocol::rates::CallError;

/// The number of failures in a row that open the breaker. With 1, a single lost call would open it;
/// with more, each of them makes a request wait until its deadline.
const FAILURES: u8 = 2;

/// The first pause, before it is spread.
const FIRST_PAUSE: Span = Span::from_millis(250);

/// The longest pause, before it is spread.
const LONGEST_PAUSE: Span = Span::from_secs(10);

/// The breaker of one callee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitBreaker {
    /// Failures in a row while the breaker was closed.
    failures: u8,
    /// `None` while the breaker is closed.
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    /// The last pause, before it was spread.
    pause: Span,
    /// The end of the pause.
    until: Time,
    /// The time until which the result of the probe is awaited; `None` before the probe.
    probing: Option<Time>,
}

/// The breaker's permission for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPermission {
    /// The breaker is closed.
    Usual,
    /// The call finds out whether the callee has recovered. There is no other call meanwhile.
    Probe,
}

/// The result of a call, as far as it tells of the callee's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResult {
    /// There was an answer.
    Answer,
    /// The call failed, and another one may not.
    Failure,
    /// The callee has too much to do. Each further call would make it worse.
    Overload,
    /// The call tells nothing of the callee: it had too little time, or was not made.
    Nothing,
}

impl CircuitBreaker {
    /// Whether the callee is left alone. A probe may be due all the same.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Asks for permission to make a call that waits up to `patience` for its answer. `None` during
    /// a pause, and while a probe is under way. A probe without a result makes room for the next
    /// one after its own patience.
    pub fn permission(&mut self, now: Time, patience: Span) -> Option<CallPermission> {
        let Some(open) = &mut self.open else { return Some(CallPermission::Usual) };
        if now < open.until || open.probing.is_some_and(|until| now < until) {
            return None;
        }
        open.probing = Some(now.plus(patience));
        Some(CallPermission::Probe)
    }

    /// Ends the pause, for a call that cannot wait any longer.
    pub fn probe_now(&mut self, now: Time) {
        if let Some(open) = &mut self.open {
            open.until = open.until.min(now);
        }
    }

    /// Records the result of a call. `chance` spreads the pause, and may be any byte.
    pub fn record(&mut self, permission: CallPermission, result: CallResult, now: Time, chance: u8) {
        match (self.open, permission, result) {
            (None, _, CallResult::Nothing) => {}
            (None, _, CallResult::Answer) | (Some(_), CallPermission::Probe, CallResult::Answer) => {
                *self = CircuitBreaker::default()
            }
            (None, _, _) => {
                self.failures = self.failures.saturating_add(1);
                if result == CallResult::Overload || self.failures >= FAILURES {
                    self.pause(FIRST_PAUSE, now, chance);
                }
            }
            (Some(open), CallPermission::Probe, _) => self.pause(open.pause.times(2).min(LONGEST_PAUSE), now, chance),
            // The call was made before the breaker opened. The next probe is more recent.
            (Some(_), CallPermission::Usual, _) => {}
        }
    }

    /// Opens the breaker for 0.5 to 1.5 times `pause`.
    fn pause(&mut self, pause: Span, now: Time, chance: u8) {
        let share = Span::from_nanos(pause.as_nanos() / 256).times(u64::from(chance));
        self.open = Some(Open { pause, until: now.plus(pause.half()).plus(share), probing: None });
    }
}

impl CallResult {
    /// The result of a call to an actor.
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
