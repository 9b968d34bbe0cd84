//! Quota tokens in an entry of the lease cache that go back to the actor.

use super::{CachedLimit, IDLE, RETURN_TASK_LIFE};
use crate::limit::time::Time;
use crate::protocol::rates::UnusedTokens;

impl CachedLimit {
    /// Whether quota tokens are in hand.
    pub(in crate::gate::state::lease_cache) fn holds_quota(&self, now: Time) -> bool {
        self.grants.any_quota_left(now)
    }

    /// Whether quota tokens are in hand and no task returns them. If so, a task must be started.
    pub(in crate::gate::state::lease_cache) fn claim_return(&mut self, now: Time) -> bool {
        let unclaimed = self.return_task_since.is_none_or(|since| since.plus(RETURN_TASK_LIFE) <= now);
        let claimed = unclaimed && self.holds_quota(now);
        if claimed {
            self.return_task_since = Some(now);
        }
        claimed
    }

    /// Notes that the task that returns idle quota tokens has ended.
    pub(in crate::gate::state::lease_cache) fn release_return(&mut self) {
        self.return_task_since = None;
    }

    /// Takes out quota tokens that lay unused for [`IDLE`]; `None` if there are none.
    pub(in crate::gate::state::lease_cache) fn take_idle_quota(&mut self, now: Time) -> Option<UnusedTokens> {
        if now < self.last_spent.plus(IDLE) { None } else { self.grants.take_quota() }
    }
}
