//! Meets a plan's limits and stops at the first refusal.
//!
//! A caller's limits come first, so that whoever they refuse has taken nothing of what others share. What the wallet
//! can settle costs no call. What a refused request has taken goes back into the wallet, but for what it has paid to its
//! caller's limits before the one that refused.

use super::held::{Held, Trip};
use super::item::{Item, items, note, refusing, settled};
use super::local::Local;
use super::plan::{Patience, Plan, Stop};
use super::ports::{Actors, Ask, Intent, Outcome, Reply, Trouble, Weight};
use super::verdict::{Decision, Unchecked};
use super::wallet::Wallet;
use crate::limit::time::{Span, Time};
use crate::policy::OnError;
use futures_util::future::join_all;
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
    pub wallet: &'g RefCell<Wallet>,
    /// What it counts when it is on its own.
    pub local: &'g RefCell<Local>,
    /// The settings that travel with every question.
    pub patience: Patience,
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
    /// Decides about one request.
    pub async fn decide<'p>(&self, plan: &Plan<'p>) -> Decision<'p> {
        let mut decision = Decision::default();
        decision.spent.limits = u32::try_from(plan.limits().count()).unwrap_or(u32::MAX);
        self.meet(&plan.caller, Paid::Before, &mut decision).await;
        if decision.refusal.is_none() {
            self.meet(&plan.shared, Paid::Nothing, &mut decision).await;
        }
        decision
    }

    /// Meets the limits of some stops, all or nothing but for what stays paid.
    async fn meet<'p>(&self, stops: &[Stop<'p>], paid: Paid, decision: &mut Decision<'p>) {
        let mut items = items(stops);
        let refused = self.remember(&mut items, paid);
        if !refused {
            self.spend(&mut items);
            self.wait(&mut items).await;
        }
        decision.spent.wallet = decision.spent.wallet.saturating_add(settled(&items));
        // What everyone shares is looked at before any of it is taken.
        let looks_first = stops.len() > 1 && paid == Paid::Nothing;
        if !refused && (!looks_first || self.ask(&mut items, stops, Intent::Peek, decision).await) {
            self.ask(&mut items, stops, Intent::Take, decision).await;
        }
        self.conclude(items, paid, decision);
    }

    /// Settles what is known to be refused; whether a binding limit is.
    fn remember(&self, items: &mut [Item<'_, '_>], paid: Paid) -> bool {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items.iter_mut() {
            item.outcome = wallet.denied(item.name, item.met.limit.cost, now);
        }
        let Some(refusing) = refusing(items) else { return false };
        if paid == Paid::Before {
            for item in items.iter().filter(|item| item.order < refusing) {
                let cost = item.met.limit.cost;
                if wallet.spend(item.name, cost, now).is_none() {
                    wallet.owe(item.name, &item.met.terms(), cost, now);
                }
            }
        }
        true
    }

    /// Settles what there are tokens for.
    fn spend(&self, items: &mut [Item<'_, '_>]) {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items.iter_mut().filter(|item| item.outcome.is_none()) {
            if let Some((held, outcome)) = wallet.spend(item.name, item.met.limit.cost, now) {
                item.held = Some(held);
                item.outcome = Some(outcome);
            }
        }
    }

    /// Waits for tokens that other requests have asked for, where that is the case.
    async fn wait(&self, items: &mut [Item<'_, '_>]) {
        let begun = (self.wall)();
        loop {
            let waits = {
                let mut wallet = self.wallet.borrow_mut();
                let now = wallet.now((self.wall)());
                let mut open = items.iter().filter(|item| item.outcome.is_none());
                open.any(|item| wallet.waits(item.name, now, self.patience.deadline))
            };
            if !waits || (self.wall)().since(begun) >= self.patience.deadline {
                return;
            }
            self.actors.pause(LOOK).await;
            self.spend(items);
        }
    }

    /// Asks the actors for what is not settled yet; whether nothing binding refused. With one question a peek is left out.
    async fn ask<'p>(
        &self,
        items: &mut [Item<'_, 'p>],
        stops: &[Stop<'p>],
        intent: Intent,
        decision: &mut Decision<'p>,
    ) -> bool {
        let asks: Vec<(&Stop<'p>, Ask)> = stops.iter().filter_map(|stop| self.question(stop, items, intent)).collect();
        if intent == Intent::Peek && asks.len() < 2 {
            return true;
        }
        let asked = self.wallet.borrow_mut().now((self.wall)());
        let answers = join_all(asks.iter().map(|(stop, ask)| self.actors.ask(&stop.seat, ask))).await;
        let heard = self.wallet.borrow_mut().now((self.wall)());
        for ((stop, ask), answer) in asks.iter().zip(answers) {
            self.hear(stop, ask, answer, Trip { asked, heard }, items, decision);
        }
        refusing(items).is_none()
    }

    /// The question to a stop's actor about the limits that are not settled yet, if there are any.
    fn question<'s, 'p>(
        &self,
        stop: &'s Stop<'p>,
        items: &[Item<'_, 'p>],
        intent: Intent,
    ) -> Option<(&'s Stop<'p>, Ask)> {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        let open = items.iter().filter(|item| item.outcome.is_none() && item.stop.seat == stop.seat);
        let demands: Vec<_> = open
            .map(|item| {
                let (wish, owed) = match intent {
                    Intent::Take => wallet.ask(item.name, &item.met.terms(), item.met.limit.cost, now),
                    Intent::Peek => (0, 0),
                };
                item.met.demand(item.met.limit.cost, wish, owed)
            })
            .collect();
        (!demands.is_empty()).then(|| (stop, stop.ask(intent, demands, &self.patience)))
    }

    /// Takes in one actor's answer, or the lack of one.
    fn hear<'p>(
        &self,
        stop: &Stop<'p>,
        ask: &Ask,
        answer: Result<Reply, Trouble>,
        trip: Trip,
        items: &mut [Item<'_, 'p>],
        decision: &mut Decision<'p>,
    ) {
        let spent = &mut decision.spent;
        spent.actors = spent.actors.saturating_add(1);
        let (reply, trouble) = match answer {
            Ok(reply) => (reply, None),
            Err(trouble) => {
                let outcomes = vec![Outcome::Unknown; ask.demands.len()];
                (Reply { outcomes, ..Reply::default() }, Some(trouble))
            }
        };
        spent.d1 = spent.d1.saturating_add(reply.d1);
        spent.rows = spent.rows.saturating_add(reply.rows);

        // Where a binding limit refused, nothing was taken from the others: they only say what they would have done.
        let took = ask.intent == Intent::Take && !refused(ask, &reply.outcomes);
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let open = items.iter_mut().filter(|item| item.outcome.is_none() && item.stop.seat == stop.seat);
        for (((item, demand), outcome), grant) in open.zip(&ask.demands).zip(reply.outcomes).zip(grants) {
            let mut wallet = self.wallet.borrow_mut();
            let met = matches!(outcome, Outcome::Met { .. });
            if ask.intent == Intent::Peek && (met || outcome == Outcome::Unknown) {
                // The take that follows says what becomes of it.
                continue;
            }
            if trouble.is_some() {
                wallet.lost(item.name, demand.owed);
            }
            wallet.receive(item.name, &demand.terms, grant, &outcome, trip);
            item.outcome = Some(outcome);
            if met && !took {
                continue;
            }
            wallet.hear(item.name, demand, &outcome, reply.horizon, trip);
            item.held = Held::taken(&demand.terms, demand.cost, &outcome, trip);
            if outcome == Outcome::Unknown {
                decision.unchecked.push(Unchecked { met: item.met, trouble: trouble.clone() });
                item.outcome = match item.met.limit.on_error {
                    OnError::Open => None,
                    OnError::Closed => Some(Outcome::Unknown),
                    OnError::Local => {
                        let begin = wallet.begin(item.name, trip.heard);
                        let outcome = self.local.borrow_mut().take(demand, stop.subject, begin, (self.wall)());
                        if matches!(outcome, Outcome::Met { .. }) {
                            wallet.owe(item.name, &demand.terms, demand.cost, trip.heard);
                        }
                        Some(outcome)
                    }
                };
            }
        }
    }

    /// Writes down what became of the limits, and puts back into the wallet what a refused request has not paid.
    fn conclude<'p>(&self, items: Vec<Item<'_, 'p>>, paid: Paid, decision: &mut Decision<'p>) {
        let kept = match (refusing(&items), paid) {
            (None, _) => usize::MAX,
            (Some(order), Paid::Before) => order,
            (Some(_), Paid::Nothing) => 0,
        };
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        for item in items {
            if let Some(held) = item.held
                && item.order >= kept
            {
                wallet.give_back(item.name, held, now);
            }
            note(&item, decision);
        }
    }
}

/// Whether a binding limit refused the whole question.
fn refused(ask: &Ask, outcomes: &[Outcome]) -> bool {
    ask.demands.iter().zip(outcomes).any(|(demand, outcome)| {
        demand.weight == Weight::Binding && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
