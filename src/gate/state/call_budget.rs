//! What a deployment may spend on calls to Durable Objects in a day (`BUDGET`), and how it gets by as that nears its end.
//!
//! Calls are prepaid like a quota's tokens, a chunk at a time from one shared count, so that counting them costs next to nothing. An
//! isolate with none in hand calls on credit, and pays with its next chunk: nobody waits for this. So a day may cost more than its budget by
//! what isolates that end have on credit, each less than a chunk.

use crate::limit::calendar::Zone;
use crate::limit::lease::Wish;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Ask, CallError, Demand, Enforcement, Intent, Outcome, Terms};

/// The name of its count. No limit's: those have a slash.
pub const NAME: &str = "budget";

/// The largest chunk. The first is of four, and each next one twice as large.
const CHUNK: u64 = 64;

/// After a chunk that was not to be had, this long passes before the next try.
const AGAIN: Span = Span::from_secs(60);

/// How long leases should last while calls are to be saved.
pub const LONG: Span = Span::from_secs(5);

/// How near the day's budget is to its end, in the order in which it gets there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetStage {
    /// There is enough.
    #[default]
    Plenty,
    /// Under a quarter is left: leases last longer.
    Saving,
    /// Under a tenth: one in eight questions of slow callers is asked, where `on_error` lets them pass without.
    Sampling,
    /// Under a fiftieth: nobody is asked any more, and `on_error` decides.
    Alone,
}

/// One isolate's part of a day's budget.
#[derive(Debug, Default)]
pub struct CallBudget {
    /// Calls in a day; zero where there is no budget.
    total: u64,
    /// Calls prepaid, and calls on credit.
    hand: u64,
    owed: u64,
    chunk: u64,
    /// No chunk is asked for before then.
    next: Time,
    stage: BudgetStage,
    /// When the day ends for which that is so.
    ends: Time,
    told: BudgetStage,
    /// The stages that were told of this day, one bit each.
    said: u8,
}

impl CallBudget {
    /// Of `total` calls a day; without a budget for none.
    pub fn new(total: Option<u64>) -> CallBudget {
        CallBudget { total: total.unwrap_or(0), chunk: 4, ..CallBudget::default() }
    }

    /// How near its end it is at `now`.
    pub fn stage(&self, now: Time) -> BudgetStage {
        if now < self.ends { self.stage } else { BudgetStage::Plenty }
    }

    /// Why nobody is asked at `now`.
    pub fn call_error(&self, now: Time) -> CallError {
        match self.stage(now) {
            BudgetStage::Alone => CallError::OverBudget(self.ends.since(now)),
            _ => CallError::NotAsked,
        }
    }

    /// Counts what a call came to beyond itself: an allowance is for calls, one as large for rows and for D1, so the most of each counts.
    pub fn spend_more(&mut self, rows: u32, d1: u32) {
        self.spend(u64::from(rows.max(d1)).saturating_sub(1));
    }

    /// Counts calls.
    pub fn spend(&mut self, calls: u64) {
        self.owed = self.owed.saturating_add(calls.saturating_sub(self.hand));
        self.hand = self.hand.saturating_sub(calls);
    }

    /// Whether it is time to ask for a chunk.
    pub fn is_due(&self, now: Time) -> bool {
        self.total > 0 && self.hand < self.chunk / 4 && (self.next <= now || self.is_over(now))
    }

    /// Whether the day is over of which something is known.
    fn is_over(&self, now: Time) -> bool {
        self.ends != Time::default() && self.ends <= now
    }

    /// The question for a chunk, which is a call too, and for what is owed.
    pub fn question(&mut self, now: Time) -> Ask {
        if self.is_over(now) {
            // What was called on credit was the day's that is over, and no debt of the next one's.
            (self.owed, self.ends) = (0, Time::default());
        }
        self.next = now.plus(AGAIN);
        self.spend(1);
        let demand = Demand {
            limit: NAME.into(),
            terms: Terms::Quota(self.total, Zone::utc()),
            // More than a whole day's has no room in any day.
            cost: self.chunk.saturating_add(self.owed).min(self.total),
            per_request: 1,
            wish: Wish::default(),
            unreported: 0,
            warmup: Span::ZERO,
            unused: None,
            enforcement: Enforcement::Enforced,
        };
        let (durable_after, patience) = (Span::ZERO, Span::from_secs(1));
        let horizon = Span::ZERO;
        Ask { intent: Intent::Take, subject: None, demands: vec![demand], durable_after, patience, horizon }
    }

    /// Takes in the answer to a question for `cost` calls. Without one it goes on as before: a count that cannot be reached must not
    /// take the limits along.
    pub fn record(&mut self, cost: u64, outcome: Option<&Outcome>, now: Time) {
        match outcome {
            Some(Outcome::Met { left, more, .. }) => {
                self.hand = self.hand.saturating_add(cost.saturating_sub(self.owed));
                // More may have been called on credit meanwhile than was asked for.
                self.owed = self.owed.saturating_sub(cost);
                self.chunk = self.chunk.saturating_mul(2).min(CHUNK);
                self.next = now;
                self.ends = now.plus(*more);
                let left_of = |part: u64| left.saturating_mul(part) >= self.total;
                self.stage = match () {
                    () if left_of(4) => BudgetStage::Plenty,
                    () if left_of(10) => BudgetStage::Saving,
                    () if left_of(50) => BudgetStage::Sampling,
                    () => BudgetStage::Alone,
                };
            }
            Some(Outcome::Refused { wait, .. }) => {
                self.stage = BudgetStage::Alone;
                self.ends = now.plus(*wait);
            }
            Some(Outcome::Full { .. } | Outcome::Unknown) | None => {}
        }
    }

    /// A new stage, to be logged once a day.
    pub fn stage_change(&mut self, now: Time) -> Option<BudgetStage> {
        let stage = self.stage(now);
        if core::mem::replace(&mut self.told, stage) == stage {
            return None;
        }
        if now >= self.ends {
            self.said = 0;
        }
        let bit = 1 << stage as u8;
        let new = self.said & bit == 0;
        self.said |= bit;
        new.then_some(stage)
    }
}

impl BudgetStage {
    /// What is done about it.
    pub fn words(self) -> &'static str {
        match self {
            BudgetStage::Plenty => "there is enough again",
            BudgetStage::Saving => "under a quarter of the day's calls is left: leases last longer",
            BudgetStage::Sampling => {
                "under a tenth of the day's calls is left: one in eight questions of slow callers is asked"
            }
            BudgetStage::Alone => "the day's calls are spent but for a reserve: nobody is asked, on_error decides",
        }
    }
}
