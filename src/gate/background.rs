//! Off the request's path: asking for more before what is in hand is gone, and giving back what nobody uses.

use crate::gate::decide::Gate;
use crate::gate::plan::{Plan, PlannedLimit, Timing};
use crate::gate::state::actor_health::ActorHealth;
use crate::gate::state::call_budget::{self, BudgetStage};
use crate::gate::state::lease_cache::{IDLE, LeaseCache, LimitKey};
use crate::gate::state::tokens::RoundTrip;
use crate::limit::lease::{StockLevel, Wish};
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult};
use crate::protocol::rates::{ActorKey, Actors, Ask, CallError, Demand, Enforcement, Intent, Outcome, Reply};
use crate::protocol::validate::believe;
use std::cell::RefCell;

/// How often a holder of quota tokens looks whether they lie idle, before it leaves them to the next request.
const LOOKS: u32 = 20;

/// Nobody waits for what is asked for here, so a late answer is taken in as well: its slots may still be good.
const PATIENT: Span = Span::from_secs(2);

/// A question to ask when the request has been answered. It borrows nothing from the request.
#[derive(Debug)]
pub struct BackgroundTask {
    actor: ActorKey<'static>,
    ask: Ask,
    names: Vec<LimitKey>,
}

impl<A: Actors> Gate<'_, A> {
    /// What to ask for after a request that passed: more of what runs low, and in the same question of what will soon.
    pub fn refill_tasks(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let patience = self.patience.deadline;
        let low = |lease_cache: &LeaseCache, name, now| lease_cache.stock_level(name, now, patience) == StockLevel::Low;
        self.tasks(plan, low, |lease_cache, name, met, now| {
            let wants = lease_cache.stock_level(name, now, patience) != StockLevel::Enough;
            wants.then(|| lease_cache.wish_for(name, &met.terms(), met.limit.cost, now, patience))
        })
    }

    /// What to look after when a request has passed: quota tokens in hand that nobody looks after yet.
    pub fn idle_quota_tasks(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let held = |lease_cache: &LeaseCache, name, now| lease_cache.holds_quota(name, now);
        self.tasks(plan, held, |lease_cache, name, met, now| {
            let quota = matches!(met.limit.allowance, Allowance::Quota(_));
            (quota && lease_cache.claim_return(name, now)).then(Default::default)
        })
    }

    /// One for each stop where something is `due`, with all that it `wants` there.
    fn tasks(
        &self,
        plan: &Plan<'_>,
        due: impl Fn(&LeaseCache, LimitKey, Time) -> bool,
        wants: impl Fn(&mut LeaseCache, LimitKey, &PlannedLimit<'_>, Time) -> Option<(Wish, u64)>,
    ) -> Vec<BackgroundTask> {
        let mut lease_cache = self.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        let groups = plan.caller.iter().chain(&plan.shared);
        let stage = self.actor_health.borrow().budget.stage(now);
        groups
            .filter_map(|group| {
                let name = |met: &PlannedLimit<'_>| (met.limit.number, group.subject);
                if !group.limits.iter().any(|met| due(&lease_cache, name(met), now)) {
                    return None;
                }
                let wanted = group.limits.iter().filter_map(|met| {
                    let name = name(met);
                    let (wish, owed) = wants(&mut lease_cache, name, met, now)?;
                    // Nothing is asked for a request here, so no limit's refusal may stand in another's way.
                    Some((name, Demand { enforcement: Enforcement::Shadow, ..met.demand(0, wish, owed) }))
                });
                let (names, demands): (Vec<LimitKey>, Vec<Demand>) = wanted.unzip();
                let Timing { durable_after, .. } = self.patience;
                let ask = group.ask(Intent::Take, demands, durable_after, self.patience.patient(), stage);
                (!names.is_empty()).then(|| BackgroundTask { actor: group.actor.clone().into_owned(), ask, names })
            })
            .collect()
    }
}

