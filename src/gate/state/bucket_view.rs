//! An isolate's view of one bucket: where its actor last placed it, and what was counted here
//! since.
//!
//! Other isolates may have taken more, so a view admits nothing. It has three uses:
//!
//! - It keeps the debt that the actor has not heard of, and reports it with the next question.
//! - It gives the local limiter a starting point while the actor cannot be asked.
//! - After the isolate has admitted requests without the actor, it refuses requests over the rate,
//!   even if the actor would admit them. The actor may not have heard of these requests yet, or
//!   its answer may be older than they are.

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Outcome, Terms};

/// The actor's word about a bucket is told to clients for this long. Other isolates may have taken
/// tokens since: a longer time tells of tokens that are not there, a shorter one tells less.
const TOLD_FOR: Span = Span::from_secs(600);

/// An isolate's view of one bucket. All times are the isolate's.
#[derive(Clone, Copy, Debug, Default)]
pub struct BucketView {
    /// A lower bound on the TAT of a rate.
    tat: Time,
    /// The tokens left of a quota's day, as the actor last said; `None` before it has.
    day: Option<QuotaLeft>,
    /// Tokens counted here that the actor has not heard of.
    unreported: u64,
    /// The TAT that counts only what this isolate admitted, with or without the actor.
    local_tat: Time,
    /// Until this time the actor has too few tokens for one more request.
    empty_until: Time,
    /// When the actor last told the state of the bucket; zero before it has.
    heard: Time,
    /// The rate, once requests passed without the actor; `None` when all of them are repaid.
    local_only_rate: Option<Gcra>,
}

/// The tokens left of one day of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaLeft {
    /// The number of tokens.
    pub left: u64,
    /// When the day ends, in Unix seconds.
    pub until: u64,
}

/// The state from which the local limiter starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartingPoint {
    /// How far the TAT of a rate lies ahead of now; zero if nothing is known.
    pub debt: Span,
    /// The tokens left of a quota's day; `None` if nothing is known.
    pub day: Option<QuotaLeft>,
}

impl BucketView {
    /// Takes in the actor's outcome of a question for `cost` tokens. The actor cannot know of debt
    /// that was added after the question, so that debt is counted on top.
    pub fn observe(&mut self, terms: &Terms, cost: u64, outcome: &Outcome, now: Time) {
        if matches!(outcome, Outcome::Met { .. } | Outcome::Refused { .. }) {
            self.heard = now;
        }
        if let Outcome::Met { left, more, .. } = *outcome
            && cost > 0
        {
            self.empty_until = if left < cost { now.plus(more) } else { Time::default() };
        }
        match (terms, *outcome) {
            (Terms::Rate(gcra), Outcome::Met { left, more, .. }) => {
                // `left` is rounded down to whole tokens; `more` says how much of the next one is
                // there.
                let taken = gcra.interval().times(gcra.burst().saturating_sub(left));
                let debt = taken.min(taken.saturating_sub(gcra.interval()).plus(more));
                self.note_debt(gcra, debt, now);
            }
            (Terms::Rate(gcra), Outcome::Refused { wait, .. }) => {
                let debt = gcra.capacity().saturating_sub(gcra.interval().times(cost)).plus(wait);
                self.note_debt(gcra, debt, now);
            }
            (
                Terms::Quota(..),
                Outcome::Met { left, until: Some(until), .. } | Outcome::Refused { left, until: Some(until), .. },
            ) => self.day = Some(QuotaLeft { left, until }),
            _ => {}
        }
    }

    /// Notes the `debt` that the actor knows of, plus the debt that it has not heard of.
    fn note_debt(&mut self, gcra: &Gcra, debt: Span, now: Time) {
        let debt = debt.plus(gcra.interval().times(self.unreported));
        self.tat = self.tat.max(now.plus(debt));
    }

    /// Notes that the actor has leased slots up to `end`, so the bucket's TAT lies at `end` or
    /// later.
    pub fn note_lease(&mut self, end: Time) {
        self.tat = self.tat.max(end);
    }

    /// Notes that tokens of a day come back unused, so the day is not used up.
    pub fn clear_empty(&mut self) {
        self.empty_until = Time::default();
    }

    /// Counts tokens of a rate that a request took here. Once everything counted before is repaid,
    /// the actor's word alone decides again.
    pub fn pass(&mut self, gcra: &Gcra, cost: u64, now: Time) {
        self.local_only_rate = self.local_only_rate.filter(|_| now < self.local_tat);
        self.local_tat = self.local_tat.max(now).plus(gcra.interval().times(cost));
    }

    /// Takes back tokens that [`pass`](BucketView::pass) counted at `since` or later.
    ///
    /// Only while time cannot have repaid them: all tokens counted after them then lie behind them,
    /// and are still counted. Taken off later, they would take some of these along.
    pub fn take_back(&mut self, gcra: &Gcra, cost: u64, since: Time, now: Time) {
        if !gcra.may_be_repaid(cost, since, now) {
            self.local_tat = self.local_tat.minus(gcra.interval().times(cost));
        }
    }

