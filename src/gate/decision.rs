//! The result of a decision about one request, and its cost.

use crate::gate::day_tokens::DayTokens;
use crate::gate::usages::Usages;
use crate::identity::digest::Subject;
use crate::limit::time::{Span, Time};
use crate::policy::{Binding, Cap, Limit};
use crate::protocol::rates::CallError;
use std::rc::Rc;

/// Why a limit or a cap refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The caller is too fast for a rate of its own.
    RateLimited,
    /// The caller has used up its quota of the day.
    QuotaExhausted,
    /// A limit or cap that everyone shares has no room. The caller is not at fault.
    OverCapacity,
    /// The limit cannot be checked, and its `on_error` is `closed`.
    LimiterUnavailable,
}

/// The refusal of one limit.
#[derive(Clone, Debug)]
pub struct Refusal<'p> {
    /// The limit.
    pub limit: &'p Limit,
    /// Why it refuses.
    pub reason: Reason,
    /// How long until this limit would let the request pass, if no other request came.
    pub wait: Span,
    /// The instant at which a quota's next day begins, if `wait` ends there; `None` for a rate.
    pub until: Option<Time>,
    /// Whole tokens in the bucket, or left of the day: fewer than the request costs.
    pub left: u64,
    /// The subject whose bucket it is; `None` at a shared limit.
    pub subject: Option<Subject>,
}

/// The refusal of one cap.
#[derive(Clone, Copy, Debug)]
pub struct CapRefusal<'p> {
    /// The cap.
    pub cap: &'p Rc<Cap>,
    /// The binding that it belongs to.
    pub binding: &'p Binding,
    /// [`Reason::OverCapacity`] or [`Reason::LimiterUnavailable`].
    pub reason: Reason,
    /// How long the client should wait before it tries again.
    pub wait: Span,
}

/// How long a limit would refuse a request.
#[derive(Clone, Copy, Debug)]
pub struct LimitWait {
    /// How long until the limit admits the first request.
    pub wait: Span,
    /// The time from one request to the next; zero for a quota.
    pub step: Span,
}

/// A limit that could not be checked.
#[derive(Clone, Debug)]
pub struct Unchecked<'p> {
    /// The limit.
    pub limit: &'p Limit,
    /// Why its actor gave no answer; `None` where the actor answered and D1 did not.
    pub error: Option<CallError>,
}

/// The cost of a decision, as the `Penstock-Trace` header tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls to Durable Objects.
    pub calls: u32,
    /// Statements to D1.
    pub d1: u32,
    /// Rows written by both.
    pub rows: u32,
    /// Limits and caps settled without a call of this request: from the lease cache, or by a permit
    /// in hand.
    pub settled: u32,
    /// Limits that apply to the request, and caps that it has reached.
    pub limits: u32,
}

impl Spent {
    /// Adds `other` to this cost.
    pub fn add(&mut self, other: &Spent) {
        for (mine, more) in [
            (&mut self.calls, other.calls),
            (&mut self.d1, other.d1),
            (&mut self.rows, other.rows),
            (&mut self.settled, other.settled),
            (&mut self.limits, other.limits),
        ] {
            *mine = mine.saturating_add(more);
        }
    }
}

/// The result at a request's caps.
#[derive(Clone, Debug, Default)]
pub struct CapDecision<'p> {
    /// The cap that refuses the request, if one does. The request then has no permit.
    pub refusal: Option<CapRefusal<'p>>,
    /// Refusals by caps in shadow, which stop no request.
    pub shadows: Vec<CapRefusal<'p>>,
    /// Caps whose actors could not be asked, and why.
    pub unchecked: Vec<(&'p Cap, CallError)>,
    /// Caps that are checked again, and could not be before.
    pub restored: Vec<&'p Cap>,
    /// How long the request has waited for permits.
    pub waited: Span,
    /// The cost.
    pub spent: Spent,
}

/// Everything that was found out about one request.
#[derive(Clone, Debug, Default)]
pub struct Decision<'p> {
    /// The refusal with the longest wait, if a limit refuses the request.
    pub refusal: Option<Refusal<'p>>,
    /// The earliest useful retry of a refused request, beside the wait of the limit that refused:
    /// other limits would refuse until then, or the caller has had its share of a contended rate.
    pub min_wait: Span,
    /// The limits that would refuse the request, as far as this isolate knows; empty if it passed.
    pub waits: Vec<LimitWait>,
    /// Refusals by limits in shadow, which stop no request.
    pub shadows: Vec<Refusal<'p>>,
    /// Limits that could not be checked.
    pub unchecked: Vec<Unchecked<'p>>,
    /// Limits that are checked again, and could not be before.
    pub restored: Vec<&'p Limit>,
    /// The usage of the caller's own limits, as far as this isolate knows it.
    pub usages: Usages<'p>,
    /// The quota tokens of a request that passed. They go back if it does not reach the origin.
    pub day_tokens: Vec<DayTokens>,
    /// The result at the caps.
    pub caps: CapDecision<'p>,
    /// The cost, that of the caps included.
    pub spent: Spent,
}

impl LimitWait {
    /// How long until the limit admits a request after `ahead` others.
    pub fn of_place(self, ahead: u64) -> Span {
        self.wait.plus(self.step.times(ahead))
    }
}

impl Refusal<'_> {
    /// Makes the wait at least `min_wait`. If that makes it longer, `until` is cleared: the wait no
    /// longer ends with the quota's day.
    pub fn wait_at_least(&mut self, min_wait: Span) {
        if self.wait.as_secs_up() < min_wait.as_secs_up() {
            self.until = None;
        }
        self.wait = self.wait.max(min_wait);
    }
}

impl<'p> Decision<'p> {
    /// Whether the request may go on to the origin.
    pub fn is_allowed(&self) -> bool {
        self.refusal.is_none() && self.caps.refusal.is_none()
    }

    /// How long the limit or cap that refused the request does so; zero where none did.
    pub fn wait(&self) -> Span {
        let limit = self.refusal.as_ref().map(|refusal| refusal.wait);
        let cap = self.caps.refusal.as_ref().map(|refusal| refusal.wait);
        limit.or(cap).unwrap_or_default().max(self.min_wait)
    }

    /// How many limits and caps could not be checked.
    pub fn unchecked_count(&self) -> usize {
        self.unchecked.len().saturating_add(self.caps.unchecked.len())
    }

    /// Records a refusal. The client is told of the one with the longest wait.
    pub fn refuse(&mut self, refusal: Refusal<'p>) {
        if self.refusal.as_ref().is_none_or(|known| known.wait < refusal.wait) {
            self.refusal = Some(refusal);
        }
    }
}
