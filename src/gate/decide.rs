//! Meets a plan's limits and stops at the first refusal, all of it before one deadline.
//!
//! A caller's limits come first, so that whoever they refuse has taken nothing of what others share. What the wallet
//! can settle costs no call. What a refused request has taken goes back into the wallet, but for what it has paid to its
//! caller's limits before the one that refused.

use crate::gate::decision::Decision;
use crate::gate::pending::{PendingLimit, limits, note, refusing, settled};
use crate::gate::plan::{LimitGroup, Plan, Timing};
use crate::gate::state::actor_health::ActorHealth;
use crate::gate::state::lease_cache::LeaseCache;
use crate::gate::state::local_limiter::LocalLimiter;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Actors, Intent};
use std::cell::RefCell;

/// How often a request looks whether the tokens that another has asked for are there. Promises must not be shared between
/// requests, so it looks at plain data.
const LOOK: Span = Span::from_millis(2);

/// What a decision needs besides its plan.
#[derive(Debug)]
pub struct Gate<'g, A> {
    /// Those who hold the state.
    pub actors: &'g A,
    /// What the isolate can decide alone.
    pub lease_cache: &'g RefCell<LeaseCache>,
    /// What it counts when it is on its own.
    pub local: &'g RefCell<LocalLimiter>,
    /// Which actors are left alone.
    pub actor_health: &'g RefCell<ActorHealth>,
    /// The settings that travel with every question.
    pub patience: Timing,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

/// Which of a refused request's tokens stay paid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paid {
    /// Those of the stops before the refusing one.
    Before,
    /// None.
    Nothing,
}

