//! Calls to actors: by a request that needs an answer, and in the background.

use crate::gate::deadline::is_short;
use crate::gate::decide::Gate;
use crate::gate::state::call_budget::BudgetStage;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult};
use crate::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use crate::protocol::validate::valid_reply;

impl<A: Actors> Gate<'_, A> {
    /// Asks the actor, unless it is left alone or there is no time.
    pub(super) async fn call(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        match self.permission(actor, patience) {
            Some(permission) => self.call_with(permission, actor, ask, patience).await,
            None => Err(CallError::NotAsked),
        }
    }

    /// Asks the actor, with a permission that [`permission`](Gate::permission) has given.
    pub(super) async fn call_with(
        &self,
        permission: CallPermission,
        actor: &ActorKey<'_>,
        ask: &Ask,
        patience: Span,
    ) -> Result<Reply, CallError> {
        let asked = self.now();
        self.state.call_budget.borrow_mut().spend(1);
        let reply = self.actors.ask(actor, ask, patience).await;
        let reply = reply.and_then(|reply| valid_reply(ask, reply, (self.wall)()));
        if let Ok(reply) = &reply {
            self.state.call_budget.borrow_mut().spend_more(reply.rows, reply.d1);
        }
        let result = match &reply {
            Err(CallError::Late) if self.may_be_late(actor, asked, patience) => CallResult::Nothing,
            reply => CallResult::of(reply),
        };
        let now = self.now();
        self.state.actor_health.borrow_mut().record(actor, permission, result, asked, now);
        reply
    }

    /// Whether a reply may be late without any fault of the actor: the call had less than a quarter
    /// of the decision's time; or it had at most half of that time, and the actor has answered
    /// another question meanwhile.
    fn may_be_late(&self, actor: &ActorKey<'_>, asked: Time, patience: Span) -> bool {
        is_short(patience, self.timing.deadline)
            || patience.times(2) <= self.timing.deadline
                && self.state.actor_health.borrow().has_answered_since(actor, asked)
    }

    /// Permission to ask the actor a question that waits for up to `patience`; `None` where the
    /// actor is left alone, the day's calls are spent, or there is too little time.
    pub(super) fn permission(&self, actor: &ActorKey<'_>, patience: Span) -> Option<CallPermission> {
        let now = self.now();
        let mut actor_health = self.state.actor_health.borrow_mut();
        // A probe of a failing actor needs its time.
        let short_probe = is_short(patience, self.timing.deadline) && actor_health.is_open(actor);
        // A question that has less than three quarters of the decision's time, and less than the
        // actor's last reply took, would make its client wait in vain.
        let is_hurried = patience.times(4) < self.timing.deadline.times(3);
        let in_vain = short_probe || is_hurried && actor_health.answers_slower_than(actor, now, patience);
        if patience == Span::ZERO || in_vain || self.state.call_budget.borrow().stage(now) == BudgetStage::Alone {
            return None;
        }
        actor_health.permission(actor, now, patience)
    }

    /// Whether no call is made to the actor now: it fails, or the day's calls are spent.
    pub(super) fn is_left_alone(&self, actor: &ActorKey<'_>) -> bool {
        let now = self.now();
        self.state.actor_health.borrow().is_open(actor)
            || self.state.call_budget.borrow().stage(now) == BudgetStage::Alone
    }
}
