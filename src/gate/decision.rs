//! What was decided about a request, and what it took to decide.

use crate::gate::plan::PlannedLimit;
use crate::identity::digest::Subject;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::CallError;
use core::cmp::Reverse;

/// Why a limit refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The caller is too fast.
    RateLimited,
    /// The caller's day is used up.
    QuotaExhausted,
    /// It is crowded; no fault of the caller's.
    OverCapacity,
    /// The limit cannot be checked, and must not be passed unchecked.
    LimiterUnavailable,
}

/// One limit's refusal.
#[derive(Clone, Debug)]
pub struct Refusal<'p> {
    /// The limit that refuses.
    pub planned: PlannedLimit<'p>,
    /// Why.
    pub reason: Reason,
    /// How long until this limit would let the request, alone, pass.
    pub wait: Span,
    /// For a quota: the instant at which its next day begins, if that is what is waited for.
    pub until: Option<Time>,
    /// Whole tokens there, fewer than the request costs.
    pub left: u64,
    /// Who was refused; `None` at a shared limit.
    pub subject: Option<Subject>,
}

/// Where a caller stands with one of its own limits after a request that passed.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'p> {
    /// The limit.
    pub planned: PlannedLimit<'p>,
    /// Whole tokens left.
    pub left: u64,
    /// How long until there is one more; zero when full.
    pub more: Span,
}

/// A limit that could not be checked.
#[derive(Clone, Debug)]
pub struct Unchecked<'p> {
    /// The limit.
    pub planned: PlannedLimit<'p>,
    /// What was wrong; `None` where the actor answered and D1 did not.
    pub error: Option<CallError>,
}

/// What deciding cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls to Durable Objects.
    pub actors: u32,
    /// Statements to D1.
    pub d1: u32,
    /// Rows written by both.
    pub rows: u32,
    /// Limits settled from the wallet.
    pub wallet: u32,
    /// Limits met.
    pub limits: u32,
}

impl Spent {
    /// Adds what something else took.
    pub fn add(&mut self, other: &Spent) {
        for (mine, more) in [
            (&mut self.actors, other.actors),
            (&mut self.d1, other.d1),
            (&mut self.rows, other.rows),
            (&mut self.wallet, other.wallet),
            (&mut self.limits, other.limits),
        ] {
            *mine = mine.saturating_add(more);
        }
    }
}

/// Everything that was found out about one request.
#[derive(Clone, Debug, Default)]
pub struct Decision<'p> {
    /// The refusal with the longest wait, if the request may not go on.
    pub refusal: Option<Refusal<'p>>,
    /// Whoever is refused need not come back sooner: other limits would refuse it until then, those that it has paid included, or it has had
    /// its share of a crowded one.
    pub min_wait: Span,
    /// Refusals by limits in shadow, which stop nobody.
    pub shadows: Vec<Refusal<'p>>,
    /// Limits that could not be checked.
    pub unchecked: Vec<Unchecked<'p>>,
    /// Limits that were checked again, and could not be before.
    pub restored: Vec<PlannedLimit<'p>>,
    /// The tightest of the caller's own limits, where the request passed.
    pub tightest: Option<Standing<'p>>,
    /// What it took.
    pub spent: Spent,
}

impl Refusal<'_> {
    /// Makes the wait no shorter than `least`. Where that is longer than a day lasts, it is no longer the next day that is waited for.
    pub fn wait_for(&mut self, least: Span) {
        if self.wait.as_secs_up() < least.as_secs_up() {
            self.until = None;
        }
        self.wait = self.wait.max(least);
    }
}

impl<'p> Decision<'p> {
    /// Notes a refusal; the one with the longest wait is told to the caller.
    pub fn refuse(&mut self, refusal: Refusal<'p>) {
        if self.refusal.as_ref().is_none_or(|known| known.wait < refusal.wait) {
            self.refusal = Some(refusal);
        }
    }

    /// Notes where the caller stands with a limit; the one with the fewest requests left is told to it.
    pub fn stand(&mut self, standing: Standing<'p>) {
        let requests = |s: &Standing<'_>| s.left.checked_div(s.planned.limit.cost);
        let tightness = |s: &Standing<'_>| (requests(s), Reverse(s.more));
        if self.tightest.as_ref().is_none_or(|known| tightness(&standing) < tightness(known)) {
            self.tightest = Some(standing);
        }
    }
}
