//! Decides about one request, stage by stage, within one deadline. The limits of one stage are
//! decided together.
//!
//! 1. The caller's own limits, so that a caller they refuse has taken nothing of what everyone
//!    shares.
//! 2. The caller's share of a contended rate.
//! 3. Permits of the caps.
//! 4. The shared limits.
//!
//! The lease cache is asked first at each stage, and settles most limits without a call. The first
//! stage that refuses ends the decision. Tokens of a refused request go back into the lease cache,
//! except those of the caller's groups before the group that refused; these stay paid. Where a fair
//! share, a cap or a shared limit refuses, all of the caller's own stay paid.

use crate::gate::deadline::{Deadline, Later, POLL_EVERY};
use crate::gate::decision::Decision;
use crate::gate::pending::{PendingLimit, limits, record_outcome, refusing, settled};
use crate::gate::permit_port::{NoCaps, PermitPort};
use crate::gate::plan::{LimitGroup, Plan, Timing};
use crate::gate::state::GateState;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Actors, Intent, Terms};

/// Decides about requests, and does the work after them, for one isolate.
#[derive(Debug)]
pub struct Gate<'g, A> {
    /// The actors that hold the limits' state.
    pub actors: &'g A,
    /// The memory of the isolate.
    pub state: &'g GateState,
    /// The settings that time a decision and its questions.
    pub timing: Timing,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

/// Which tokens of a refused request stay paid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paid {
    /// The tokens of the groups before the one that refused.
    Before,
    /// No tokens.
    Nothing,
}

