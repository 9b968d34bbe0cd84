//! The tokens that one request has taken of one stage's limits. They go back when the request does
//! not use them: where a limit or a cap refuses it, or its client leaves.
//!
//! The tokens go back into the isolate's lease cache, for the caller's next request. No TAT in an
//! actor is ever lowered.

use crate::gate::decision::Decision;
use crate::gate::pending::{CountedAlone, PendingLimit, limits, record_outcome, refusing, settled};
use crate::gate::plan::LimitGroup;
use crate::gate::state::GateState;
use crate::limit::time::Time;
use crate::protocol::rates::Terms;
use core::ops::{Deref, DerefMut};

/// Which tokens of a request stay paid when one of its limits refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paid {
    /// The tokens of the groups before the one that refused.
    Before,
    /// No tokens.
    Nothing,
}

/// One stage's limits while they are being decided, with the tokens taken so far. Dropping this
/// gives the tokens back.
pub(super) struct Taken<'g, 's, 'p> {
    limits: Vec<PendingLimit<'s, 'p>>,
    state: &'g GateState,
    wall: fn() -> Time,
    /// A time before which no token was taken.
    since: Time,
}

impl<'g, 's, 'p> Taken<'g, 's, 'p> {
    /// All limits of `groups`, none of them settled, and no token taken.
    pub fn of(groups: &'s [LimitGroup<'p>], state: &'g GateState, wall: fn() -> Time, now: Time) -> Self {
        Taken { limits: limits(groups), state, wall, since: now }
    }

    /// Whether a limit is not settled yet.
    pub fn is_open(&self) -> bool {
        self.limits.iter().any(|pending| pending.outcome.is_none())
    }

    /// Counts the limits that are settled so far, without a call of this request.
    pub fn count_settled(&self, decision: &mut Decision<'p>) {
        decision.spent.settled = decision.spent.settled.saturating_add(settled(&self.limits));
    }

    /// Records the outcomes; whether an enforced limit refuses. If one does, the tokens that `paid`
    /// names are used.
    pub fn conclude(&mut self, paid: Paid, decision: &mut Decision<'p>) -> bool {
        self.limits.iter().for_each(|pending| record_outcome(pending, decision));
        let Some(refusing) = refusing(&self.limits) else { return false };
        if paid == Paid::Before {
            self.limits.retain(|pending| pending.order >= refusing);
        }
        true
    }

    /// The same for a stage that ends without a call.
    pub fn conclude_alone(&mut self, paid: Paid, decision: &mut Decision<'p>) {
        self.count_settled(decision);
        self.conclude(paid, decision);
    }

    /// Notes that the request uses the tokens. The decision lists the quota tokens among them.
    pub fn use_all(mut self, decision: &mut Decision<'p>) {
        let day_tokens = self.limits.iter().filter_map(PendingLimit::day_tokens);
        decision.day_tokens.extend(day_tokens);
        self.limits.clear();
    }

    fn give_back(&self, pending: &PendingLimit<'_, '_>) {
        // A borrow that is held while a request ends would be a mistake, and no reason to fail.
        let Ok(mut lease_cache) = self.state.lease_cache.try_borrow_mut() else { return };
        let wall = (self.wall)();
        let now = lease_cache.now(wall);
        if let Some(held) = pending.held {
            lease_cache.give_back(pending.key, held, self.since, now);
        }
        if let Some(CountedAlone { demand, wall: taken, at, owed }) = &pending.counted_alone {
            if let Terms::Rate(gcra) = &demand.terms {
                lease_cache.take_back_alone(pending.key, gcra, demand.cost, *owed, *at, now);
            }
            if let Ok(mut local_limiter) = self.state.local_limiter.try_borrow_mut() {
                local_limiter.give_back(demand, pending.group.subject, *taken, wall);
            }
        }
    }
}

impl Drop for Taken<'_, '_, '_> {
    fn drop(&mut self) {
        self.limits.iter().for_each(|pending| self.give_back(pending));
    }
}

impl<'s, 'p> Deref for Taken<'_, 's, 'p> {
    type Target = [PendingLimit<'s, 'p>];

    fn deref(&self) -> &[PendingLimit<'s, 'p>] {
        &self.limits
    }
}

impl<'s, 'p> DerefMut for Taken<'_, 's, 'p> {
    fn deref_mut(&mut self) -> &mut [PendingLimit<'s, 'p>] {
        &mut self.limits
    }
}
