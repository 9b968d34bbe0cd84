//! What the wallet cannot settle: asking the actors for it, and `on_error` where they do not answer.

use crate::gate::background::ActorCalls;
use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, Unchecked};
use crate::gate::on_error::OnErrorActions;
use crate::gate::pending::{PendingLimit, refusing};
use crate::gate::plan::LimitGroup;
use crate::gate::state::call_budget::BudgetStage;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::time::{Span, Time};
use crate::policy::OnError;
use crate::protocol::circuit_breaker::CallPermission;
use crate::protocol::rates::{Actors, Ask, CallError, Enforcement, Intent, Outcome, Reply};
use futures_util::future::join_all;

impl<A: Actors> Gate<'_, A> {
    /// Asks the actors by `due` for what is not settled yet; whether nothing binding refused. With one question a look is left out.
    pub(super) async fn ask<'p>(
        &self,
        limits: &mut [PendingLimit<'_, 'p>],
        groups: &[LimitGroup<'p>],
        intent: Intent,
        due: Time,
        decision: &mut Decision<'p>,
    ) -> bool {
        let is_open = |pending: &PendingLimit<'_, '_>, group: &LimitGroup<'_>| {
            pending.outcome.is_none() && pending.group.actor == group.actor
        };
        let open: Vec<&LimitGroup<'p>> =
            groups.iter().filter(|group| limits.iter().any(|pending| is_open(pending, group))).collect();
        if intent == Intent::Peek && open.len() < 2 {
            return true;
        }
        let asked = self.now();
        let left = due.since(asked);
        // A look leaves as much time to what follows it.
        let patience = if intent == Intent::Peek { left.half() } else { left };
        let actor_calls = self.actor_calls();
        let stage = self.actor_health.borrow().budget.stage(asked);
        let asks: Vec<(&LimitGroup<'p>, Result<CallPermission, CallError>, Ask)> = open
            .into_iter()
            .map(|group| {
                let pass = if self.is_left_out(group, asked) {
                    Err(CallError::OverBudget(Span::ZERO))
                } else {
                    let pass = actor_calls.admit(&group.actor, patience);
                    pass.ok_or_else(|| self.actor_health.borrow().budget.call_error(asked))
                };
                let told = pass.is_ok() && intent == Intent::Take;
                let demands = limits.iter().filter(|pending| is_open(pending, group)).map(|pending| {
                    let (cost, terms) = (pending.planned.limit.cost, pending.planned.terms());
                    let ask = || {
                        self.lease_cache.borrow_mut().wish_for(
                            pending.name,
                            &terms,
                            cost,
                            asked,
                            self.patience.deadline,
                        )
                    };
                    let (wish, owed) = if told { ask() } else { Default::default() };
                    pending.planned.demand(cost, wish, owed)
                });
                (group, pass, group.ask(intent, demands.collect(), self.patience.durable_after, patience, stage))
            })
            .collect();
        let calls = asks.iter().map(async |(group, pass, ask)| match pass {
            Ok(pass) => actor_calls.call_with(*pass, &group.actor, ask, patience).await,
            Err(error) => Err(error.clone()),
        });
        let answers = join_all(calls).await;
        let heard = self.now();
        for ((group, _, ask), answer) in asks.iter().zip(answers) {
            self.observe(group, ask, answer, RoundTrip { asked, heard }, limits, decision);
        }
        refusing(limits).is_none()
    }

    /// Whether calls are so scarce that this one is not made: most of those for slow callers, where their limits let them pass without.
    fn is_left_out(&self, group: &LimitGroup<'_>, now: Time) -> bool {
        let mut actor_health = self.actor_health.borrow_mut();
        let passes = || group.limits.iter().all(|met| met.limit.on_error != OnError::Closed);
        actor_health.budget.stage(now) == BudgetStage::Sampling && passes() && !actor_health.sample()
    }

    fn actor_calls(&self) -> ActorCalls<'_, A> {
        let Gate { actors, lease_cache, actor_health, patience, wall, .. } = *self;
        ActorCalls { actors, lease_cache, actor_health, patience, wall }
    }

    /// Takes in one actor's answer, or the lack of one.
    fn observe<'p>(
        &self,
        group: &LimitGroup<'p>,
        ask: &Ask,
        answer: Result<Reply, CallError>,
        round_trip: RoundTrip,
        limits: &mut [PendingLimit<'_, 'p>],
        decision: &mut Decision<'p>,
    ) {
        let spent = &mut decision.spent;
        spent.actors = spent.actors.saturating_add(u32::from(!answer.as_ref().is_err_and(CallError::is_unasked)));
        let (reply, error) = match answer {
            Ok(reply) => (reply, None),
            Err(error) => {
                let outcomes = vec![Outcome::Unknown; ask.demands.len()];
                (Reply { outcomes, ..Reply::default() }, Some(error))
            }
        };
        spent.d1 = spent.d1.saturating_add(reply.d1);
        spent.rows = spent.rows.saturating_add(reply.rows);

        // Where a binding limit refused, nothing was taken from the others: they only say what they would have done.
        let took = ask.intent == Intent::Take && !refused(ask, &reply.outcomes);
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let open = limits.iter_mut().filter(|pending| pending.outcome.is_none() && pending.group.actor == group.actor);
        for (((pending, demand), outcome), grant) in open.zip(&ask.demands).zip(reply.outcomes).zip(grants) {
            let mut lease_cache = self.lease_cache.borrow_mut();
            let met = matches!(outcome, Outcome::Met { .. });
            if ask.intent == Intent::Peek && (met || outcome == Outcome::Unknown) {
                // The take that follows says what becomes of it.
                continue;
            }
            match &error {
                None => lease_cache.accept_grant(pending.name, &demand.terms, grant, &outcome, round_trip),
                // Whoever has asked for more meanwhile may still be answered.
                Some(error) if error.is_unasked() => {}
                Some(_) => lease_cache.note_lost(pending.name, demand.unreported),
            }
            pending.outcome = Some(outcome);
            if met && !took {
                continue;
            }
            let outcome = lease_cache.observe(pending.name, demand, &outcome, reply.horizon, round_trip);
            pending.outcome = Some(outcome);
            pending.held = Tokens::taken(&demand.terms, demand.cost, &outcome, round_trip);
            let number = pending.planned.limit.number;
            if outcome == Outcome::Unknown {
                self.actor_health.borrow_mut().mark_unchecked(number, &group.actor);
                decision.unchecked.push(Unchecked { planned: pending.planned, error: error.clone() });
                let records = OnErrorActions {
                    open: || None,
                    closed: || Some(Outcome::Unknown),
                    local: || {
                        let begin = lease_cache.starting_point(pending.name, round_trip.heard);
                        let outcome = self.local.borrow_mut().take(demand, group.subject, begin, (self.wall)());
                        pending.alone = matches!(outcome, Outcome::Met { .. }).then(|| demand.clone());
                        Some(outcome)
                    },
                };
                pending.outcome = records.go(pending.planned.limit.on_error);
            } else if self.actor_health.borrow_mut().mark_checked(number, &group.actor) {
                decision.restored.push(pending.planned);
            }
        }
    }
}

/// Whether a binding limit refused the whole question.
fn refused(ask: &Ask, outcomes: &[Outcome]) -> bool {
    ask.demands.iter().zip(outcomes).any(|(demand, outcome)| {
        demand.enforcement == Enforcement::Enforced && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