impl<A: Actors> Gate<'_, A> {
    /// Decides about a request that meets no cap.
    pub async fn decide<'p>(&self, plan: &Plan<'p>) -> Decision<'p> {
        self.decide_with(plan, &NoCaps).await
    }

    /// Decides about a request that meets the limits of `plan` and gets its permits from `caps`,
    /// within the deadline of its [`Timing`]. A wait for a permit comes on top.
    pub async fn decide_with<'p>(&self, plan: &Plan<'p>, caps: &impl PermitPort<'p>) -> Decision<'p> {
        let mut decision = Decision::default();
        decision.spent.limits = u32::try_from(plan.limits().count()).unwrap_or(u32::MAX);
        self.meet_all(plan, caps, &mut decision).await;
        if !decision.is_allowed() {
            decision.min_wait = decision.min_wait.max(self.min_wait(plan));
        }
        let caps_spent = decision.caps.spent;
        decision.spent.add(&caps_spent);
        self.state.call_budget.borrow_mut().spend(caps_spent.calls.max(caps_spent.rows).into());
        decision
    }

    /// Meets the limits and caps stage by stage, up to the first stage that refuses.
    async fn meet_all<'p>(&self, plan: &Plan<'p>, caps: &impl PermitPort<'p>, decision: &mut Decision<'p>) {
        let has_shared = !plan.shared_limits.is_empty();
        let deadline = Deadline::after(self.now(), self.timing.deadline);
        let stage_deadline = deadline.for_stage(self.now(), Later::when(has_shared || caps.cap_count() > 0));
        self.meet(&plan.caller_limits, Paid::Before, stage_deadline, decision).await;
        if !decision.is_allowed() || self.over_fair_share(plan, decision) {
            return;
        }
        decision.caps = caps.admit(deadline.for_stage(self.now(), Later::when(has_shared))).await;
        if decision.is_allowed() {
            self.meet(&plan.shared_limits, Paid::Nothing, deadline.later_by(decision.caps.waited), decision).await;
        }
        self.record_shares(plan, decision);
    }

    /// Meets the limits of `groups` by `deadline`: takes from all, or from none but those that stay
    /// paid.
    async fn meet<'p>(&self, groups: &[LimitGroup<'p>], paid: Paid, deadline: Deadline, decision: &mut Decision<'p>) {
        let mut limits = limits(groups);
        let mut refused = self.apply_denials(&mut limits, paid);
        if !refused {
            self.spend(&mut limits);
            refused = is_open(&limits) && self.wait(&mut limits, paid, deadline).await;
        }
        decision.spent.settled = decision.spent.settled.saturating_add(settled(&limits));
        // Several shared limits are peeked at before any token of them is taken.
        let looks_first = groups.len() > 1 && paid == Paid::Nothing;
        if !refused
            && is_open(&limits)
            && (!looks_first || self.ask(&mut limits, groups, Intent::Peek, deadline, decision).await)
        {
            self.ask(&mut limits, groups, Intent::Take, deadline, decision).await;
        }
        self.conclude(limits, paid, decision);
    }

    /// Settles the limits that the lease cache knows to refuse; whether an enforced one does. If
    /// one does, the caller's groups before it are charged: from tokens in hand, else as debt.
    fn apply_denials(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid) -> bool {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits.iter_mut().filter(|pending| pending.outcome.is_none()) {
            pending.outcome = lease_cache.denied(pending.key, pending.limit.cost, now);
        }
        let Some(refusing) = refusing(limits) else { return false };
        if paid == Paid::Before {
            for pending in limits.iter().filter(|pending| pending.order < refusing && pending.held.is_none()) {
                let cost = pending.limit.cost;
                if lease_cache.spend(pending.key, cost, now).is_none() {
                    lease_cache.add_debt(pending.key, &Terms::of(pending.limit), cost, now);
                }
            }
        }
        true
    }

    /// Settles the limits that the lease cache holds tokens of.
    fn spend(&self, limits: &mut [PendingLimit<'_, '_>]) {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits.iter_mut().filter(|pending| pending.outcome.is_none()) {
            if let Some((held, outcome)) = lease_cache.spend(pending.key, pending.limit.cost, now) {
                pending.held = Some(held);
                pending.outcome = Some(outcome);
            }
        }
    }

    /// Waits for tokens that other requests have already asked for; whether an enforced limit then
    /// refuses. Half of the time left is kept for a question of this request's own.
    async fn wait(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid, deadline: Deadline) -> bool {
        let end = deadline.half(self.now());
        let mut noted = false;
        while end.left(self.now()) > Span::ZERO && self.is_asked_for(limits) {
            if !noted {
                noted = true;
                let mut lease_cache = self.state.lease_cache.borrow_mut();
                let open = limits.iter().filter(|pending| pending.outcome.is_none());
                open.for_each(|pending| lease_cache.note_waiting(pending.key, pending.limit.cost));
            }
            self.actors.sleep(POLL_EVERY).await;
            if self.apply_denials(limits, paid) {
                return true;
            }
            self.spend(limits);
        }
        false
    }

    /// Whether another request has a call in flight for a limit that is not settled, which may
    /// still be answered.
    fn is_asked_for(&self, limits: &[PendingLimit<'_, '_>]) -> bool {
        let now = self.now();
        let (lease_cache, actor_health) = (self.state.lease_cache.borrow(), self.state.actor_health.borrow());
        let mut open =
            limits.iter().filter(|pending| pending.outcome.is_none() && !actor_health.is_open(&pending.group.actor));
        open.any(|pending| lease_cache.has_call_in_flight(pending.key, now, self.timing.deadline))
    }

    /// Records the outcomes, and gives back the tokens of a refused request that do not stay paid.
    /// Tokens taken without the actor are debt that its next question reports.
    fn conclude<'p>(&self, limits: Vec<PendingLimit<'_, 'p>>, paid: Paid, decision: &mut Decision<'p>) {
        let kept = match (refusing(&limits), paid) {
            (None, _) => usize::MAX,
            (Some(order), Paid::Before) => order,
            (Some(_), Paid::Nothing) => 0,
        };
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits {
            record_outcome(&pending, decision);
            let refused = pending.order >= kept;
            match pending {
                PendingLimit { held: Some(held), .. } if refused => lease_cache.give_back(pending.key, held, now),
                PendingLimit { local_demand: Some(demand), .. } if refused => {
                    self.state.local_limiter.borrow_mut().give_back(&demand, pending.group.subject, (self.wall)());
                }
                PendingLimit { local_demand: Some(demand), .. } => {
                    lease_cache.pass_alone(pending.key, &demand.terms, demand.cost, now);
                }
                _ => {}
            }
        }
    }

    /// The isolate's time.
    pub(super) fn now(&self) -> Time {
        self.state.lease_cache.borrow_mut().now((self.wall)())
    }
}

/// Whether a limit is not settled yet.
fn is_open(limits: &[PendingLimit<'_, '_>]) -> bool {
    limits.iter().any(|pending| pending.outcome.is_none())
}
