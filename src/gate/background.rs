//! Off the request's path: asking for more before what is in hand is gone, and giving back what nobody uses.

use crate::gate::decide::Gate;
use crate::gate::plan::{Plan, PlannedLimit, Timing};
use crate::gate::state::actor_health::{ActorHealth, CallPermission, CallResult};
use crate::gate::state::call_budget::{self, BudgetStage};
use crate::gate::state::lease_cache::{IDLE, LeaseCache, LimitKey};
use crate::gate::state::tokens::RoundTrip;
use crate::limit::lease::{StockLevel, Wish};
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
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
    seat: ActorKey<'static>,
    ask: Ask,
    names: Vec<LimitKey>,
}

impl<A: Actors> Gate<'_, A> {
    /// What to ask for after a request that passed: more of what runs low, and in the same question of what will soon.
    pub fn refills(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let patience = self.patience.deadline;
        let low = |wallet: &LeaseCache, name, now| wallet.level(name, now, patience) == StockLevel::Low;
        self.errands(plan, low, |wallet, name, met, now| {
            let wants = wallet.level(name, now, patience) != StockLevel::Enough;
            wants.then(|| wallet.ask(name, &met.terms(), met.limit.cost, now, patience))
        })
    }

    /// What to look after when a request has passed: quota tokens in hand that nobody looks after yet.
    pub fn tendings(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let held = |wallet: &LeaseCache, name, now| wallet.holds_quota(name, now);
        self.errands(plan, held, |wallet, name, met, now| {
            let quota = matches!(met.limit.allowance, Allowance::Quota(_));
            (quota && wallet.tend(name, now)).then(Default::default)
        })
    }

    /// One for each stop where something is `due`, with all that it `wants` there.
    fn errands(
        &self,
        plan: &Plan<'_>,
        due: impl Fn(&LeaseCache, LimitKey, Time) -> bool,
        wants: impl Fn(&mut LeaseCache, LimitKey, &PlannedLimit<'_>, Time) -> Option<(Wish, u64)>,
    ) -> Vec<BackgroundTask> {
        let mut wallet = self.wallet.borrow_mut();
        let now = wallet.now((self.wall)());
        let stops = plan.caller.iter().chain(&plan.shared);
        let stage = self.circuits.borrow().budget.stage(now);
        stops
            .filter_map(|stop| {
                let name = |met: &PlannedLimit<'_>| (met.limit.number, stop.subject);
                if !stop.limits.iter().any(|met| due(&wallet, name(met), now)) {
                    return None;
                }
                let wanted = stop.limits.iter().filter_map(|met| {
                    let name = name(met);
                    let (wish, owed) = wants(&mut wallet, name, met, now)?;
                    // Nothing is asked for a request here, so no limit's refusal may stand in another's way.
                    Some((name, Demand { weight: Enforcement::Shadow, ..met.demand(0, wish, owed) }))
                });
                let (names, demands): (Vec<LimitKey>, Vec<Demand>) = wanted.unzip();
                let Timing { durable_after, .. } = self.patience;
                let ask = stop.ask(Intent::Take, demands, durable_after, self.patience.patient(), stage);
                (!names.is_empty()).then(|| BackgroundTask { seat: stop.seat.clone().into_owned(), ask, names })
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
    pub wallet: &'r RefCell<LeaseCache>,
    /// Which actors are left alone.
    pub circuits: &'r RefCell<ActorHealth>,
    /// The settings that travel with every question.
    pub patience: Timing,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<A: Actors> ActorCalls<'_, A> {
    /// Asks the actor at `seat`, unless it is left alone or there is no time.
    pub(super) async fn call(&self, seat: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        match self.admit(seat, patience) {
            Some(pass) => self.call_with(pass, seat, ask, patience).await,
            None => Err(CallError::NotAsked),
        }
    }

    /// The same, having found out that it may be asked.
    pub(super) async fn call_with(
        &self,
        pass: CallPermission,
        seat: &ActorKey<'_>,
        ask: &Ask,
        patience: Span,
    ) -> Result<Reply, CallError> {
        let asked = self.now();
        self.circuits.borrow_mut().budget.spend(1);
        let answer = self.actors.ask(seat, ask, patience).await;
        let answer = answer.and_then(|reply| believe(ask, reply, (self.wall)()));
        if let Ok(reply) = &answer {
            self.circuits.borrow_mut().budget.spend_more(reply.rows, reply.d1);
        }
        let heard = match &answer {
            // At the end of a decision's time an answer may be late without anyone's fault; and so it may for whoever has spent half of it on
            // waiting for others' answers, when those have come.
            Err(CallError::Late)
                if self.is_short(patience)
                    || patience.times(2) <= self.patience.deadline
                        && self.circuits.borrow().has_answered_since(seat, asked) =>
            {
                CallResult::Nothing
            }
            answer => CallResult::of(answer),
        };
        let now = self.now();
        self.circuits.borrow_mut().hear(seat, pass, heard, asked, now);
        answer
    }

    /// Whether the actor at `seat` may be asked.
    pub(super) fn admit(&self, seat: &ActorKey<'_>, patience: Span) -> Option<CallPermission> {
        let now = self.now();
        let mut circuits = self.circuits.borrow_mut();
        // What is asked of someone who was in trouble needs its time; and whoever has waited for others' answers, and has too little left
        // by what the last one took, would only make them wait longer.
        let waited = patience.times(4) < self.patience.deadline.times(3);
        let in_vain =
            self.is_short(patience) && circuits.is_open(seat) || waited && circuits.takes_longer(seat, now, patience);
        if patience == Span::ZERO || in_vain || circuits.budget.stage(now) == BudgetStage::Alone {
            return None;
        }
        circuits.admit(seat, now, patience)
    }

    fn is_short(&self, patience: Span) -> bool {
        patience.times(4) < self.patience.deadline
    }

    /// Asks for more, and takes in what comes.
    pub async fn refill(&self, errand: BackgroundTask) {
        let asked = self.now();
        let answer = self.call(&errand.seat, &errand.ask, self.patience.patient()).await;
        let trip = RoundTrip { asked, heard: self.now() };
        let mut wallet = self.wallet.borrow_mut();
        let Ok(reply) = answer else {
            let told = errand.names.iter().zip(&errand.ask.demands);
            told.for_each(|(name, demand)| wallet.lost(*name, demand.owed));
            return;
        };
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let asked = errand.names.iter().zip(&errand.ask.demands);
        for (((name, demand), outcome), grant) in asked.zip(&reply.outcomes).zip(grants) {
            wallet.receive(*name, &demand.terms, grant, outcome, trip);
            if matches!(outcome, Outcome::Met { .. }) {
                wallet.hear(*name, demand, outcome, reply.horizon, trip);
            }
        }
    }

    /// Waits until quota tokens lie idle, and gives them back: once, whatever becomes of it.
    pub async fn tend(&self, mut errand: BackgroundTask) {
        for _ in 0..LOOKS {
            self.actors.pause(IDLE).await;
            let now = self.now();
            // What is taken out is given back once, so not where it would not be asked.
            if self.circuits.borrow().is_silent(&errand.seat, now) {
                continue;
            }
            let mut idle = false;
            for (name, demand) in errand.names.iter().zip(&mut errand.ask.demands) {
                demand.back = self.wallet.borrow_mut().idle(*name, now);
                idle |= demand.back.is_some();
            }
            if idle {
                let _ = self.call(&errand.seat, &errand.ask, self.patience.patient()).await;
            }
            if !errand.names.iter().any(|name| self.wallet.borrow().holds_quota(*name, now)) {
                break;
            }
        }
        let mut wallet = self.wallet.borrow_mut();
        errand.names.iter().for_each(|name| wallet.untend(*name));
    }

    /// Prepays calls, where it is time to.
    pub async fn prepay(&self) {
        let now = self.now();
        let ask = {
            let budget = &mut self.circuits.borrow_mut().budget;
            if !budget.is_due(now) {
                return;
            }
            budget.question(now)
        };
        let answer = self.actors.ask(&ActorKey::Shared(call_budget::NAME.into()), &ask, PATIENT).await;
        let (answer, now) = (answer.and_then(|reply| believe(&ask, reply, (self.wall)())), self.now());
        let cost = ask.demands.iter().map(|demand| demand.cost).sum();
        let outcome = answer.as_ref().ok().and_then(|reply| reply.outcomes.first());
        let budget = &mut self.circuits.borrow_mut().budget;
        budget.hear(cost, outcome, now);
        if let Ok(reply) = &answer {
            budget.spend_more(reply.rows, reply.d1);
        }
    }

    fn now(&self) -> Time {
        self.wallet.borrow_mut().now((self.wall)())
    }
}

impl Timing {
    /// How long what is asked for off the request's path is waited for.
    fn patient(&self) -> Span {
        self.deadline.max(PATIENT)
    }
}
