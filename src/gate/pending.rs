//! The limits of one request while they are being settled, and what becomes of them in the end.

use crate::gate::decision::{Decision, Reason, Refusal, Standing};
use crate::gate::plan::{LimitGroup, PlannedLimit};
use crate::gate::state::lease_cache::LimitKey;
use crate::gate::state::tokens::Tokens;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Mode, Scope};
use crate::protocol::rates::{CallError, Demand, Outcome};

/// How long a caller is asked to wait when a limit cannot be checked.
const TRY_AGAIN: Span = Span::from_secs(1);

/// One limit on its way to being settled.
pub(super) struct PendingLimit<'s, 'p> {
    /// The place of its stop.
    pub order: usize,
    pub group: &'s LimitGroup<'p>,
    pub planned: PlannedLimit<'p>,
    pub name: LimitKey,
    pub outcome: Option<Outcome>,
    /// The tokens that this request has of it.
    pub held: Option<Tokens>,
    /// What it has taken without its actor.
    pub alone: Option<Demand>,
}

/// The limits of `groups`, none of them settled.
pub(super) fn limits<'s, 'p>(groups: &'s [LimitGroup<'p>]) -> Vec<PendingLimit<'s, 'p>> {
    let of_stop = |(order, group): (usize, &'s LimitGroup<'p>)| {
        group.limits.iter().map(move |planned| {
            let name = (planned.limit.number, group.subject);
            PendingLimit { order, group, planned: *planned, name, outcome: None, held: None, alone: None }
        })
    };
    groups.iter().enumerate().flat_map(of_stop).collect()
}

/// How many are settled.
pub(super) fn settled(limits: &[PendingLimit<'_, '_>]) -> u32 {
    u32::try_from(limits.iter().filter(|pending| pending.outcome.is_some()).count()).unwrap_or(u32::MAX)
}

/// The place of the first stop at which a binding limit refuses.
pub(super) fn refusing(limits: &[PendingLimit<'_, '_>]) -> Option<usize> {
    let refuses = |pending: &&PendingLimit<'_, '_>| {
        let refused = !matches!(pending.outcome, None | Some(Outcome::Met { .. }));
        refused && pending.planned.enforces()
    };
    limits.iter().find(refuses).map(|pending| pending.order)
}

/// Writes one limit's outcome into the decision.
pub(super) fn note<'p>(pending: &PendingLimit<'_, 'p>, decision: &mut Decision<'p>) {
    let PendingLimit { planned, group, .. } = *pending;
    let refusal = |reason, wait, until: Option<u64>, left| Refusal {
        planned,
        reason,
        wait,
        until: until.map(|secs| Time::from_millis(secs.saturating_mul(1_000))),
        left,
        subject: group.subject,
    };
    let refusal = match pending.outcome {
        None => return,
        Some(Outcome::Met { left, more, .. }) => {
            // What others share is told to nobody who passes: it would tell of others.
            if planned.limit.scope != Scope::Global && planned.enforces() {
                decision.stand(Standing { planned, left, more });
            }
            return;
        }
        Some(Outcome::Refused { left, wait, until }) => refusal(reason(planned), wait, until, left),
        Some(Outcome::Full { wait }) => refusal(Reason::OverCapacity, wait, None, 0),
        Some(Outcome::Unknown) => {
            let here =
                decision.unchecked.iter().filter(|unchecked| unchecked.planned.limit.number == planned.limit.number);
            let errors = here.filter_map(|unchecked| match unchecked.error {
                Some(CallError::OverBudget(wait)) => Some(wait),
                _ => None,
            });
            refusal(Reason::LimiterUnavailable, errors.fold(TRY_AGAIN, Span::max), None, 0)
        }
    };
    match planned.limit.mode {
        Mode::Enforce => decision.refuse(refusal),
        Mode::Shadow => decision.shadows.push(refusal),
    }
}

fn reason(planned: PlannedLimit<'_>) -> Reason {
    match (&planned.limit.allowance, planned.limit.scope) {
        (Allowance::Quota(_), _) => Reason::QuotaExhausted,
        (Allowance::Rate(_), Scope::Global) => Reason::OverCapacity,
        (Allowance::Rate(_), Scope::Ip | Scope::Key) => Reason::RateLimited,
    }
}
