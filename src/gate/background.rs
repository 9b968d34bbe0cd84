//! Work after the answer: refills leases before they are empty, gives idle quota tokens back, takes
//! back those of a request that did not reach the origin, and prepays the day's call budget.

use crate::gate::day_tokens::DayTokens;
use crate::gate::decide::Gate;
use crate::gate::plan::{Plan, Timing};
use crate::gate::state::call_budget;
use crate::gate::state::lease_cache::{IDLE, LeaseCache, LimitKey};
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::lease::{StockLevel, Wish};
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::Limit;
use crate::protocol::rates::{ActorKey, Actors, Ask, Demand, Enforcement, Intent, Outcome, Terms};
use crate::protocol::validate::valid_reply;
use futures_util::future::join_all;

/// How many times a task looks whether quota tokens lie idle, once per [`IDLE`], before it leaves
/// them to the next request.
const CHECKS: u32 = 20;

/// How long a background question waits for its reply at least. No client waits for it, and a late
/// grant may still be good.
const PATIENT: Span = Span::from_secs(2);

/// A question to one actor that no request waits for. It borrows nothing from the request.
#[derive(Debug)]
pub struct BackgroundTask {
    actor: ActorKey<'static>,
    ask: Ask,
    /// The keys of the demands of `ask`, in their order.
    keys: Vec<LimitKey>,
}

/// All work to do after one request.
#[derive(Debug)]
pub struct Background {
    refills: Vec<BackgroundTask>,
    idle_quota: Vec<BackgroundTask>,
}

impl<A: Actors> Gate<'_, A> {
    /// The work to do after a request; `None` where there is none. Leases are refilled after a
    /// request that `passed`. Idle quota is looked after in any case, since a refused request may
    /// have given tokens back to the lease cache.
    pub fn background(&self, plan: &Plan<'_>, passed: bool) -> Option<Background> {
        let idle_quota = self.idle_quota_tasks(plan);
        let refills = if passed { self.refill_tasks(plan) } else { Vec::new() };
        let prepays = self.state.call_budget.borrow().is_due(self.now());
        (prepays || !refills.is_empty() || !idle_quota.is_empty()).then_some(Background { refills, idle_quota })
    }

    /// Questions for more of each lease that runs low. A question to an actor also asks for the
    /// leases of the same group that will run low soon.
    pub fn refill_tasks(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let patience = self.timing.deadline;
        let low = |lease_cache: &LeaseCache, key, now| lease_cache.stock_level(key, now, patience) == StockLevel::Low;
        self.tasks(plan, low, |lease_cache, key, limit, now| {
            let wants = lease_cache.stock_level(key, now, patience) != StockLevel::Enough;
            wants.then(|| {
                let (wish, unreported) = lease_cache.wish_for(key, &Terms::of(limit), limit.cost, now, patience);
                let demand = Demand::of(limit, 0, wish, unreported);
                Demand { part: lease_cache.part_question(key, &demand, now, patience), ..demand }
            })
        })
    }

    /// Tasks for quota tokens that the isolate holds and that no task looks after yet.
    pub fn idle_quota_tasks(&self, plan: &Plan<'_>) -> Vec<BackgroundTask> {
        let held = |lease_cache: &LeaseCache, key, now| lease_cache.holds_quota(key, now);
        self.tasks(plan, held, |lease_cache, key, limit, now| {
            let quota = matches!(limit.allowance, Allowance::Quota(_));
            (quota && lease_cache.claim_return(key, now)).then(|| Demand::of(limit, 0, Wish::default(), 0))
        })
    }

    /// One task for each group in which a limit is `due`, about all limits of the group that it
    /// `wants`.
    fn tasks(
        &self,
        plan: &Plan<'_>,
        due: impl Fn(&LeaseCache, LimitKey, Time) -> bool,
        wants: impl Fn(&mut LeaseCache, LimitKey, &Limit, Time) -> Option<Demand>,
    ) -> Vec<BackgroundTask> {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        let groups = plan.caller_limits.iter().chain(&plan.shared_limits);
        let stage = self.state.call_budget.borrow().stage(now);
        groups
            .filter_map(|group| {
                if !group.limits.iter().any(|limit| due(&lease_cache, group.key(limit), now)) {
                    return None;
                }
                let wanted = group.limits.iter().filter_map(|limit| {
                    let key = group.key(limit);
                    let demand = wants(&mut lease_cache, key, limit, now)?;
                    // No request depends on this, so a refusal by one limit must not stop the
                    // others' grants.
                    Some((key, Demand { enforcement: Enforcement::Shadow, ..demand }))
                });
                let (keys, demands): (Vec<LimitKey>, Vec<Demand>) = wanted.unzip();
                let Timing { durable_after, .. } = self.timing;
                let ask = group.question(Intent::Take, demands, durable_after, self.timing.patient(), stage);
                (!keys.is_empty()).then(|| BackgroundTask { actor: group.actor.clone().into_owned(), ask, keys })
            })
            .collect()
    }
}

