//! Tokens in an isolate's hand: slices of a rate's schedule, and parts of a day.

use crate::limit::gcra::Gcra;
use crate::limit::lease::Lease;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Grant, Outcome, Terms};

/// Tokens in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// A slice of a rate's schedule.
    Lease(Gcra, Lease),
    /// Tokens of a day's quota, good until `end` (in the isolate's time).
    Quota {
        /// How many.
        tokens: u64,
        /// When they are worth nothing any more.
        end: Time,
        /// The same instant, in Unix seconds: the day that they belong to.
        until: u64,
    },
}

/// When a question was sent and its answer heard, in the isolate's time.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// When it was sent.
    pub asked: Time,
    /// When its answer was heard.
    pub heard: Time,
}

impl Tokens {
    /// Tokens that an actor granted.
    pub(crate) fn granted(terms: &Terms, grant: Grant, outcome: &Outcome, round_trip: RoundTrip) -> Option<Tokens> {
        match (terms, outcome) {
            (Terms::Rate(gcra), _) => {
                Some(Tokens::Lease(*gcra, Lease::new(grant.first, grant.count, round_trip.asked, round_trip.heard)))
            }
            // The day's end is counted from when the question was asked, so that nothing is spent past it.
            (Terms::Quota(..), Outcome::Met { more, until, .. }) => {
                Some(Tokens::Quota { tokens: grant.count, end: round_trip.asked.plus(*more), until: (*until)? })
            }
            (Terms::Quota(..), _) => None,
        }
    }

    /// Tokens that an actor took for a request that did not pass after all.
    pub fn taken(terms: &Terms, cost: u64, outcome: &Outcome, round_trip: RoundTrip) -> Option<Tokens> {
        let Outcome::Met { slot, more, until, .. } = *outcome else { return None };
        match terms {
            Terms::Rate(gcra) => Some(Tokens::Lease(*gcra, Lease::new(slot, cost, round_trip.asked, round_trip.heard))),
            Terms::Quota(..) => Some(Tokens::Quota { tokens: cost, end: round_trip.asked.plus(more), until: until? }),
        }
    }

    /// How many of them can still be spent.
    pub(crate) fn left(&self, now: Time) -> u64 {
        match self {
            Tokens::Lease(gcra, lease) => lease.left(gcra, now),
            Tokens::Quota { tokens, end, .. } if now < *end => *tokens,
            Tokens::Quota { .. } => 0,
        }
    }

    /// How long until `cost` of them may be spent; `None` where there are too few.
    pub(crate) fn wait(&self, cost: u64, now: Time) -> Option<Span> {
        match self {
            Tokens::Lease(gcra, lease) => lease.wait(gcra, cost, now),
            Tokens::Quota { .. } => (self.left(now) >= cost).then_some(Span::ZERO),
        }
    }

    /// Takes `cost` of them, if they may be spent now.
    pub(crate) fn spend(&mut self, cost: u64, now: Time) -> Option<Tokens> {
        match self {
            Tokens::Lease(gcra, lease) => lease.spend(gcra, cost, now).map(|spent| Tokens::Lease(*gcra, spent)),
            Tokens::Quota { tokens, end, until } if now < *end => {
                *tokens = tokens.checked_sub(cost)?;
                Some(Tokens::Quota { tokens: cost, end: *end, until: *until })
            }
            Tokens::Quota { .. } => None,
        }
    }

    /// Joins tokens that were spent and not used to those that they came from.
    pub(crate) fn rejoin(&mut self, back: Tokens) -> Result<(), Tokens> {
        match (self, back) {
            (Tokens::Lease(gcra, lease), Tokens::Lease(_, other)) => {
                lease.rejoin(gcra, other).map_err(|other| Tokens::Lease(*gcra, other))
            }
            (Tokens::Quota { tokens, until, .. }, Tokens::Quota { tokens: more, until: same, .. })
                if *until == same =>
            {
                *tokens = tokens.saturating_add(more);
                Ok(())
            }
            (_, back) => Err(back),
        }
    }
}
