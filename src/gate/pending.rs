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
    pub stop: &'s LimitGroup<'p>,
    pub met: PlannedLimit<'p>,
    pub name: LimitKey,
    pub outcome: Option<Outcome>,
    /// The tokens that this request has of it.
    pub held: Option<Tokens>,
    /// What it has taken without its actor.
    pub alone: Option<Demand>,
}

/// The limits of `stops`, none of them settled.
pub(super) fn items<'s, 'p>(stops: &'s [LimitGroup<'p>]) -> Vec<PendingLimit<'s, 'p>> {
    let of_stop = |(order, stop): (usize, &'s LimitGroup<'p>)| {
        stop.limits.iter().map(move |met| {
            let name = (met.limit.number, stop.subject);
            PendingLimit { order, stop, met: *met, name, outcome: None, held: None, alone: None }
        })
    };
    stops.iter().enumerate().flat_map(of_stop).collect()
}

/// How many are settled.
pub(super) fn settled(items: &[PendingLimit<'_, '_>]) -> u32 {
    u32::try_from(items.iter().filter(|item| item.outcome.is_some()).count()).unwrap_or(u32::MAX)
}

/// The place of the first stop at which a binding limit refuses.
pub(super) fn refusing(items: &[PendingLimit<'_, '_>]) -> Option<usize> {
    let refuses = |item: &&PendingLimit<'_, '_>| {
        let refused = !matches!(item.outcome, None | Some(Outcome::Met { .. }));
        refused && item.met.enforces()
    };
    items.iter().find(refuses).map(|item| item.order)
}

/// Writes one limit's outcome into the decision.
pub(super) fn note<'p>(item: &PendingLimit<'_, 'p>, decision: &mut Decision<'p>) {
    let PendingLimit { met, stop, .. } = *item;
    let refusal = |reason, wait, until: Option<u64>, left| Refusal {
        met,
        reason,
        wait,
        until: until.map(|secs| Time::from_millis(secs.saturating_mul(1_000))),
        left,
        subject: stop.subject,
    };
    let refusal = match item.outcome {
        None => return,
        Some(Outcome::Met { left, more, .. }) => {
            // What others share is told to nobody who passes: it would tell of others.
            if met.limit.scope != Scope::Global && met.enforces() {
                decision.stand(Standing { met, left, more });
            }
            return;
        }
        Some(Outcome::Refused { left, wait, until }) => refusal(reason(met), wait, until, left),
        Some(Outcome::Full { wait }) => refusal(Reason::OverCapacity, wait, None, 0),
        Some(Outcome::Unknown) => {
            let here = decision.unchecked.iter().filter(|unchecked| unchecked.met.limit.number == met.limit.number);
            let troubles = here.filter_map(|unchecked| match unchecked.trouble {
                Some(CallError::OverBudget(wait)) => Some(wait),
                _ => None,
            });
            refusal(Reason::LimiterUnavailable, troubles.fold(TRY_AGAIN, Span::max), None, 0)
        }
    };
    match met.limit.mode {
        Mode::Enforce => decision.refuse(refusal),
        Mode::Shadow => decision.shadows.push(refusal),
    }
}

fn reason(met: PlannedLimit<'_>) -> Reason {
    match (&met.limit.allowance, met.limit.scope) {
        (Allowance::Quota(_), _) => Reason::QuotaExhausted,
        (Allowance::Rate(_), Scope::Global) => Reason::OverCapacity,
        (Allowance::Rate(_), Scope::Ip | Scope::Key) => Reason::RateLimited,
    }
}
