//! The reasons why a call to an actor has no usable answer.

use crate::limit::time::Span;
use core::fmt;

/// The reason why an actor gave no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The actor did not answer within the question's patience.
    Late,
    /// The actor has too much to do. Another call at once would make it worse.
    Overloaded,
    /// The connection to the actor broke. It may have acted on the question all the same.
    Disconnected,
    /// The answer cannot be read, or no correct actor could give it; says which.
    Nonsense(String),
    /// Any other failure, in the platform's words.
    Failed(String),
    /// The actor was not asked: it is left alone after failures, or there was no time left.
    NotAsked,
    /// The actor was not asked, to save calls: `BUDGET` is spent. The span is the time until it is
    /// renewed; zero if the budget is only nearly spent.
    OverBudget(Span),
}

impl CallError {
    /// Whether there was no call.
    pub fn is_unasked(&self) -> bool {
        matches!(self, CallError::NotAsked | CallError::OverBudget(_))
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Late => f.write_str("its actor does not answer in time"),
            CallError::Overloaded => f.write_str("its actor is overloaded"),
            CallError::Disconnected => f.write_str("the way to its actor is broken"),
            CallError::Nonsense(said) => write!(f, "its actor's answer cannot be read: {said}"),
            CallError::Failed(problem) => write!(f, "its actor failed: {problem}"),
            CallError::OverBudget(_) => f.write_str("BUDGET: calls are saved, so its actor is not asked"),
            CallError::NotAsked => {
                f.write_str("its actor is left alone for a while, or there was no time left to ask it")
            }
        }
    }
}
