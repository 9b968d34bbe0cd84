//! Tokens that an isolate has in hand: slices of a rate's schedule, and parts of a quota's day.

use crate::limit::gcra::Gcra;
use crate::limit::lease::Lease;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Grant, Outcome, Terms};

/// Tokens of one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// A slice of the schedule of a rate.
    Lease(Gcra, Lease),
    /// Tokens of a part of a rate's bucket.
    Part {
        /// The rate.
        gcra: Gcra,
        /// The number of tokens.
        tokens: u64,
    },
    /// Tokens of one day of a quota.
    Quota {
        /// The number of tokens.
        tokens: u64,
        /// When the day ends, in the isolate's time. From then on the tokens are worth nothing.
        end: Time,
        /// When the day ends, in Unix seconds. It names the day.
        until: u64,
    },
}

/// When a question was sent and when its answer arrived, in the isolate's time.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// When the question was sent.
    pub asked: Time,
    /// When the answer arrived.
    pub answered: Time,
}

impl Tokens {
    /// Returns the tokens that an actor granted. `None` if the reply does not say when a quota's
    /// day ends.
    pub(crate) fn granted(terms: &Terms, grant: Grant, outcome: &Outcome, round_trip: RoundTrip) -> Option<Tokens> {
        match (terms, outcome) {
            (Terms::Rate(gcra), _) => {
                Some(Tokens::Lease(*gcra, Lease::new(grant.first, grant.count, round_trip.asked, round_trip.answered)))
            }
            // The day's end counts from the time of the question, so no token is spent past it.
            (Terms::Quota(..), Outcome::Met { more, until, .. }) => {
                Some(Tokens::Quota { tokens: grant.count, end: round_trip.asked.plus(*more), until: (*until)? })
            }
            (Terms::Quota(..), _) => None,
        }
    }

    /// Returns the `cost` tokens that an actor took for a request, to keep them if the request is
    /// refused after all. `None` unless `outcome` is [`Outcome::Met`].
    pub fn taken(terms: &Terms, cost: u64, outcome: &Outcome, round_trip: RoundTrip) -> Option<Tokens> {
        let Outcome::Met { slot, more, until, .. } = *outcome else { return None };
        match terms {
            Terms::Rate(gcra) => {
                Some(Tokens::Lease(*gcra, Lease::new(slot, cost, round_trip.asked, round_trip.answered)))
            }
            Terms::Quota(..) => Some(Tokens::Quota { tokens: cost, end: round_trip.asked.plus(more), until: until? }),
        }
    }

    /// Returns the number of tokens, those that have lapsed included.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Tokens::Lease(_, lease) => lease.count(),
            Tokens::Part { tokens, .. } | Tokens::Quota { tokens, .. } => *tokens,
        }
    }

    /// Returns the number of tokens that can still be spent, now or later.
    pub(crate) fn left(&self, now: Time) -> u64 {
        match self {
            Tokens::Lease(gcra, lease) => lease.left(gcra, now),
            Tokens::Part { tokens, .. } => *tokens,
            Tokens::Quota { tokens, end, .. } if now < *end => *tokens,
            Tokens::Quota { .. } => 0,
        }
    }

    /// Returns how long until `cost` tokens may be spent; `None` if there are too few.
    pub(crate) fn wait(&self, cost: u64, now: Time) -> Option<Span> {
        match self {
            Tokens::Lease(gcra, lease) => lease.wait(gcra, cost, now),
            Tokens::Part { .. } | Tokens::Quota { .. } => (self.left(now) >= cost).then_some(Span::ZERO),
        }
    }

    /// Takes `cost` tokens out, or returns `None` if they may not be spent now.
    pub(crate) fn spend(&mut self, cost: u64, now: Time) -> Option<Tokens> {
        match self {
            Tokens::Lease(gcra, lease) => lease.spend(gcra, cost, now).map(|spent| Tokens::Lease(*gcra, spent)),
            Tokens::Quota { tokens, end, until } if now < *end => {
                *tokens = tokens.checked_sub(cost)?;
                Some(Tokens::Quota { tokens: cost, end: *end, until: *until })
            }
            Tokens::Part { .. } | Tokens::Quota { .. } => None,
        }
    }

    /// Joins `other` to these tokens: the slots next to theirs, or tokens of the same day.
    ///
    /// # Errors
    /// Returns `other` if it is neither.
    pub(crate) fn rejoin(&mut self, other: Tokens) -> Result<(), Tokens> {
        match (self, other) {
            (Tokens::Lease(gcra, lease), Tokens::Lease(same, other)) if *gcra == same => {
                lease.rejoin(gcra, other).map_err(|other| Tokens::Lease(*gcra, other))
            }
            (Tokens::Quota { tokens, until, .. }, Tokens::Quota { tokens: more, until: same, .. })
                if *until == same =>
            {
                *tokens = tokens.saturating_add(more);
                Ok(())
            }
            (_, other) => Err(other),
        }
    }
}
