//! What is told to whoever is refused of the limits that did not refuse it.
//!
//! The first limit that refuses ends a decision, and what a caller has paid before stays paid. So a caller that comes back when that limit has
//! room may find another one without: one that was not asked, or one that the refused request itself has paid. As far as this isolate
//! knows of them, they are told of as well: a wait that is too short sends somebody away twice.

use crate::gate::decide::Gate;
use crate::gate::plan::Plan;
use crate::limit::time::Span;
use crate::protocol::rates::Actors;

impl<A: Actors> Gate<'_, A> {
    /// How long the limits of `plan` refuse whoever has not passed them, at least.
    pub(super) fn min_wait(&self, plan: &Plan<'_>) -> Span {
        let mut lease_cache = self.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        let groups = plan.caller.iter().chain(&plan.shared);
        let limits = groups.flat_map(|group| group.limits.iter().map(|met| ((met.limit.number, group.subject), met)));
        let waits = limits
            .filter(|(_, met)| met.enforces())
            .map(|(name, met)| lease_cache.min_wait(name, &met.terms(), met.limit.cost, now));
        waits.max().unwrap_or_default()
    }
}
