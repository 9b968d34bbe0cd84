//! What an isolate knows of one limit without asking: how its actor last said that it stands, and what was counted here since.
//!
//! Other isolates may have counted more. So this admits nobody by itself; it says what a refused request owes, and where an
//! isolate on its own begins. And where it has been on its own, it says what is too much whatever the actor says: of what passed alone
//! the actor may not have heard yet, or its answer may be older.

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Outcome, Terms};

/// What is known of one limit for one subject, in the isolate's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct BucketView {
    /// A rate's TAT, or an earlier time.
    tat: Time,
    /// What is left of a quota's day, or less was.
    day: Option<QuotaLeft>,
    /// Tokens counted here that the actor has not been told of.
    unreported: u64,
    /// The TAT of what was let pass here, by way of the actor and without it.
    local_tat: Time,
    /// Too little is left for another request before then, as the actor said.
    empty_until: Time,
    /// The rate, where some of that passed without it.
    local_only_rate: Option<Gcra>,
}

/// What is left of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaLeft {
    /// Tokens.
    pub left: u64,
    /// When the day ends, in Unix seconds.
    pub until: u64,
}

/// [`BucketView`], as of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartingPoint {
    /// How far a rate's TAT lies ahead.
    pub debt: Span,
    /// What is left of a quota's day.
    pub day: Option<QuotaLeft>,
}

impl BucketView {
    /// Takes in what the actor said of a question about `cost` tokens. It cannot have known of what is owed since that was asked.
    pub fn observe(&mut self, terms: &Terms, cost: u64, outcome: &Outcome, now: Time) {
        if let Outcome::Met { left, more, .. } = *outcome
            && cost > 0
        {
            self.empty_until = if left < cost { now.plus(more) } else { Time::default() };
        }
        match (terms, *outcome) {
            (Terms::Rate(gcra), Outcome::Met { left, more, .. }) => {
                // What is left is rounded down, and the time until there is more says by how much.
                let taken = gcra.interval().times(gcra.burst().saturating_sub(left));
                let debt = taken.min(taken.saturating_sub(gcra.interval()).plus(more));
                let debt = debt.plus(gcra.interval().times(self.unreported));
                self.tat = self.tat.max(now.plus(debt));
            }
            (Terms::Rate(gcra), Outcome::Refused { wait, .. }) => {
                let debt = gcra.capacity().saturating_sub(gcra.interval().times(cost)).plus(wait);
                let debt = debt.plus(gcra.interval().times(self.unreported));
                self.tat = self.tat.max(now.plus(debt));
            }
            (
                Terms::Quota(..),
                Outcome::Met { left, until: Some(until), .. } | Outcome::Refused { left, until: Some(until), .. },
            ) => self.day = Some(QuotaLeft { left, until }),
            _ => {}
        }
    }

    /// Takes in that the actor has leased slots that end at `end`: they are in use, wherever it says that the bucket stands.
    pub fn leased(&mut self, end: Time) {
        self.tat = self.tat.max(end);
    }

    /// Takes in that the last tokens of a day were not used after all: the actor gets them back, and the day is not over.
    pub fn has_back(&mut self) {
        self.empty_until = Time::default();
    }

    /// Counts tokens of a rate that a request was let have. When all that passed before is repaid, it is the actor alone again that knows.
    pub fn pass(&mut self, gcra: &Gcra, cost: u64, now: Time) {
        self.local_only_rate = self.local_only_rate.filter(|_| now < self.local_tat);
        self.local_tat = self.local_tat.max(now).plus(gcra.interval().times(cost));
    }

    /// Takes back that a request was let have them.
    pub fn take_back(&mut self, gcra: &Gcra, cost: u64) {
        self.local_tat = self.local_tat.minus(gcra.interval().times(cost));
    }

    /// The same as [`pass`](BucketView::pass), where the actor does not know of it.
    pub fn pass_alone(&mut self, terms: &Terms, cost: u64, now: Time) {
        if let Terms::Rate(gcra) = terms {
            self.pass(gcra, cost, now);
            self.local_only_rate = Some(*gcra);
        }
        self.add_debt(terms, cost, now);
    }

    /// How long until `cost` tokens more are no more than the rate allows this isolate alone, where it has been on its own.
    ///
    /// Else the actor knows better: answers that were under way for longer or shorter come together here without having been given together.
    pub fn wait_for(&self, cost: u64, now: Time) -> Option<Span> {
        let gcra = self.local_only_rate.filter(|_| now < self.local_tat)?;
        gcra.take(self.local_tat, now, cost).err().map(|no| no.wait)
    }

    /// Counts tokens that the actor has not counted. What would not fit into a rate's bucket is not owed: the actor would have
    /// refused it, and a refused request takes nothing. Of a quota nothing is owed.
    pub fn add_debt(&mut self, terms: &Terms, tokens: u64, now: Time) {
        if let Terms::Rate(gcra) = terms
            && let Ok(tat) = gcra.take(self.tat, now, tokens)
        {
            self.tat = tat;
            self.unreported = self.unreported.saturating_add(tokens);
        }
    }

    /// What is owed, to be told to the actor now. Time has repaid the rest.
    pub fn take_unreported(&mut self, terms: &Terms, now: Time) -> u64 {
        let unreported = core::mem::take(&mut self.unreported);
        match terms {
            Terms::Rate(gcra) => {
                let debt = self.tat.since(now).as_nanos();
                let open = debt.saturating_add(gcra.interval().as_nanos().saturating_sub(1));
                unreported.min(open.checked_div(gcra.interval().as_nanos()).unwrap_or(0))
            }
            Terms::Quota(..) => 0,
        }
    }

    /// Takes back what was told to an actor that did not answer. If it has heard it all the same, it will hear it twice: that can
    /// cost tokens, and never gives any away.
    pub fn restore_unreported(&mut self, unreported: u64) {
        self.unreported = self.unreported.saturating_add(unreported);
    }

    /// Where an isolate on its own begins.
    pub fn starting_point(&self, now: Time) -> StartingPoint {
        StartingPoint { debt: self.tat.max(self.local_tat).since(now), day: self.day }
    }

    /// Whether the actor has not been told of everything.
    pub fn has_unreported(&self) -> bool {
        self.unreported > 0
    }

    /// Whether it says more than nothing.
    pub fn matters(&self, now: Time) -> bool {
        now < self.tat || now < self.local_tat
    }

    /// Whole tokens in a rate's bucket.
    pub fn available(&self, gcra: &Gcra, now: Time) -> u64 {
        gcra.available(self.tat, now)
    }

    /// How long a limit without tokens in hand refuses for at least, whatever was counted elsewhere: a TAT only grows.
    pub fn min_wait(&self, terms: &Terms, cost: u64, now: Time) -> Span {
        let full = match terms {
            Terms::Rate(gcra) => gcra.take(self.tat, now, cost).err().map_or(Span::ZERO, |no| no.wait),
            Terms::Quota(..) => Span::ZERO,
        };
        full.max(self.empty_until.since(now))
    }

    /// Tokens that were left of the day.
    pub fn left(&self) -> u64 {
        self.day.map_or(0, |day| day.left)
    }
}
