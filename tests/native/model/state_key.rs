//! The key of a state, by which the search knows that it has been there.

use super::parts::Call;
use super::world::ModelWorld;
use penstock::limit::time::Time;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

impl ModelWorld {
    /// Returns a number that stands for the state: from two worlds with one number the same
    /// follows, and the same is checked.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.now(), self.requests, self.faults, self.edits, self.actor_crashes, self.losses, self.left, self.stepped)
            .hash(&mut hasher);
        for isolate in &self.isolates {
            format!("{:?}{:?}", isolate.state.lease_cache.borrow(), isolate.state.local_limiter.borrow())
                .hash(&mut hasher);
            format!("{:?}", isolate.state.actor_health.borrow()).hash(&mut hasher);
            (isolate.behind, isolate.is_edited, isolate.kept.borrow().len()).hash(&mut hasher);
            isolate.kept.borrow().iter().for_each(|(_, _, slot)| slot.hash(&mut hasher));
        }
        for actor in &self.actors {
            format!("{:?}{:?}", actor.actor, actor.counter.borrow()).hash(&mut hasher);
            (&*actor.disk.rows.borrow(), &*actor.disk.unsaved.borrow(), actor.behind).hash(&mut hasher);
        }
        // The numbers of tasks are only names, so they are put in an order that does not depend on
        // them.
        let mut pasts: Vec<u64> = self.tasks.iter().map(|task| task.past).collect();
        pasts.sort_unstable();
        let mut calls: Vec<u64> = self.calls.iter().map(|call| self.call_key(call)).collect();
        calls.sort_unstable();
        let mut timers: Vec<(Time, u64)> =
            self.shared.timers.borrow().iter().map(|t| (t.at, self.past(t.task))).collect();
        timers.sort_unstable();
        let statements = self.shared.statements.borrow();
        let mut counts: Vec<_> = statements.iter().map(|s| (s.row.1.clone(), s.row.0.clone(), s.cost)).collect();
        counts.sort_unstable();
        (pasts, calls, timers, counts).hash(&mut hasher);
        format!("{:?}", self.shared.used.borrow()).hash(&mut hasher);
        self.shared.admitted.borrow().iter().for_each(|admission| (admission.limit, admission.at).hash(&mut hasher));
        hasher.finish()
    }

    fn past(&self, task: u32) -> u64 {
        self.tasks.iter().find(|other| other.id == task).map_or(0, |task| task.past)
    }

    fn call_key(&self, call: &Call) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.past(call.sent.task), call.actor, call.begun, call.work.is_some(), call.past).hash(&mut hasher);
        format!("{:?}{:?}", call.sent.ask, call.answer).hash(&mut hasher);
        hasher.finish()
    }
}
