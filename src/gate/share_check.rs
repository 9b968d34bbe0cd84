//! Fair shares of contended rates: checks a caller's share before its request goes on, and records
//! afterwards what the shared rates said.

use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, Reason, Refusal};
use crate::gate::on_error;
use crate::gate::plan::Plan;
use crate::limit::gcra::Gcra;
use crate::limit::rate::Allowance;
use crate::policy::{Limit, Mode, Scope};
use crate::protocol::rates::Actors;

impl<A: Actors> Gate<'_, A> {
    /// Whether the caller has had its share of a contended rate. The decision then has the refusal.
    pub(super) fn over_fair_share<'p>(&self, plan: &Plan<'p>, decision: &mut Decision<'p>) -> bool {
        let Some(caller) = plan.caller else { return false };
        let mut shares = self.state.fair_shares.borrow_mut();
        if shares.is_empty() {
            return false;
        }
        let now = self.now();
        let mut charged = Vec::new();
        for (limit, _) in shared_rates(plan) {
            let Limit { number, cost, .. } = *limit;
            match shares.wait_for(number, caller, cost, now) {
                Some(wait) => {
                    let reason = Reason::OverCapacity;
                    decision.refuse(Refusal { limit, reason, wait, until: None, left: 0, subject: None });
                }
                None => charged.push((number, cost)),
            }
        }
        let Some(refusal) = &mut decision.refusal else { return false };
        charged.into_iter().for_each(|(number, cost)| shares.refund(number, caller, cost, now));
        // The wait is the caller's own and not the rate's. In the rate's retry queue, every caller
        // after this one would be told to wait longer.
        decision.min_wait = core::mem::take(&mut refusal.wait);
        true
    }

    /// Records what the shared rates said to a request, or that a cap refused it before they were
    /// asked.
    pub(super) fn record_shares(&self, plan: &Plan<'_>, decision: &Decision<'_>) {
        let Some(caller) = plan.caller else { return };
        let refusing = decision.refusal.as_ref().map(|refusal| (refusal.limit.number, refusal.reason));
        let mut shares = self.state.fair_shares.borrow_mut();
        if refusing.is_none() && shares.is_empty() {
            return;
        }
        let now = self.now();
        for (limit, gcra) in shared_rates(plan) {
            let Limit { number, cost, on_error, .. } = *limit;
            let unchecked = || decision.unchecked.iter().any(|unchecked| unchecked.limit.number == number);
            match refusing {
                // Requests pass uncounted, so there is no rate to share.
                _ if on_error::passes_uncounted(on_error) && unchecked() => shares.end(number, now),
                None if decision.caps.refusal.is_none() => shares.note_given(number, cost),
                Some((other, Reason::OverCapacity)) if other == number => {
                    shares.refused(number, &gcra, caller, cost, now);
                }
                // Another limit or a cap refused the request.
                _ => shares.refund(number, caller, cost, now),
            }
        }
    }
}

/// The enforced rates of `plan` that everyone shares.
fn shared_rates<'a, 'p>(plan: &'a Plan<'p>) -> impl Iterator<Item = (&'p Limit, Gcra)> + 'a {
    plan.shared_limits.iter().flat_map(|group| &group.limits).filter_map(|limit| match &limit.allowance {
        Allowance::Rate(rate) if limit.mode == Mode::Enforce && limit.scope == Scope::Global => {
            Some((*limit, rate.gcra()))
        }
        _ => None,
    })
}
