//! Meets a plan's limits and stops at the first refusal, all of it before one deadline.
//!
//! A caller's limits come first, so that whoever they refuse has taken nothing of what others share. What the wallet
//! can settle costs no call. What a refused request has taken goes back into the wallet, but for what it has paid to its
//! caller's limits before the one that refused.

use crate::gate::decision::Decision;
use crate::gate::pending::{PendingLimit, items, note, refusing, settled};
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
    pub wallet: &'g RefCell<LeaseCache>,
    /// What it counts when it is on its own.
    pub local: &'g RefCell<LocalLimiter>,
    /// Which actors are left alone.
    pub circuits: &'g RefCell<ActorHealth>,
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
            decision.least = decision.least.max(self.least(plan));
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
        if decision.refusal.is_some() || self.has_had_its_share(plan, decision) {
            return false;
        }
        let left = due.since(self.now());
        let waited = between(left.over(kept(left, alone))).await;
        if let Some(waited) = waited {
            // Who may wait for a place waits on its own account: or what everyone shares could not be checked afterwards.
            self.meet(&plan.shared, Paid::Nothing, due.plus(waited), decision).await;
        }
        self.share_out(plan, waited, decision);
        waited.is_some() && decision.refusal.is_none()
    }

    /// Meets the limits of some stops by `due`, all or nothing but for what stays paid.
    async fn meet<'p>(&self, stops: &[LimitGroup<'p>], paid: Paid, due: Time, decision: &mut Decision<'p>) {
        let mut items = items(stops);
        let mut refused = self.remember(&mut items, paid);
        if !refused {
            self.spend(&mut items);
            refused = is_open(&items) && self.wait(&mut items, paid, due).await;
        }
        decision.spent.wallet = decision.spent.wallet.saturating_add(settled(&items));
        // What everyone shares is looked at before any of it is taken.
        let looks_first = stops.len() > 1 && paid == Paid::Nothing;
        if !refused
            && is_open(&items)
            && (!looks_first || self.ask(&mut items, stops, Intent::Peek, due, decision).await)
        {
            self.ask(&mut items, stops, Intent::Take, due, decision).await;
        }
        self.conclude(items, paid, decision);
    }

    /// Settles what is known to be refused; whether a binding limit is.
    fn remember(&self, items: &mut [PendingLimit<'_, '_>], paid: Paid) -> bool {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items.iter_mut().filter(|item| item.outcome.is_none()) {
            item.outcome = wallet.denied(item.name, item.met.limit.cost, now);
        }
        let Some(refusing) = refusing(items) else { return false };
        if paid == Paid::Before {
            for item in items.iter().filter(|item| item.order < refusing && item.held.is_none()) {
                let cost = item.met.limit.cost;
                if wallet.spend(item.name, cost, now).is_none() {
                    wallet.owe(item.name, &item.met.terms(), cost, now);
                }
            }
        }
        true
    }

    /// Settles what there are tokens for.
    fn spend(&self, items: &mut [PendingLimit<'_, '_>]) {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items.iter_mut().filter(|item| item.outcome.is_none()) {
            if let Some((held, outcome)) = wallet.spend(item.name, item.met.limit.cost, now) {
                item.held = Some(held);
                item.outcome = Some(outcome);
            }
        }
    }

    /// Waits for what other requests have asked for, where that is the case; whether it turned out that a binding limit refuses.
    async fn wait(&self, items: &mut [PendingLimit<'_, '_>], paid: Paid, due: Time) -> bool {
        // Half of what is left is kept for a question of its own.
        let begun = self.now();
        let end = begun.plus(due.since(begun).half());
        let mut noted = false;
        while self.now() < end && self.is_asked_for(items) {
            if !noted {
                noted = true;
                let mut wallet = self.wallet.borrow_mut();
                let open = items.iter().filter(|item| item.outcome.is_none());
                open.for_each(|item| wallet.want(item.name, item.met.limit.cost));
            }
            self.actors.pause(LOOK).await;
            if self.remember(items, paid) {
                return true;
            }
            self.spend(items);
        }
        false
    }

    /// Whether somebody has asked for what is not settled yet, and may still be answered.
    fn is_asked_for(&self, items: &[PendingLimit<'_, '_>]) -> bool {
        let now = self.now();
        let (wallet, circuits) = (self.wallet.borrow(), self.circuits.borrow());
        let mut open = items.iter().filter(|item| item.outcome.is_none() && !circuits.is_open(&item.stop.seat));
        open.any(|item| wallet.waits(item.name, now, self.patience.deadline))
    }

    /// Writes down what became of the limits, and puts back what a refused request has not paid; what it takes alone it owes.
    fn conclude<'p>(&self, items: Vec<PendingLimit<'_, 'p>>, paid: Paid, decision: &mut Decision<'p>) {
        let kept = match (refusing(&items), paid) {
            (None, _) => usize::MAX,
            (Some(order), Paid::Before) => order,
            (Some(_), Paid::Nothing) => 0,
        };
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items {
            note(&item, decision);
            let refused = item.order >= kept;
            match item {
                PendingLimit { held: Some(held), .. } if refused => wallet.give_back(item.name, held, now),
                PendingLimit { alone: Some(demand), .. } if refused => {
                    self.local.borrow_mut().give_back(&demand, item.stop.subject, (self.wall)());
                }
                PendingLimit { alone: Some(demand), .. } => {
                    wallet.pass_alone(item.name, &demand.terms, demand.cost, now);
                }
                _ => {}
            }
        }
    }

    /// The isolate's time.
    pub(super) fn now(&self) -> Time {
        self.wallet.borrow_mut().now((self.wall)())
    }
}

/// Whether there is anything that the wallet has not settled.
fn is_open(items: &[PendingLimit<'_, '_>]) -> bool {
    items.iter().any(|item| item.outcome.is_none())
}