impl<A: Actors> Gate<'_, A> {
    /// Does the work, and prepays calls if that is due.
    pub async fn run(&self, background: Background) {
        self.prepay().await;
        join_all(background.refills.into_iter().map(|task| self.refill(task))).await;
        join_all(background.idle_quota.into_iter().map(|task| self.return_idle_quota(task))).await;
    }

    /// Asks for more tokens, and takes in the grants.
    pub async fn refill(&self, task: BackgroundTask) {
        let asked = self.now();
        let reply = self.call(&task.actor, &task.ask, self.timing.patient()).await;
        let round_trip = RoundTrip { asked, answered: self.now() };
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let demands = task.keys.iter().zip(&task.ask.demands);
        let Ok(reply) = reply else {
            demands.for_each(|(key, demand)| lease_cache.note_lost(*key, demand.unreported));
            return;
        };
        let grants = reply.grants.into_iter().chain(core::iter::repeat(None));
        let parts = reply.parts.into_iter().chain(core::iter::repeat(None));
        for ((((key, demand), outcome), grant), part) in demands.zip(&reply.outcomes).zip(grants).zip(parts) {
            lease_cache.accept_grant(*key, &demand.terms, grant, outcome, round_trip);
            lease_cache.accept_part(*key, demand, part, round_trip);
            if matches!(outcome, Outcome::Met { .. }) {
                lease_cache.observe(*key, demand, outcome, reply.horizon, round_trip);
            }
        }
    }

    /// Waits until quota tokens lie idle, and gives them back. They are given back once, whether or
    /// not the call succeeds.
    pub async fn return_idle_quota(&self, mut task: BackgroundTask) {
        for _ in 0..CHECKS {
            self.actors.sleep(IDLE).await;
            let now = self.now();
            // Tokens taken out of the cache are sent once, so not while the actor would not be
            // asked.
            if self.is_left_alone(&task.actor) {
                continue;
            }
            let mut idle = false;
            for (key, demand) in task.keys.iter().zip(&mut task.ask.demands) {
                demand.unused = self.state.lease_cache.borrow_mut().take_idle_quota(*key, now);
                idle |= demand.unused.is_some();
            }
            if idle {
                let _ = self.call(&task.actor, &task.ask, self.timing.patient()).await;
            }
            if !task.keys.iter().any(|key| self.state.lease_cache.borrow().holds_quota(*key, now)) {
                break;
            }
        }
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        task.keys.iter().for_each(|key| lease_cache.release_return(*key));
    }

    /// Prepays a chunk of the day's call budget, if that is due.
    pub async fn prepay(&self) {
        let now = self.now();
        let ask = {
            let budget = &mut self.state.call_budget.borrow_mut();
            if !budget.is_due(now) {
                return;
            }
            budget.question(now)
        };
        let reply = self.actors.ask(&ActorKey::Shared(call_budget::NAME.into()), &ask, PATIENT).await;
        let (reply, now) = (reply.and_then(|reply| valid_reply(&ask, reply, (self.wall)())), self.now());
        let cost = ask.demands.iter().map(|demand| demand.cost).sum();
        let outcome = reply.as_ref().ok().and_then(|reply| reply.outcomes.first());
        let budget = &mut self.state.call_budget.borrow_mut();
        budget.record(cost, outcome, now);
        if let Ok(reply) = &reply {
            budget.spend_more(reply.rows, reply.d1);
        }
    }
}

impl<A: Actors> Gate<'_, A> {
    /// Takes the tokens of `list` back into the lease cache: the request of `plan` has not reached
    /// the origin. Each list may be given back once.
    pub fn take_back_day(&self, plan: &Plan<'_>, list: &[DayTokens]) {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let wall = (self.wall)();
        let now = lease_cache.now(wall);
        let groups = plan.caller_limits.iter().chain(&plan.shared_limits);
        for (group, limit) in groups.flat_map(|group| group.limits.iter().map(move |limit| (group, limit))) {
            let Some(day) = list.iter().find(|day| day.limit == limit.number) else { continue };
            if !matches!(limit.allowance, Allowance::Quota(_)) {
                continue;
            }
            match day.until {
                Some(until) => {
                    let tokens = Tokens::Quota { tokens: day.tokens, end: day.at, until };
                    lease_cache.give_back(group.key(limit), tokens, now, now);
                }
                None => {
                    let demand = Demand::of(limit, day.tokens, Wish::default(), 0);
                    self.state.local_limiter.borrow_mut().give_back(&demand, group.subject, day.at, wall);
                }
            }
        }
    }
}

impl Timing {
    /// How long a background question waits for its reply.
    fn patient(&self) -> Span {
        self.deadline.max(PATIENT)
    }
}