    /// Counts tokens that a request took without the actor, which must hear of them. Returns how
    /// many of them were added to the debt.
    pub fn pass_alone(&mut self, terms: &Terms, cost: u64, now: Time) -> u64 {
        if let Terms::Rate(gcra) = terms {
            self.pass(gcra, cost, now);
            self.local_only_rate = Some(*gcra);
        }
        self.add_debt(terms, cost, now)
    }

    /// Takes back `cost` tokens that [`pass_alone`](BucketView::pass_alone) counted at `since`, and
    /// the part of the debt `owed` that the actor has not heard of.
    pub fn take_back_alone(&mut self, gcra: &Gcra, cost: u64, owed: u64, since: Time, now: Time) {
        self.take_back(gcra, cost, since, now);
        let unheard = owed.min(self.unreported);
        self.unreported = self.unreported.saturating_sub(unheard);
        if !gcra.may_be_repaid(cost, since, now) {
            self.tat = self.tat.minus(gcra.interval().times(unheard));
        }
    }

    /// Returns how long until the rate allows this isolate `cost` tokens more, counting only what
    /// it admitted itself. `None` if it allows them now, or while no request passed without the
    /// actor.
    ///
    /// In the latter case the actor knows better. Its answers take longer or shorter, so tokens
    /// that it gave at different times may be counted here at the same time.
    pub fn wait_for(&self, cost: u64, now: Time) -> Option<Span> {
        let gcra = self.local_only_rate.filter(|_| now < self.local_tat)?;
        gcra.take(self.local_tat, now, cost).err().map(|no| no.wait)
    }

    /// Adds tokens that the actor has not counted to the unreported debt.
    ///
    /// Tokens for which the bucket has no room are left out: the actor would have refused them, and
    /// a refused request takes nothing. A quota has no debt. Returns the tokens that were added.
    pub fn add_debt(&mut self, terms: &Terms, tokens: u64, now: Time) -> u64 {
        if let Terms::Rate(gcra) = terms
            && let Ok(tat) = gcra.take(self.tat, now, tokens)
        {
            self.tat = tat;
            self.unreported = self.unreported.saturating_add(tokens);
            return tokens;
        }
        0
    }

    /// Takes out the unreported debt, in tokens, to report it now. Debt that time has repaid is
    /// left out.
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

    /// Puts back debt whose report got no answer. The actor may have heard it, and will then hear
    /// it twice. That can cost the caller tokens, and never gives any away.
    pub fn restore_unreported(&mut self, unreported: u64) {
        self.unreported = self.unreported.saturating_add(unreported);
    }

    /// Returns the state from which the local limiter starts.
    pub fn starting_point(&self, now: Time) -> StartingPoint {
        StartingPoint { debt: self.tat.max(self.local_tat).since(now), day: self.day }
    }

    /// Whether there is debt that the actor has not heard of.
    pub fn has_unreported(&self) -> bool {
        self.unreported > 0
    }

    /// Whether a rate's bucket is in debt. If not, dropping the view loses only its knowledge of a
    /// quota's day.
    pub fn is_in_debt(&self, now: Time) -> bool {
        now < self.tat || now < self.local_tat
    }

    /// Returns the number of whole tokens in a rate's bucket, or more than there are if other
    /// isolates took some.
    pub fn available(&self, gcra: &Gcra, now: Time) -> u64 {
        gcra.available(self.tat, now)
    }

    /// Returns the shortest time for which the bucket refuses `cost` tokens, provided that the
    /// isolate holds none of its tokens. It is true whatever other isolates take, because a TAT
    /// never goes back.
    pub fn min_wait(&self, terms: &Terms, cost: u64, now: Time) -> Span {
        let in_debt = match terms {
            Terms::Rate(gcra) => gcra.take(self.tat, now, cost).err().map_or(Span::ZERO, |no| no.wait),
            Terms::Quota(..) => Span::ZERO,
        };
        in_debt.max(self.empty_until.since(now))
    }

    /// Returns the tokens that were left of a quota's day; zero if nothing is known.
    pub fn left(&self) -> u64 {
        self.day.map_or(0, |day| day.left)
    }

    /// Returns the tokens in the bucket, without those in hand, and the time until there is one
    /// more. `None` if the actor has not told of the bucket, or of the quota's day, for a while.
    pub fn known_usage(&self, terms: &Terms, now: Time) -> Option<(u64, Span)> {
        if self.heard == Time::default() || self.heard.plus(TOLD_FOR) <= now {
            return None;
        }
        match terms {
            Terms::Rate(gcra) => Some((self.available(gcra, now), gcra.until_next_token(self.tat, now))),
            Terms::Quota(..) => {
                let QuotaLeft { left, until } = self.day?;
                let end = Time::from_millis(until.saturating_mul(1_000));
                (now < end).then(|| (left, end.since(now)))
            }
        }
    }
}
