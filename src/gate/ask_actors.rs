//! Asks the actors for the limits that the lease cache cannot settle. Where an actor does not
//! answer, or is not asked, `on_error` decides.

use crate::gate::deadline::Deadline;
use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, Unchecked};
use crate::gate::on_error::{self, OnErrorActions};
use crate::gate::pending::{CountedAlone, PendingLimit, refusing};
use crate::gate::plan::LimitGroup;
use crate::gate::state::call_budget::BudgetStage;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::lease::Wish;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::CallPermission;
use crate::protocol::rates::{Actors, Ask, CallError, Demand, Enforcement, Intent, Outcome, Reply, Terms};
use futures_util::future::join_all;

/// A question for one group's actor.
struct GroupAsk<'g, 'p> {
    group: &'g LimitGroup<'p>,
    /// Permission to ask it, or why it is not asked.
    permission: Result<CallPermission, CallError>,
    ask: Ask,
}

impl<A: Actors> Gate<'_, A> {
    /// Asks the actors of all limits that are not settled, side by side, by `deadline`; whether no
    /// enforced limit refused. A peek that would ask a single actor is left out: the take that
    /// follows says as much.
    pub(super) async fn ask<'p>(
        &self,
        limits: &mut [PendingLimit<'_, 'p>],
        groups: &[LimitGroup<'p>],
        intent: Intent,
        deadline: Deadline,
        decision: &mut Decision<'p>,
    ) -> bool {
        let is_open = |group: &&LimitGroup<'_>| limits.iter().any(|pending| pending.is_open_at(group));
        let open: Vec<&LimitGroup<'p>> = groups.iter().filter(is_open).collect();
        if intent == Intent::Peek && open.len() < 2 {
            return true;
        }
        let asked = self.now();
        let patience = match intent {
            Intent::Take => deadline.left(asked),
            // The take that follows needs as much time.
            Intent::Peek => deadline.half(asked).left(asked),
        };
        let question = |group| self.question(group, limits, intent, asked, patience);
        let asks: Vec<GroupAsk<'_, 'p>> = open.into_iter().map(question).collect();
        let replies = join_all(asks.iter().map(async |GroupAsk { group, permission, ask }| match permission {
            Ok(permission) => self.call_with(*permission, &group.actor, ask, patience).await,
            Err(error) => Err(error.clone()),
        }))
        .await;
        let answered = self.now();
        for (GroupAsk { group, ask, .. }, reply) in asks.iter().zip(replies) {
            self.observe(group, ask, reply, RoundTrip { asked, answered }, limits, decision);
        }
        refusing(limits).is_none()
    }

    /// The question for the actor of `group` about all of its limits that are not settled.
    fn question<'g, 'p>(
        &self,
        group: &'g LimitGroup<'p>,
        limits: &[PendingLimit<'_, '_>],
        intent: Intent,
        asked: Time,
        patience: Span,
    ) -> GroupAsk<'g, 'p> {
        let permission = if self.is_left_out(group, asked) {
            Err(CallError::OverBudget(Span::ZERO))
        } else {
            let permission = self.permission(&group.actor, patience);
            permission.ok_or_else(|| self.state.call_budget.borrow().call_error(asked))
        };
        let takes = permission.is_ok() && intent == Intent::Take;
        let open = limits.iter().filter(|pending| pending.is_open_at(group));
        let demands = open.map(|pending| {
            let (cost, terms) = (pending.limit.cost, Terms::of(pending.limit));
            if !takes {
                return Demand::of(pending.limit, cost, Wish::default(), 0);
            }
            let patience = self.timing.deadline;
            let mut lease_cache = self.state.lease_cache.borrow_mut();
            let (wish, unreported) = lease_cache.wish_for(pending.key, &terms, cost, asked, patience);
            let demand = Demand::of(pending.limit, cost, wish, unreported);
            Demand { part: lease_cache.part_question(pending.key, &demand, asked, patience), ..demand }
        });
        let stage = self.state.call_budget.borrow().stage(asked);
        let ask = group.question(intent, demands.collect(), self.timing.durable_after, patience, stage);
        GroupAsk { group, permission, ask }
    }

    /// Whether calls are so scarce that this one is not made. While the day's budget nears its end,
    /// most questions of slow callers are left out, where `on_error` lets them pass unchecked.
    fn is_left_out(&self, group: &LimitGroup<'_>, now: Time) -> bool {
        let may_pass = || group.limits.iter().all(|limit| on_error::may_pass(limit.on_error));
        let sampling = self.state.call_budget.borrow().stage(now) == BudgetStage::Sampling;
        sampling && may_pass() && !self.state.actor_health.borrow_mut().sample()
    }

    /// Records one actor's reply, or that there is none.
    fn observe<'p>(
        &self,
        group: &LimitGroup<'p>,
        ask: &Ask,
        reply: Result<Reply, CallError>,
        round_trip: RoundTrip,
        limits: &mut [PendingLimit<'_, 'p>],
        decision: &mut Decision<'p>,
    ) {
        let spent = &mut decision.spent;
        spent.calls = spent.calls.saturating_add(u32::from(!reply.as_ref().is_err_and(CallError::is_unasked)));
        let (reply, error) = match reply {
            Ok(reply) => (reply, None),
            Err(error) => {
                let outcomes = vec![Outcome::Unknown; ask.demands.len()];
                (Reply { outcomes, ..Reply::default() }, Some(error))
            }
        };
        spent.d1 = spent.d1.saturating_add(reply.d1);
        spent.rows = spent.rows.saturating_add(reply.rows);

        // Where an enforced limit refused, nothing was taken from the others: they only say what
        // they would have done.
        let took = ask.intent == Intent::Take && !refused(ask, &reply.outcomes);
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let parts = reply.parts.into_iter().chain(core::iter::repeat(None));
        let open = limits.iter_mut().filter(|pending| pending.is_open_at(group));
        let answers = open.zip(&ask.demands).zip(reply.outcomes).zip(grants).zip(parts);
        for ((((pending, demand), outcome), grant), part) in answers {
            let passed = matches!(outcome, Outcome::Met { .. });
            if ask.intent == Intent::Peek && (passed || outcome == Outcome::Unknown) {
                // The take that follows settles it.
                continue;
            }
            let mut lease_cache = self.state.lease_cache.borrow_mut();
            match &error {
                None => {
                    lease_cache.accept_grant(pending.key, &demand.terms, grant, &outcome, round_trip);
                    lease_cache.accept_part(pending.key, demand, part, round_trip);
                }
                // No call was made; one of another request may still be answered.
                Some(error) if error.is_unasked() => {}
                Some(_) => lease_cache.note_lost(pending.key, demand.unreported),
            }
            pending.outcome = Some(outcome);
            if passed && !took {
                continue;
            }
            let outcome = lease_cache.observe(pending.key, demand, &outcome, reply.horizon, round_trip);
            drop(lease_cache);
            pending.outcome = Some(outcome);
            pending.held = Tokens::taken(&demand.terms, demand.cost, &outcome, round_trip);
            if outcome == Outcome::Unknown {
                decision.unchecked.push(Unchecked { limit: pending.limit, error: error.clone() });
                self.decide_unchecked(pending, demand, round_trip.answered);
            } else if self.state.actor_health.borrow_mut().mark_checked(pending.limit.number, &group.actor) {
                decision.restored.push(pending.limit);
            }
        }
    }

    /// Has `on_error` decide about a limit that could not be checked.
    fn decide_unchecked(&self, pending: &mut PendingLimit<'_, '_>, demand: &Demand, now: Time) {
        let (limit, group) = (pending.limit, pending.group);
        self.state.actor_health.borrow_mut().mark_unchecked(limit.number, &group.actor);
        let actions = OnErrorActions {
            open: || None,
            closed: || Some(Outcome::Unknown),
            local: || {
                let wall = (self.wall)();
                let mut lease_cache = self.state.lease_cache.borrow_mut();
                let starting_point = lease_cache.starting_point(pending.key, now);
                let outcome = self.state.local_limiter.borrow_mut().take(demand, group.subject, starting_point, wall);
                if matches!(outcome, Outcome::Met { .. }) {
                    let owed = lease_cache.pass_alone(pending.key, &demand.terms, demand.cost, now);
                    pending.counted_alone = Some(CountedAlone { demand: demand.clone(), wall, at: now, owed });
                }
                Some(outcome)
            },
        };
        pending.outcome = actions.run(limit.on_error);
    }
}

/// Whether an enforced limit refused the whole question.
fn refused(ask: &Ask, outcomes: &[Outcome]) -> bool {
    ask.demands.iter().zip(outcomes).any(|(demand, outcome)| {
        demand.enforcement == Enforcement::Enforced && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