impl<A: Actors> Gate<'_, A> {
    /// Decides about one request, within the deadline of its [`Timing`].
    pub async fn decide<'p>(&self, plan: &Plan<'p>) -> Decision<'p> {
        self.decide_around(plan, 0, async |_| Some(Span::ZERO)).await
    }

    /// Decides about one request, which goes on from its caller's limits to what everyone shares if `between` lets it: that meets so many
    /// `caps`, is told how much time it has for them, and says how long the request has waited for a place.
    pub async fn decide_around<'p>(
        &self,
        plan: &Plan<'p>,
        caps: usize,
        between: impl AsyncFnOnce(Span) -> Option<Span>,
    ) -> Decision<'p> {
        let mut decision = Decision::default();
        decision.spent.limits = u32::try_from(plan.limits().count()).unwrap_or(u32::MAX);
        if !self.passes(plan, caps, between, &mut decision).await {
            decision.min_wait = decision.min_wait.max(self.min_wait(plan));
        }
        decision
    }

    /// Meets the limits in order; whether the request goes on.
    async fn passes<'p>(
        &self,
        plan: &Plan<'p>,
        caps: usize,
        between: impl AsyncFnOnce(Span) -> Option<Span>,
        decision: &mut Decision<'p>,
    ) -> bool {
        let deadline = self.patience.deadline;
        let due = self.now().plus(deadline);
        // A caller's actor that hangs must not leave what follows unchecked as well, so a quarter is kept for that; nor must a cap's.
        let kept = |left: Span, none: bool| if none { Span::ZERO } else { left.half().half() };
        let alone = plan.shared.is_empty();
        self.meet(&plan.caller, Paid::Before, due.minus(kept(deadline, alone && caps == 0)), decision).await;
        if decision.refusal.is_some() || self.over_fair_share(plan, decision) {
            return false;
        }
        let left = due.since(self.now());
        let waited = between(left.saturating_sub(kept(left, alone))).await;
        if let Some(waited) = waited {
            // Who may wait for a place waits on its own account: or what everyone shares could not be checked afterwards.
            self.meet(&plan.shared, Paid::Nothing, due.plus(waited), decision).await;
        }
        self.record_shares(plan, waited, decision);
        waited.is_some() && decision.refusal.is_none()
    }

    /// Meets the limits of some stops by `due`, all or nothing but for what stays paid.
    async fn meet<'p>(&self, groups: &[LimitGroup<'p>], paid: Paid, due: Time, decision: &mut Decision<'p>) {
        let mut limits = limits(groups);
        let mut refused = self.remember(&mut limits, paid);
        if !refused {
            self.spend(&mut limits);
            refused = is_open(&limits) && self.wait(&mut limits, paid, due).await;
        }
        decision.spent.wallet = decision.spent.wallet.saturating_add(settled(&limits));
        // What everyone shares is looked at before any of it is taken.
        let looks_first = groups.len() > 1 && paid == Paid::Nothing;
        if !refused
            && is_open(&limits)
            && (!looks_first || self.ask(&mut limits, groups, Intent::Peek, due, decision).await)
        {
            self.ask(&mut limits, groups, Intent::Take, due, decision).await;
        }
        self.conclude(limits, paid, decision);
    }

    /// Settles what is known to be refused; whether a binding limit is.
    fn remember(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid) -> bool {
        let mut lease_cache = self.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits.iter_mut().filter(|pending| pending.outcome.is_none()) {
            pending.outcome = lease_cache.denied(pending.name, pending.planned.limit.cost, now);
        }
        let Some(refusing) = refusing(limits) else { return false };
        if paid == Paid::Before {
            for pending in limits.iter().filter(|pending| pending.order < refusing && pending.held.is_none()) {
                let cost = pending.planned.limit.cost;
                if lease_cache.spend(pending.name, cost, now).is_none() {
                    lease_cache.add_debt(pending.name, &pending.planned.terms(), cost, now);
                }
            }
        }
        true
    }

    /// Settles what there are tokens for.
    fn spend(&self, limits: &mut [PendingLimit<'_, '_>]) {
        let mut lease_cache = self.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits.iter_mut().filter(|pending| pending.outcome.is_none()) {
            if let Some((held, outcome)) = lease_cache.spend(pending.name, pending.planned.limit.cost, now) {
                pending.held = Some(held);
                pending.outcome = Some(outcome);
            }
        }
    }

    /// Waits for what other requests have asked for, where that is the case; whether it turned out that a binding limit refuses.
    async fn wait(&self, limits: &mut [PendingLimit<'_, '_>], paid: Paid, due: Time) -> bool {
        // Half of what is left is kept for a question of its own.
        let begun = self.now();
        let end = begun.plus(due.since(begun).half());
        let mut noted = false;
        while self.now() < end && self.is_asked_for(limits) {
            if !noted {
                noted = true;
                let mut lease_cache = self.lease_cache.borrow_mut();
                let open = limits.iter().filter(|pending| pending.outcome.is_none());
                open.for_each(|pending| lease_cache.note_waiting(pending.name, pending.planned.limit.cost));
            }
            self.actors.sleep(LOOK).await;
            if self.remember(limits, paid) {
                return true;
            }
            self.spend(limits);
        }
        false
    }

    /// Whether somebody has asked for what is not settled yet, and may still be answered.
    fn is_asked_for(&self, limits: &[PendingLimit<'_, '_>]) -> bool {
        let now = self.now();
        let (lease_cache, actor_health) = (self.lease_cache.borrow(), self.actor_health.borrow());
        let mut open =
            limits.iter().filter(|pending| pending.outcome.is_none() && !actor_health.is_open(&pending.group.actor));
        open.any(|pending| lease_cache.has_call_in_flight(pending.name, now, self.patience.deadline))
    }

    /// Writes down what became of the limits, and puts back what a refused request has not paid; what it takes alone it owes.
    fn conclude<'p>(&self, limits: Vec<PendingLimit<'_, 'p>>, paid: Paid, decision: &mut Decision<'p>) {
        let kept = match (refusing(&limits), paid) {
            (None, _) => usize::MAX,
            (Some(order), Paid::Before) => order,
            (Some(_), Paid::Nothing) => 0,
        };
        let mut lease_cache = self.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        for pending in limits {
            note(&pending, decision);
            let refused = pending.order >= kept;
            match pending {
                PendingLimit { held: Some(held), .. } if refused => lease_cache.give_back(pending.name, held, now),
                PendingLimit { alone: Some(demand), .. } if refused => {
                    self.local.borrow_mut().give_back(&demand, pending.group.subject, (self.wall)());
                }
                PendingLimit { alone: Some(demand), .. } => {
                    lease_cache.pass_alone(pending.name, &demand.terms, demand.cost, now);
                }
                _ => {}
            }
        }
    }

    /// The isolate's time.
    pub(super) fn now(&self) -> Time {
        self.lease_cache.borrow_mut().now((self.wall)())
    }
}

/// Whether there is anything that the wallet has not settled.
fn is_open(limits: &[PendingLimit<'_, '_>]) -> bool {
    limits.iter().any(|pending| pending.outcome.is_none())
}
