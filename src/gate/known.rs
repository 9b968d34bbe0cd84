//! What an isolate knows of one limit without asking: how its actor last said that it stands, and what was counted here since.
//!
//! Other isolates may have counted more. So this admits nobody by itself; it says what a refused request owes, and where an
//! isolate on its own begins.

use super::ports::{Outcome, Terms};
use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};

/// What is known of one limit for one subject, in the isolate's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// A rate's TAT, or an earlier time.
    tat: Time,
    /// What is left of a quota's day, or less was.
    day: Option<Rest>,
    /// Tokens counted here that the actor has not been told of.
    owed: u64,
}

/// What is left of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Tokens.
    pub left: u64,
    /// When the day ends, in Unix seconds.
    pub until: u64,
}

/// [`Known`], as of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// How far a rate's TAT lies ahead.
    pub debt: Span,
    /// What is left of a quota's day.
    pub day: Option<Rest>,
}

impl Known {
    /// Takes in what the actor said of a question about `cost` tokens. It cannot have known of what is owed since that was asked.
    pub fn hear(&mut self, terms: &Terms, cost: u64, outcome: &Outcome, now: Time) {
        match (terms, *outcome) {
            (Terms::Rate(gcra), Outcome::Met { left, .. }) => {
                let debt = gcra.interval().times(gcra.burst().saturating_sub(left).saturating_add(self.owed));
                self.tat = self.tat.max(now.plus(debt));
            }
            (Terms::Rate(gcra), Outcome::Refused { wait, .. }) => {
                let debt = gcra.capacity().over(gcra.interval().times(cost)).plus(wait);
                let debt = debt.plus(gcra.interval().times(self.owed));
                self.tat = self.tat.max(now.plus(debt));
            }
            (
                Terms::Quota(..),
                Outcome::Met { left, until: Some(until), .. } | Outcome::Refused { left, until: Some(until), .. },
            ) => self.day = Some(Rest { left, until }),
            _ => {}
        }
    }

    /// Counts tokens that the actor has not counted. What would not fit into a rate's bucket is not owed: the actor would have
    /// refused it, and a refused request takes nothing. Of a quota nothing is owed.
    pub fn owe(&mut self, terms: &Terms, tokens: u64, now: Time) {
        if let Terms::Rate(gcra) = terms
            && let Ok(tat) = gcra.take(self.tat, now, tokens)
        {
            self.tat = tat;
            self.owed = self.owed.saturating_add(tokens);
        }
    }

    /// What is owed, to be told to the actor now. Time has repaid the rest.
    pub fn tell(&mut self, terms: &Terms, now: Time) -> u64 {
        let owed = core::mem::take(&mut self.owed);
        match terms {
            Terms::Rate(gcra) => {
                let debt = self.tat.since(now).as_nanos();
                let open = debt.saturating_add(gcra.interval().as_nanos().saturating_sub(1));
                owed.min(open.checked_div(gcra.interval().as_nanos()).unwrap_or(0))
            }
            Terms::Quota(..) => 0,
        }
    }

    /// Takes back what was told to an actor that did not answer. If it has heard it all the same, it will hear it twice: that can
    /// cost tokens, and never gives any away.
    pub fn not_told(&mut self, owed: u64) {
        self.owed = self.owed.saturating_add(owed);
    }

    /// Where an isolate on its own begins.
    pub fn begin(&self, now: Time) -> Begin {
        Begin { debt: self.tat.since(now), day: self.day }
    }

    /// Whole tokens in a rate's bucket.
    pub fn available(&self, gcra: &Gcra, now: Time) -> u64 {
        gcra.available(self.tat, now)
    }

    /// Tokens that were left of the day.
    pub fn left(&self) -> u64 {
        self.day.map_or(0, |day| day.left)
    }
}
