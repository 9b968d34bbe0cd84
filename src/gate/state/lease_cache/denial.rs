//! A remembered denial: an actor's word that a bucket admits nothing before a time.

use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Outcome, Terms};

/// A denial for another reason than an empty rate is believed for at most this long: an operator
/// may have given back some of a used-up quota, and a full actor may have room again.
const RECHECK_AFTER: Span = Span::from_secs(60);

/// An actor's word that a bucket admits nothing before a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Denial {
    /// The isolate asks again from this time on.
    until: Time,
    /// The actor's answer, with the wait that was left when it arrived.
    outcome: Outcome,
    /// When the answer arrived.
    answered: Time,
}

impl Denial {
    /// Remembers `outcome`, in which the actor denied a request for at least `wait`.
    pub fn new(terms: &Terms, outcome: Outcome, wait: Span, answered: Time) -> Denial {
        let empty_rate = matches!((terms, outcome), (Terms::Rate(_), Outcome::Refused { .. }));
        let believed = if empty_rate { wait } else { wait.min(RECHECK_AFTER) };
        Denial { until: answered.plus(believed), outcome, answered }
    }

    /// Whether the denial still holds.
    pub fn holds(&self, now: Time) -> bool {
        now < self.until
    }

    /// Returns the actor's answer with the wait that is left of it; `None` once the denial is over.
    pub fn outcome(&self, now: Time) -> Option<Outcome> {
        if !self.holds(now) {
            return None;
        }
        let left_of = |wait: Span| wait.saturating_sub(now.since(self.answered));
        match self.outcome {
            Outcome::Refused { left, wait, until } => Some(Outcome::Refused { left, wait: left_of(wait), until }),
            Outcome::Full { wait } => Some(Outcome::Full { wait: left_of(wait) }),
            Outcome::Met { .. } | Outcome::Unknown => None,
        }
    }
}