/// Runs errands for one isolate.
#[derive(Debug)]
pub struct ActorCalls<'r, A> {
    /// Those who hold the state.
    pub actors: &'r A,
    /// What the isolate holds.
    pub lease_cache: &'r RefCell<LeaseCache>,
    /// Which actors are left alone.
    pub actor_health: &'r RefCell<ActorHealth>,
    /// The settings that travel with every question.
    pub patience: Timing,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<A: Actors> ActorCalls<'_, A> {
    /// Asks the actor at `actor`, unless it is left alone or there is no time.
    pub(super) async fn call(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        match self.admit(actor, patience) {
            Some(pass) => self.call_with(pass, actor, ask, patience).await,
            None => Err(CallError::NotAsked),
        }
    }

    /// The same, having found out that it may be asked.
    pub(super) async fn call_with(
        &self,
        pass: CallPermission,
        actor: &ActorKey<'_>,
        ask: &Ask,
        patience: Span,
    ) -> Result<Reply, CallError> {
        let asked = self.now();
        self.actor_health.borrow_mut().budget.spend(1);
        let answer = self.actors.ask(actor, ask, patience).await;
        let answer = answer.and_then(|reply| believe(ask, reply, (self.wall)()));
        if let Ok(reply) = &answer {
            self.actor_health.borrow_mut().budget.spend_more(reply.rows, reply.d1);
        }
        let heard = match &answer {
            // At the end of a decision's time an answer may be late without anyone's fault; and so it may for whoever has spent half of it on
            // waiting for others' answers, when those have come.
            Err(CallError::Late)
                if self.is_short(patience)
                    || patience.times(2) <= self.patience.deadline
                        && self.actor_health.borrow().has_answered_since(actor, asked) =>
            {
                CallResult::Nothing
            }
            answer => CallResult::of(answer),
        };
        let now = self.now();
        self.actor_health.borrow_mut().record(actor, pass, heard, asked, now);
        answer
    }

    /// Whether the actor at `actor` may be asked.
    pub(super) fn admit(&self, actor: &ActorKey<'_>, patience: Span) -> Option<CallPermission> {
        let now = self.now();
        let mut actor_health = self.actor_health.borrow_mut();
        // What is asked of someone who was in trouble needs its time; and whoever has waited for others' answers, and has too little left
        // by what the last one took, would only make them wait longer.
        let waited = patience.times(4) < self.patience.deadline.times(3);
        let in_vain = self.is_short(patience) && actor_health.is_open(actor)
            || waited && actor_health.answers_slower_than(actor, now, patience);
        if patience == Span::ZERO || in_vain || actor_health.budget.stage(now) == BudgetStage::Alone {
            return None;
        }
        actor_health.admit(actor, now, patience)
    }

    fn is_short(&self, patience: Span) -> bool {
        patience.times(4) < self.patience.deadline
    }

    /// Asks for more, and takes in what comes.
    pub async fn refill(&self, task: BackgroundTask) {
        let asked = self.now();
        let answer = self.call(&task.actor, &task.ask, self.patience.patient()).await;
        let round_trip = RoundTrip { asked, heard: self.now() };
        let mut lease_cache = self.lease_cache.borrow_mut();
        let Ok(reply) = answer else {
            let told = task.names.iter().zip(&task.ask.demands);
            told.for_each(|(name, demand)| lease_cache.note_lost(*name, demand.unreported));
            return;
        };
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let asked = task.names.iter().zip(&task.ask.demands);
        for (((name, demand), outcome), grant) in asked.zip(&reply.outcomes).zip(grants) {
            lease_cache.accept_grant(*name, &demand.terms, grant, outcome, round_trip);
            if matches!(outcome, Outcome::Met { .. }) {
                lease_cache.observe(*name, demand, outcome, reply.horizon, round_trip);
            }
        }
    }

    /// Waits until quota tokens lie idle, and gives them back: once, whatever becomes of it.
    pub async fn return_idle_quota(&self, mut task: BackgroundTask) {
        for _ in 0..LOOKS {
            self.actors.sleep(IDLE).await;
            let now = self.now();
            // What is taken out is given back once, so not where it would not be asked.
            if self.actor_health.borrow().is_silent(&task.actor, now) {
                continue;
            }
            let mut idle = false;
            for (name, demand) in task.names.iter().zip(&mut task.ask.demands) {
                demand.unused = self.lease_cache.borrow_mut().take_idle_quota(*name, now);
                idle |= demand.unused.is_some();
            }
            if idle {
                let _ = self.call(&task.actor, &task.ask, self.patience.patient()).await;
            }
            if !task.names.iter().any(|name| self.lease_cache.borrow().holds_quota(*name, now)) {
                break;
            }
        }
        let mut lease_cache = self.lease_cache.borrow_mut();
        task.names.iter().for_each(|name| lease_cache.release_return(*name));
    }

    /// Prepays calls, where it is time to.
    pub async fn prepay(&self) {
        let now = self.now();
        let ask = {
            let budget = &mut self.actor_health.borrow_mut().budget;
            if !budget.is_due(now) {
                return;
            }
            budget.question(now)
        };
        let answer = self.actors.ask(&ActorKey::Shared(call_budget::NAME.into()), &ask, PATIENT).await;
        let (answer, now) = (answer.and_then(|reply| believe(&ask, reply, (self.wall)())), self.now());
        let cost = ask.demands.iter().map(|demand| demand.cost).sum();
        let outcome = answer.as_ref().ok().and_then(|reply| reply.outcomes.first());
        let budget = &mut self.actor_health.borrow_mut().budget;
        budget.record(cost, outcome, now);
        if let Ok(reply) = &answer {
            budget.spend_more(reply.rows, reply.d1);
        }
    }

    fn now(&self) -> Time {
        self.lease_cache.borrow_mut().now((self.wall)())
    }
}

impl Timing {
    /// How long what is asked for off the request's path is waited for.
    fn patient(&self) -> Span {
        self.deadline.max(PATIENT)
    }
}
