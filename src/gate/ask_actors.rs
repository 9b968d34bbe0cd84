//! What the wallet cannot settle: asking the actors for it, and `on_error` where they do not answer.

use crate::gate::background::ActorCalls;
use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, Unchecked};
use crate::gate::on_error::OnErrorActions;
use crate::gate::pending::{PendingLimit, refusing};
use crate::gate::plan::LimitGroup;
use crate::gate::state::actor_health::CallPermission;
use crate::gate::state::call_budget::BudgetStage;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::time::{Span, Time};
use crate::policy::OnError;
use crate::protocol::rates::{Actors, Ask, CallError, Enforcement, Intent, Outcome, Reply};
use futures_util::future::join_all;

impl<A: Actors> Gate<'_, A> {
    /// Asks the actors by `due` for what is not settled yet; whether nothing binding refused. With one question a look is left out.
    pub(super) async fn ask<'p>(
        &self,
        items: &mut [PendingLimit<'_, 'p>],
        stops: &[LimitGroup<'p>],
        intent: Intent,
        due: Time,
        decision: &mut Decision<'p>,
    ) -> bool {
        let is_open =
            |item: &PendingLimit<'_, '_>, stop: &LimitGroup<'_>| item.outcome.is_none() && item.stop.seat == stop.seat;
        let open: Vec<&LimitGroup<'p>> =
            stops.iter().filter(|stop| items.iter().any(|item| is_open(item, stop))).collect();
        if intent == Intent::Peek && open.len() < 2 {
            return true;
        }
        let asked = self.now();
        let left = due.since(asked);
        // A look leaves as much time to what follows it.
        let patience = if intent == Intent::Peek { left.half() } else { left };
        let runner = self.runner();
        let stage = self.circuits.borrow().budget.stage(asked);
        let asks: Vec<(&LimitGroup<'p>, Result<CallPermission, CallError>, Ask)> = open
            .into_iter()
            .map(|stop| {
                let pass = if self.is_left_out(stop, asked) {
                    Err(CallError::OverBudget(Span::ZERO))
                } else {
                    let pass = runner.admit(&stop.seat, patience);
                    pass.ok_or_else(|| self.circuits.borrow().budget.trouble(asked))
                };
                let told = pass.is_ok() && intent == Intent::Take;
                let demands = items.iter().filter(|item| is_open(item, stop)).map(|item| {
                    let (cost, terms) = (item.met.limit.cost, item.met.terms());
                    let ask = || self.wallet.borrow_mut().ask(item.name, &terms, cost, asked, self.patience.deadline);
                    let (wish, owed) = if told { ask() } else { Default::default() };
                    item.met.demand(cost, wish, owed)
                });
                (stop, pass, stop.ask(intent, demands.collect(), self.patience.durable_after, patience, stage))
            })
            .collect();
        let calls = asks.iter().map(async |(stop, pass, ask)| match pass {
            Ok(pass) => runner.call_with(*pass, &stop.seat, ask, patience).await,
            Err(trouble) => Err(trouble.clone()),
        });
        let answers = join_all(calls).await;
        let heard = self.now();
        for ((stop, _, ask), answer) in asks.iter().zip(answers) {
            self.hear(stop, ask, answer, RoundTrip { asked, heard }, items, decision);
        }
        refusing(items).is_none()
    }

    /// Whether calls are so scarce that this one is not made: most of those for slow callers, where their limits let them pass without.
    fn is_left_out(&self, stop: &LimitGroup<'_>, now: Time) -> bool {
        let mut circuits = self.circuits.borrow_mut();
        let passes = || stop.limits.iter().all(|met| met.limit.on_error != OnError::Closed);
        circuits.budget.stage(now) == BudgetStage::Sampling && passes() && !circuits.sample()
    }

    fn runner(&self) -> ActorCalls<'_, A> {
        let Gate { actors, wallet, circuits, patience, wall, .. } = *self;
        ActorCalls { actors, wallet, circuits, patience, wall }
    }

    /// Takes in one actor's answer, or the lack of one.
    fn hear<'p>(
        &self,
        stop: &LimitGroup<'p>,
        ask: &Ask,
        answer: Result<Reply, CallError>,
        trip: RoundTrip,
        items: &mut [PendingLimit<'_, 'p>],
        decision: &mut Decision<'p>,
    ) {
        let spent = &mut decision.spent;
        spent.actors = spent.actors.saturating_add(u32::from(!answer.as_ref().is_err_and(CallError::is_unasked)));
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
            match &trouble {
                None => wallet.receive(item.name, &demand.terms, grant, &outcome, trip),
                // Whoever has asked for more meanwhile may still be answered.
                Some(trouble) if trouble.is_unasked() => {}
                Some(_) => wallet.lost(item.name, demand.owed),
            }
            item.outcome = Some(outcome);
            if met && !took {
                continue;
            }
            let outcome = wallet.hear(item.name, demand, &outcome, reply.horizon, trip);
            item.outcome = Some(outcome);
            item.held = Tokens::taken(&demand.terms, demand.cost, &outcome, trip);
            let number = item.met.limit.number;
            if outcome == Outcome::Unknown {
                self.circuits.borrow_mut().step_down(number, &stop.seat);
                decision.unchecked.push(Unchecked { met: item.met, trouble: trouble.clone() });
                let records = OnErrorActions {
                    open: || None,
                    closed: || Some(Outcome::Unknown),
                    local: || {
                        let begin = wallet.begin(item.name, trip.heard);
                        let outcome = self.local.borrow_mut().take(demand, stop.subject, begin, (self.wall)());
                        item.alone = matches!(outcome, Outcome::Met { .. }).then(|| demand.clone());
                        Some(outcome)
                    },
                };
                item.outcome = records.go(item.met.limit.on_error);
            } else if self.circuits.borrow_mut().step_up(number, &stop.seat) {
                decision.restored.push(item.met);
            }
        }
    }
}

/// Whether a binding limit refused the whole question.
fn refused(ask: &Ask, outcomes: &[Outcome]) -> bool {
    ask.demands.iter().zip(outcomes).any(|(demand, outcome)| {
        demand.weight == Enforcement::Enforced && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
