//! Calls to actors: by a request that needs an answer, and in the background.

use crate::gate::deadline::is_short;
use crate::gate::plan::Timing;
use crate::gate::state::actor_health::ActorHealth;
use crate::gate::state::call_budget::BudgetStage;
use crate::gate::state::lease_cache::LeaseCache;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult};
use crate::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use crate::protocol::validate::valid_reply;
use std::cell::RefCell;

/// Everything that a call needs besides its question.
#[derive(Debug)]
pub struct ActorCalls<'r, A> {
    /// The actors that hold the limits' state.
    pub actors: &'r A,
    /// The leases and denials that the isolate keeps.
    pub lease_cache: &'r RefCell<LeaseCache>,
    /// Which actors fail, and are left alone.
    pub actor_health: &'r RefCell<ActorHealth>,
    /// The settings that travel with every question.
    pub patience: Timing,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<A: Actors> ActorCalls<'_, A> {
    /// Asks the actor, unless it is left alone or there is no time.
    pub(super) async fn call(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        match self.permission(actor, patience) {
            Some(permission) => self.call_with(permission, actor, ask, patience).await,
            None => Err(CallError::NotAsked),
        }
    }

    /// Asks the actor, with a permission that [`permission`](ActorCalls::permission) has given.
    pub(super) async fn call_with(
        &self,
        permission: CallPermission,
        actor: &ActorKey<'_>,
        ask: &Ask,
        patience: Span,
    ) -> Result<Reply, CallError> {
        let asked = self.now();
        self.actor_health.borrow_mut().budget.spend(1);
        let reply = self.actors.ask(actor, ask, patience).await;
        let reply = reply.and_then(|reply| valid_reply(ask, reply, (self.wall)()));
        if let Ok(reply) = &reply {
            self.actor_health.borrow_mut().budget.spend_more(reply.rows, reply.d1);
        }
        let result = match &reply {
            Err(CallError::Late) if self.may_be_late(actor, asked, patience) => CallResult::Nothing,
            reply => CallResult::of(reply),
        };
        let now = self.now();
        self.actor_health.borrow_mut().record(actor, permission, result, asked, now);
        reply
    }

    /// Whether a reply may be late without any fault of the actor: the call was made near the
    /// decision's deadline; or half of that time went on waiting for replies to others, and these
    /// have come.
    fn may_be_late(&self, actor: &ActorKey<'_>, asked: Time, patience: Span) -> bool {
        is_short(patience, self.patience.deadline)
            || patience.times(2) <= self.patience.deadline
                && self.actor_health.borrow().has_answered_since(actor, asked)
    }

    /// Leave to ask the actor a question that waits for up to `patience`; `None` where the actor is
    /// left alone, the day's calls are spent, or there is too little time.
    pub(super) fn permission(&self, actor: &ActorKey<'_>, patience: Span) -> Option<CallPermission> {
        let now = self.now();
        let mut actor_health = self.actor_health.borrow_mut();
        // A probe of a failing actor needs its time.
        let short_probe = is_short(patience, self.patience.deadline) && actor_health.is_open(actor);
        // A request that has waited for the replies to others, and has less time left than the
        // actor's last reply took, would make its client wait in vain.
        let has_waited = patience.times(4) < self.patience.deadline.times(3);
        let in_vain = short_probe || has_waited && actor_health.answers_slower_than(actor, now, patience);
        if patience == Span::ZERO || in_vain || actor_health.budget.stage(now) == BudgetStage::Alone {
            return None;
        }
        actor_health.admit(actor, now, patience)
    }

    /// The isolate's time.
    pub(super) fn now(&self) -> Time {
        self.lease_cache.borrow_mut().now((self.wall)())
    }
}
