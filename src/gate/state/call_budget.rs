//! The day's budget of calls to Durable Objects (`BUDGET`), and the stages in which an isolate
//! saves calls as the budget runs out.
//!
//! Calls are prepaid like the tokens of a quota: in chunks, from one count that all isolates share,
//! so counting them costs few calls. An isolate with no prepaid call left calls on credit, and pays
//! with its next chunk; no request waits for a chunk. A day may therefore cost more than its
//! budget, by the credit of isolates that end, each less than a chunk.

use crate::limit::calendar::Zone;
use crate::limit::lease::Wish;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Ask, CallError, Demand, Enforcement, Intent, Outcome, Terms};

/// The name of the shared count. No limit has it, because the names of limits have a slash.
pub const NAME: &str = "budget";

/// The counter of the shared count. No limit has it, because it has no binding.
const COUNTER: &str = "budget quota day UTC";

/// The first chunk, in calls. Each next chunk is twice as large.
const FIRST_CHUNK: u64 = 4;

/// The largest chunk, in calls. A larger one loses more when an isolate ends; a smaller one costs
/// more calls for counting.
const LARGEST_CHUNK: u64 = 64;

/// The pause after a chunk that was not granted.
const ASK_AGAIN: Span = Span::from_secs(60);

/// How long leases should last while calls are saved.
pub const SAVING_HORIZON: Span = Span::from_secs(5);

/// How near the day's budget is to its end, from first to last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetStage {
    /// A quarter of the day's calls or more is left, or there is no budget.
    #[default]
    Plenty,
    /// Under a quarter is left: leases last longer.
    Saving,
    /// Under a tenth is left: one in eight questions of slow callers is asked, where `on_error`
    /// lets the others pass without one.
    Sampling,
    /// Under a fiftieth is left: no actor is asked, and `on_error` decides.
    Alone,
}

/// One isolate's part of the day's budget.
#[derive(Debug, Default)]
pub struct CallBudget {
    /// Calls in a day; zero if there is no budget.
    total: u64,
    /// Calls that are prepaid and not made yet.
    prepaid: u64,
    /// Calls that are made and not paid yet.
    credit: u64,
    /// The size of the next chunk, in calls.
    chunk: u64,
    /// The time of the next question for a chunk.
    ask_at: Time,
    stage: BudgetStage,
    /// When the day ends to which `stage` belongs; the epoch if no answer has come yet.
    day_end: Time,
    /// The stage that [`stage_change`](CallBudget::stage_change) saw last.
    last_stage: BudgetStage,
    /// The stages that were logged on this day, one bit each.
    logged: u8,
}

impl CallBudget {
    /// Makes the budget of `total` calls a day; `None` sets no bound.
    pub fn new(total: Option<u64>) -> CallBudget {
        CallBudget { total: total.unwrap_or(0), chunk: FIRST_CHUNK, ..CallBudget::default() }
    }

    /// Returns how near the budget is to its end at `now`.
    pub fn stage(&self, now: Time) -> BudgetStage {
        if now < self.day_end { self.stage } else { BudgetStage::Plenty }
    }

    /// Returns the reason why an actor is not asked at `now`: the budget if it is spent, else the
    /// actor's own trouble.
    pub fn call_error(&self, now: Time) -> CallError {
        match self.stage(now) {
            BudgetStage::Alone => CallError::OverBudget(self.day_end.since(now)),
            _ => CallError::NotAsked,
        }
    }

    /// Counts the cost of a call beyond the call itself: `rows` that were written, and `d1`
    /// statements.
    ///
    /// The platform's daily allowances are for calls, rows and statements, each as large, so the
    /// largest of the three counts.
    pub fn spend_more(&mut self, rows: u32, d1: u32) {
        self.spend(u64::from(rows.max(d1)).saturating_sub(1));
    }

    /// Counts `calls` as made.
    pub fn spend(&mut self, calls: u64) {
        self.credit = self.credit.saturating_add(calls.saturating_sub(self.prepaid));
        self.prepaid = self.prepaid.saturating_sub(calls);
    }

    /// Whether it is time to ask for a chunk.
    pub fn is_due(&self, now: Time) -> bool {
        self.total > 0 && self.prepaid < self.chunk / 4 && (self.ask_at <= now || self.is_day_over(now))
    }

    /// Whether the day of the last answer is over.
    fn is_day_over(&self, now: Time) -> bool {
        self.day_end != Time::default() && self.day_end <= now
    }

    /// Makes the question for the next chunk, which also pays the credit and the question itself.
    pub fn question(&mut self, now: Time) -> Ask {
        if self.is_day_over(now) {
            // Credit belongs to the day on which the calls were made, not to the next.
            (self.credit, self.day_end) = (0, Time::default());
        }
        self.ask_at = now.plus(ASK_AGAIN);
        self.spend(1);
        let demand = Demand {
            limit: NAME.into(),
            counter: Some(COUNTER.into()),
            terms: Terms::Quota(self.total, Zone::utc()),
            // No day has room for more than its total.
            cost: self.chunk.saturating_add(self.credit).min(self.total),
            per_request: 1,
            wish: Wish::default(),
            unreported: 0,
            warmup: Span::ZERO,
            unused: None,
            part: None,
            enforcement: Enforcement::Enforced,
        };
        let (durable_after, patience) = (Span::ZERO, Span::from_secs(1));
        let horizon = Span::ZERO;
        Ask { intent: Intent::Take, subject: None, demands: vec![demand], durable_after, patience, horizon }
    }

    /// Takes in the answer to a question for `cost` calls; `None` if there was none. Without an
    /// answer nothing changes: a count that cannot be reached must not stop the limits.
    pub fn record(&mut self, cost: u64, outcome: Option<&Outcome>, now: Time) {
        match outcome {
            Some(Outcome::Met { left, more, .. }) => {
                self.prepaid = self.prepaid.saturating_add(cost.saturating_sub(self.credit));
                // Calls made on credit since the question may exceed its cost.
                self.credit = self.credit.saturating_sub(cost);
                self.chunk = self.chunk.saturating_mul(2).min(LARGEST_CHUNK);
                self.ask_at = now;
                self.day_end = now.plus(*more);
                self.stage = self.stage_with(*left);
            }
            Some(Outcome::Refused { wait, .. }) => {
                self.stage = BudgetStage::Alone;
                self.day_end = now.plus(*wait);
            }
            Some(Outcome::Full { .. } | Outcome::Unknown) | None => {}
        }
    }

    /// Returns the stage with `left` calls left of the day.
    fn stage_with(&self, left: u64) -> BudgetStage {
        let at_least_one_in = |part: u64| left.saturating_mul(part) >= self.total;
        match () {
            () if at_least_one_in(4) => BudgetStage::Plenty,
            () if at_least_one_in(10) => BudgetStage::Saving,
            () if at_least_one_in(50) => BudgetStage::Sampling,
            () => BudgetStage::Alone,
        }
    }

    /// Returns the stage if it has changed since the last call and was not returned on this day
    /// yet. It is to be logged.
    pub fn stage_change(&mut self, now: Time) -> Option<BudgetStage> {
        let stage = self.stage(now);
        if core::mem::replace(&mut self.last_stage, stage) == stage {
            return None;
        }
        if now >= self.day_end {
            self.logged = 0;
        }
        let bit = 1 << stage as u8;
        let new = self.logged & bit == 0;
        self.logged |= bit;
        new.then_some(stage)
    }
}

impl BudgetStage {
    /// Returns the text of the log line: the calls that are left, and the measure taken.
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
