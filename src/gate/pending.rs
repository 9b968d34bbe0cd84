//! A limit while it is being decided, and how its outcome becomes part of the decision.

use crate::gate::day_tokens::DayTokens;
use crate::gate::decision::{Decision, Reason, Refusal};
use crate::gate::plan::LimitGroup;
use crate::gate::state::lease_cache::LimitKey;
use crate::gate::state::tokens::Tokens;
use crate::gate::usages::LimitUsage;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Limit, Mode, Scope};
use crate::protocol::rates::{CallError, Demand, Outcome};

/// The wait that a client is told where a limit cannot be checked.
const TRY_AGAIN: Span = Span::from_secs(1);

/// One limit that is being decided.
pub(super) struct PendingLimit<'s, 'p> {
    /// The index of the limit's group among the groups of this stage.
    pub order: usize,
    pub group: &'s LimitGroup<'p>,
    pub limit: &'p Limit,
    /// Its key in the lease cache.
    pub key: LimitKey,
    /// The outcome; `None` while it is open, or where the request passes uncounted.
    pub outcome: Option<Outcome>,
    /// The tokens that this request holds of it.
    pub held: Option<Tokens>,
    /// The tokens that the local limiter counted for this request, without the actor.
    pub counted_alone: Option<CountedAlone>,
}

/// Tokens that the isolate has counted alone.
pub(super) struct CountedAlone {
    /// The demand that the local limiter let pass.
    pub demand: Demand,
    /// When, by the wall clock.
    pub wall: Time,
    /// When, in the isolate's time.
    pub at: Time,
    /// The tokens that are owed to the actor since then.
    pub owed: u64,
}

impl PendingLimit<'_, '_> {
    /// The quota tokens that this request has taken of it; `None` where there are none.
    pub fn day_tokens(&self) -> Option<DayTokens> {
        let limit = self.limit.number;
        match (self.held, &self.counted_alone) {
            (Some(Tokens::Quota { tokens, end, until }), _) => {
                Some(DayTokens { limit, tokens, until: Some(until), at: end })
            }
            (None, Some(CountedAlone { demand, wall, .. })) if self.limit.is_quota() => {
                Some(DayTokens { limit, tokens: demand.cost, until: None, at: *wall })
            }
            _ => None,
        }
    }

    /// Whether it is not settled, and its state is with the actor of `group`.
    pub fn is_open_at(&self, group: &LimitGroup<'_>) -> bool {
        self.outcome.is_none() && self.group.actor == group.actor
    }
}

/// All limits of `groups`, none of them settled.
pub(super) fn limits<'s, 'p>(groups: &'s [LimitGroup<'p>]) -> Vec<PendingLimit<'s, 'p>> {
    let of_group = |(order, group): (usize, &'s LimitGroup<'p>)| {
        group.limits.iter().map(move |limit| {
            let key = group.key(limit);
            PendingLimit { order, group, limit, key, outcome: None, held: None, counted_alone: None }
        })
    };
    groups.iter().enumerate().flat_map(of_group).collect()
}

/// How many limits are settled.
pub(super) fn settled(limits: &[PendingLimit<'_, '_>]) -> u32 {
    u32::try_from(limits.iter().filter(|pending| pending.outcome.is_some()).count()).unwrap_or(u32::MAX)
}

/// The index of the first group in which an enforced limit refuses; `None` where none does.
pub(super) fn refusing(limits: &[PendingLimit<'_, '_>]) -> Option<usize> {
    let refuses = |pending: &&PendingLimit<'_, '_>| {
        let refused = !matches!(pending.outcome, None | Some(Outcome::Met { .. }));
        refused && pending.limit.enforces()
    };
    limits.iter().find(refuses).map(|pending| pending.order)
}

/// Records one limit's outcome in the decision.
pub(super) fn record_outcome<'p>(pending: &PendingLimit<'_, 'p>, decision: &mut Decision<'p>) {
    let PendingLimit { limit, group, .. } = *pending;
    let refusal = |reason, wait, until: Option<u64>, left| Refusal {
        limit,
        reason,
        wait,
        until: until.map(|secs| Time::from_millis(secs.saturating_mul(1_000))),
        left,
        subject: group.subject,
    };
    let refusal = match pending.outcome {
        None => return,
        Some(Outcome::Met { left, more, .. }) => {
            // The usage of a shared limit is not told to clients: it would tell them about each
            // other.
            if limit.scope != Scope::Global && limit.enforces() {
                decision.usages.push(LimitUsage { limit, left, more });
            }
            return;
        }
        Some(Outcome::Refused { left, wait, until }) => refusal(reason(limit), wait, until, left),
        Some(Outcome::Full { wait }) => refusal(Reason::OverCapacity, wait, None, 0),
        Some(Outcome::Unknown) => refusal(Reason::LimiterUnavailable, unchecked_wait(limit, decision), None, 0),
    };
    match limit.mode {
        Mode::Enforce => decision.refuse(refusal),
        Mode::Shadow => decision.shadows.push(refusal),
    }
}

/// The wait at a limit that could not be checked: [`TRY_AGAIN`], or until the call budget is
/// renewed.
fn unchecked_wait(limit: &Limit, decision: &Decision<'_>) -> Span {
    let same = decision.unchecked.iter().filter(|unchecked| unchecked.limit.number == limit.number);
    let waits = same.filter_map(|unchecked| match unchecked.error {
        Some(CallError::OverBudget(wait)) => Some(wait),
        _ => None,
    });
    waits.fold(TRY_AGAIN, Span::max)
}

fn reason(limit: &Limit) -> Reason {
    match (&limit.allowance, limit.scope) {
        (Allowance::Quota(_), _) => Reason::QuotaExhausted,
        (Allowance::Rate(_), Scope::Global) => Reason::OverCapacity,
        (Allowance::Rate(_), Scope::Ip | Scope::Key) => Reason::RateLimited,
    }
}
