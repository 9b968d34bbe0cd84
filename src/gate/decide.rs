//! Meets a plan's limits one after the other and stops at the first refusal.
//!
//! A caller's limits come first, so that whoever they refuse has taken nothing of what others share. Where several
//! shared limits lie ahead, all are looked at before one is taken from: a request refused by the second must not drain
//! the first.

use super::local::Local;
use super::plan::{Met, Patience, Plan, Stop};
use super::ports::{Actors, Ask, Intent, Outcome, Reply, Trouble};
use super::verdict::{Decision, Reason, Refusal, Standing, Unchecked};
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Mode, OnError, Scope};
use futures_util::future::join_all;
use std::cell::RefCell;

/// How long a caller is asked to wait when a limit cannot be checked.
const TRY_AGAIN: Span = Span::from_secs(1);

/// What a decision needs besides its plan.
#[derive(Debug)]
pub struct Gate<'g, A> {
    /// Those who hold the state.
    pub actors: &'g A,
    /// What the isolate counts when it is on its own.
    pub local: &'g RefCell<Local>,
    /// The settings that travel with every question.
    pub patience: Patience,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<A: Actors> Gate<'_, A> {
    /// Decides about one request.
    pub async fn decide<'p>(&self, plan: &Plan<'p>) -> Decision<'p> {
        let mut decision = Decision::default();
        decision.spent.limits = u32::try_from(plan.limits().count()).unwrap_or(u32::MAX);

        for stop in &plan.caller {
            self.visit(stop, Intent::Take, &mut decision).await;
            if decision.refusal.is_some() {
                return decision;
            }
        }
        if plan.shared.len() > 1 {
            self.visit_all(&plan.shared, Intent::Peek, &mut decision).await;
            if decision.refusal.is_some() {
                return decision;
            }
        }
        self.visit_all(&plan.shared, Intent::Take, &mut decision).await;
        decision
    }

    async fn visit<'p>(&self, stop: &Stop<'p>, intent: Intent, decision: &mut Decision<'p>) {
        let ask = stop.ask(intent, &self.patience);
        let answer = self.actors.ask(stop.seat.clone(), &ask).await;
        self.hear(stop, &ask, answer, decision);
    }

    async fn visit_all<'p>(&self, stops: &[Stop<'p>], intent: Intent, decision: &mut Decision<'p>) {
        let asks: Vec<Ask> = stops.iter().map(|stop| stop.ask(intent, &self.patience)).collect();
        let calls = stops.iter().zip(&asks).map(|(stop, ask)| self.actors.ask(stop.seat.clone(), ask));
        for ((stop, ask), answer) in stops.iter().zip(&asks).zip(join_all(calls).await) {
            self.hear(stop, ask, answer, decision);
        }
    }

    /// Takes in one actor's answer, or the lack of one.
    fn hear<'p>(&self, stop: &Stop<'p>, ask: &Ask, answer: Result<Reply, Trouble>, decision: &mut Decision<'p>) {
        decision.spent.actors = decision.spent.actors.saturating_add(1);
        let (outcomes, trouble) = match answer {
            Ok(reply) => {
                decision.spent.d1 = decision.spent.d1.saturating_add(reply.d1);
                decision.spent.rows = decision.spent.rows.saturating_add(reply.rows);
                (reply.outcomes, None)
            }
            Err(trouble) => (vec![Outcome::Unknown; ask.demands.len()], Some(trouble)),
        };
        for ((met, demand), outcome) in stop.limits.iter().zip(&ask.demands).zip(outcomes) {
            let outcome = match (outcome, ask.intent) {
                // The take that follows will meet the same trouble, and be dealt with once.
                (Outcome::Unknown, Intent::Peek) => continue,
                (Outcome::Unknown, Intent::Take) => {
                    decision.unchecked.push(Unchecked { met: *met, trouble: trouble.clone() });
                    match met.limit.on_error {
                        OnError::Open => continue,
                        OnError::Closed => Outcome::Unknown,
                        OnError::Local => self.local.borrow_mut().take(demand, stop.subject, (self.wall)()),
                    }
                }
                (outcome, _) => outcome,
            };
            self.conclude(*met, stop, ask.intent, outcome, decision);
        }
    }

    fn conclude<'p>(
        &self,
        met: Met<'p>,
        stop: &Stop<'p>,
        intent: Intent,
        outcome: Outcome,
        decision: &mut Decision<'p>,
    ) {
        let refusal = |reason, wait, until: Option<u64>, left| Refusal {
            met,
            reason,
            wait,
            until: until.map(|secs| Time::from_millis(secs.saturating_mul(1_000))),
            left,
            subject: stop.subject,
        };
        let refusal = match outcome {
            Outcome::Met { left, more } => {
                // What others share is told to nobody who passes: it would tell of others.
                if met.limit.scope != Scope::Global && met.limit.mode == Mode::Enforce && intent == Intent::Take {
                    decision.stand(Standing { met, left, more });
                }
                return;
            }
            Outcome::Refused { left, wait, until } => refusal(reason(met), wait, until, left),
            Outcome::Full { wait } => refusal(Reason::OverCapacity, wait, None, 0),
            Outcome::Unknown => refusal(Reason::LimiterUnavailable, TRY_AGAIN, None, 0),
        };
        match met.limit.mode {
            Mode::Enforce => decision.refuse(refusal),
            Mode::Shadow if intent == Intent::Take => decision.shadows.push(refusal),
            Mode::Shadow => {}
        }
    }
}

fn reason(met: Met<'_>) -> Reason {
    match (&met.limit.allowance, met.limit.scope) {
        (Allowance::Quota(_), _) => Reason::QuotaExhausted,
        (Allowance::Rate(_), Scope::Global) => Reason::OverCapacity,
        (Allowance::Rate(_), Scope::Ip | Scope::Key) => Reason::RateLimited,
    }
}
