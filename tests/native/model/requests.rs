//! Requests: they arrive at an isolate, run when a message reaches them, and take tokens.

use super::case::Bug;
use super::parts::{CALLER, DecisionCell, ModelIsolate, Task};
use super::ports::{Admission, Port, Record, Shared};
use super::sim::{set_wall, wall};
use super::world::{Memory, ModelWorld};
use core::cell::Cell;
use core::task::{Context, Waker};
use futures_util::future::join_all;
use penstock::gate::decide::Gate;
use penstock::gate::decision::Decision;
use penstock::gate::plan::{LimitGroup, Plan, Timing};
use penstock::gate::state::GateState;
use penstock::gate::state::lease_cache::LimitKey;
use penstock::gate::state::tokens::Tokens;
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::Lease;
use penstock::limit::time::Time;
use penstock::policy::Scope;
use penstock::protocol::rates::{ActorKey, Intent, Terms};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

impl ModelWorld {
    /// Sends a request to an isolate. Its background work runs in the same task.
    pub fn arrive(&mut self, isolate: usize) -> DecisionCell {
        let id = self.shared.number();
        let shared = Rc::clone(&self.shared);
        let ModelIsolate { state, kept, .. } = &self.isolates[isolate];
        let slots = kept.borrow_mut().split_off(0);
        self.spend_kept(&slots, isolate);
        let (state, kept) = (Rc::clone(state), Rc::clone(kept));
        let decision = Rc::new(Cell::new(None));
        let decided = Rc::clone(&decision);
        let case = self.case().clone();
        let policy = if self.isolates[isolate].is_edited { case.edited } else { case.policy };
        let future = Box::pin(async move {
            let plan = Plan::new(policy, None, CALLER, |_| None);
            let record = Rc::new(Record::default());
            let keys = plan
                .caller_limits
                .iter()
                .chain(&plan.shared_limits)
                .flat_map(|group| group.limits.iter().map(|limit| (limit.name.clone(), group.key(limit))));
            let port = Port {
                shared: Rc::clone(&shared),
                task: id,
                record: Rc::clone(&record),
                state: Rc::clone(&state),
                keys: keys.collect(),
                kept,
            };
            let timing = Timing { durable_after: case.durable_after, deadline: case.deadline };
            let gate = Gate { actors: &port, state: &state, timing, wall };
            let decision = gate.decide(&plan).await;
            decided.set(Some(decision.refusal.as_ref().map(|refusal| refusal.wait)));
            if decision.refusal.is_some() {
                plant_bug(case.bug, &plan, &decision, &state);
                return;
            }
            admit(&shared, &plan, &record);
            let (refill_tasks, idle_quota_tasks) = (gate.refill_tasks(&plan), gate.idle_quota_tasks(&plan));
            join_all(refill_tasks.into_iter().map(|task| gate.refill(task))).await;
            join_all(idle_quota_tasks.into_iter().map(|task| gate.return_idle_quota(task))).await;
        });
        self.tasks.push(Task { id, isolate, future, past: 0, decision: Rc::clone(&decision) });
        self.tell(id, 0);
        decision
    }

    /// Puts back a slot that a planted bug has kept, if the bug would spend it now.
    fn spend_kept(&self, kept: &[(LimitKey, Gcra, Time)], isolate: usize) {
        let now = self.now();
        let (lease_cache, later) = (&self.isolates[isolate].state.lease_cache, &self.isolates[isolate].kept);
        let mut used = false;
        for (key, gcra, slot) in kept.iter().copied() {
            let early = self.case().bug == Bug::EarlySlots;
            if early && slot < now {
                continue;
            }
            if !used && (early || slot <= now.plus(gcra.tolerance())) {
                let lease = Lease::new(slot.since(now).min(gcra.tolerance()), 1, now, now);
                lease_cache.borrow_mut().give_back(key, Tokens::Lease(gcra, lease), now, now);
                used = true;
            } else {
                later.borrow_mut().push((key, gcra, slot));
            }
        }
    }

    /// Lets a task run until it waits again. `news` is a hash of the message that it can see now.
    pub fn tell(&mut self, id: u32, news: u64) {
        let Some(index) = self.tasks.iter().position(|task| task.id == id) else { return };
        let task = &mut self.tasks[index];
        let isolate = &self.isolates[task.isolate];
        if self.memory == Memory::Kept {
            let mut hasher = DefaultHasher::new();
            (task.past, news, self.shared.now.get(), isolate.behind).hash(&mut hasher);
            format!("{:?}{:?}", isolate.state.lease_cache.borrow(), isolate.state.actor_health.borrow())
                .hash(&mut hasher);
            task.past = hasher.finish();
        }
        set_wall(self.shared.now.get().minus(isolate.behind));
        let done = task.future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if done {
            self.tasks.remove(index);
        }
        self.send();
    }
}

/// Makes the planted bug's mistake with the caller's tokens of a request that a shared limit
/// refused.
fn plant_bug(bug: Bug, plan: &Plan<'_>, decision: &Decision<'_>, state: &GateState) {
    let by_shared = decision.refusal.as_ref().is_some_and(|refusal| refusal.limit.scope == Scope::Global);
    if !by_shared || !matches!(bug, Bug::TokensForgotten | Bug::TokensBackTwice) {
        return;
    }
    let mut lease_cache = state.lease_cache.borrow_mut();
    let now = lease_cache.now(wall());
    for (key, limit) in plan.caller_limits.iter().flat_map(|group| group.limits.iter().map(|l| (group.key(l), l))) {
        if let Some((spent, _)) = lease_cache.spend(key, limit.cost, now)
            && bug == Bug::TokensBackTwice
        {
            (0..2).for_each(|_| lease_cache.give_back(key, spent, now, now));
        }
    }
}

/// Notes the tokens that admitted a request, and when each was taken.
fn admit(shared: &Shared, plan: &Plan<'_>, record: &Record) {
    let taken = record.questions.borrow();
    let now = shared.now.get();
    let to_shared = |actor: &ActorKey<'_>| matches!(actor, ActorKey::Shared(_));
    let first_shared = taken.iter().find(|question| to_shared(&question.actor)).map_or(now, |question| question.asked);
    let mut admitted = shared.admitted.borrow_mut();
    let mut note = |group: &LimitGroup<'_>, in_hand: Time| {
        let mut takes =
            taken.iter().filter(|question| question.actor == group.actor && question.ask.intent == Intent::Take);
        let take = takes.next();
        for limit in &group.limits {
            let asked = take.filter(|take| take.ask.demands.iter().any(|demand| demand.limit == limit.name));
            let in_hand = take.map_or(in_hand, |take| take.asked);
            let answer = asked.and_then(|take| take.answer.as_ref());
            let quota = matches!(Terms::of(limit), Terms::Quota(..));
            let at = answer.map_or(in_hand, |answer| if quota { answer.begun } else { answer.done });
            for _ in 0..limit.cost {
                admitted.push(Admission { limit: limit.number, at });
            }
        }
    };
    for group in &plan.caller_limits {
        note(group, first_shared);
    }
    for group in &plan.shared_limits {
        debug_assert!(group.limits.iter().all(|limit| limit.scope == Scope::Global));
        note(group, now);
    }
    admitted.sort_unstable();
}
