//! Decides about one request, stage by stage, within one deadline. The limits of one stage are
//! decided together.
//!
//! 1. The caller's own limits, as far as the isolate can settle them alone.
//! 2. The caller's share of a contended rate.
//! 3. The caller's own limits at their actors, so that a caller they refuse has taken nothing of
//!    what everyone shares. Where a cap or a shared limit is already known to refuse, no actor is
//!    asked.
//! 4. Permits of the caps.
//! 5. The shared limits.
//!
//! The lease cache is asked first at each stage, and settles most limits without a call. The first
//! stage that refuses ends the decision. Tokens of a refused request go back into the lease cache,
//! for the caller's next request: a caller that is refused by what everyone shares has used nothing
//! of its own. Only where one of the caller's groups refuses, the groups before it stay paid.

use crate::gate::deadline::{Deadline, Later, POLL_EVERY};
use crate::gate::decision::Decision;
use crate::gate::pending::{PendingLimit, refusing};
use crate::gate::permit_port::{NoCaps, PermitPort};
use crate::gate::plan::{LimitGroup, Plan, Timing};
use crate::gate::state::GateState;
use crate::gate::taken::{Paid, Taken};
use crate::gate::usages::{LimitUsage, Usages};
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
            self.set_min_wait(plan, &mut decision);
            decision.usages = self.known_usages(plan);
        }
        let caps_spent = decision.caps.spent;
        decision.spent.add(&caps_spent);
        self.state.call_budget.borrow_mut().spend(caps_spent.calls.max(caps_spent.rows).into());
        decision
    }

    /// Meets the limits and caps stage by stage, up to the first stage that refuses. The caller's
    /// own tokens go back if a later stage refuses, or if the client leaves meanwhile.
    async fn meet_all<'p>(&self, plan: &Plan<'p>, caps: &impl PermitPort<'p>, decision: &mut Decision<'p>) {
        let now = self.now();
        let deadline = Deadline::after(now, self.timing.deadline);
        let mut own = self.taken(&plan.caller_limits, now);
        let refused = self.settle_alone(&mut own, Paid::Before);
        if refused || self.over_fair_share(plan, decision) {
            own.conclude_alone(Paid::Before, decision);
            return;
        }
        // Tokens that would need a call are not asked for where they could not be used.
        if own.is_open() && self.is_known_to_be_full(plan, caps, decision) {
            own.conclude_alone(Paid::Before, decision);
        } else {
            self.meet_with_calls(plan, caps, own, deadline, decision).await;
        }
        self.record_shares(plan, decision);
    }

    /// Meets all stages of a request that nothing in the isolate's memory refuses.
    async fn meet_with_calls<'p>(
        &self,
        plan: &Plan<'p>,
        caps: &impl PermitPort<'p>,
        mut own: Taken<'_, '_, 'p>,
        deadline: Deadline,
        decision: &mut Decision<'p>,
    ) {
        let has_shared = !plan.shared_limits.is_empty();
        let stage_deadline = deadline.for_stage(self.now(), Later::when(has_shared || caps.cap_count() > 0));
        if self.meet(&mut own, &plan.caller_limits, Paid::Before, stage_deadline, decision).await {
            return;
        }
        let now = self.now();
        decision.caps = caps.admit(deadline.for_stage(now, Later::when(has_shared))).await;
        if !decision.is_allowed() {
            return;
        }
        let mut shared = self.taken(&plan.shared_limits, now);
        let refused = self.settle_alone(&mut shared, Paid::Nothing);
        let deadline = deadline.later_by(decision.caps.waited);
        if refused {
            shared.conclude_alone(Paid::Nothing, decision);
        } else if !self.meet(&mut shared, &plan.shared_limits, Paid::Nothing, deadline, decision).await {
            own.use_all(decision);
            shared.use_all(decision);
        }
    }

    /// The usage of the caller's own limits after a request that was refused, as far as this
    /// isolate knows it without asking.
    fn known_usages<'p>(&self, plan: &Plan<'p>) -> Usages<'p> {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        let mut usages = Usages::default();
        for (group, limit) in plan.own_limits() {
            if let Some((left, more)) = lease_cache.known_usage(group.key(limit), &Terms::of(limit), now) {
                usages.push(LimitUsage { limit, left, more });
            }
        }
        usages
    }

    /// All limits of `groups`, none of them settled at `now`.
    fn taken<'a, 'p>(&'a self, groups: &'a [LimitGroup<'p>], now: Time) -> Taken<'a, 'a, 'p> {
        Taken::of(groups, self.state, self.wall, now)
    }

    /// Whether a cap or a shared limit is known to refuse. The decision then has the refusal.
    fn is_known_to_be_full<'p>(
        &self,
        plan: &Plan<'p>,
        caps: &impl PermitPort<'p>,
        decision: &mut Decision<'p>,
    ) -> bool {
        if let Some(full) = caps.known_refusal() {
            decision.caps = full;
            return true;
        }
        let mut shared = self.taken(&plan.shared_limits, self.now());
        let refused = self.apply_denials(&mut shared, Paid::Nothing);
        if refused {
            shared.conclude_alone(Paid::Nothing, decision);
        }
        refused
    }

    /// Meets the limits of `groups` that the isolate has not settled alone, by `deadline`; whether
    /// an enforced one refuses. Takes from all, or from none but those that stay paid.
    async fn meet<'p>(
        &self,
        taken: &mut Taken<'_, '_, 'p>,
        groups: &[LimitGroup<'p>],
        paid: Paid,
        deadline: Deadline,
        decision: &mut Decision<'p>,
    ) -> bool {
        let refused = taken.is_open() && self.wait(taken, paid, deadline).await;
        taken.count_settled(decision);
        // Several shared limits are peeked at before any token of them is taken.
        let looks_first = groups.len() > 1 && paid == Paid::Nothing;
        if !refused
            && taken.is_open()
            && (!looks_first || self.ask(taken, groups, Intent::Peek, deadline, decision).await)
        {
            self.ask(taken, groups, Intent::Take, deadline, decision).await;
        }
        taken.conclude(paid, decision)
    }

    /// Settles all limits that the isolate can settle without waiting; whether an enforced one
    /// refuses.
    fn settle_alone(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid) -> bool {
        let refused = self.apply_denials(limits, paid);
        if !refused {
            self.spend(limits);
        }
        refused
    }

    /// Settles the limits that the lease cache knows to refuse; whether an enforced one does. If
    /// one does, the caller's groups before it are charged: from tokens in hand, else as debt.
    fn apply_denials(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid) -> bool {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits.iter_mut().filter(|pending| pending.outcome.is_none()) {
            pending.outcome = lease_cache.denied(pending.key, pending.limit.cost, now);
            if pending.outcome.is_some() {
                lease_cache.note_refused(pending.key, pending.limit.cost, now);
            }
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
            if self.settle_alone(limits, paid) {
                return true;
            }
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

    /// The isolate's time.
    pub(super) fn now(&self) -> Time {
        self.state.lease_cache.borrow_mut().now((self.wall)())
    }
}
