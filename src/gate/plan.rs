//! The limits that a request meets, in order, grouped by the actor that holds their state.

use crate::gate::state::call_budget::{self, BudgetStage};
use crate::gate::state::fair_share::{self, Caller};
use crate::gate::state::lease_cache::LimitKey;
use crate::identity::digest::Subject;
use crate::identity::key::KeySources;
use crate::limit::time::Span;
use crate::policy::{Binding, Limit, Policy, Scope};
use crate::protocol::rates::{ActorKey, Ask, Demand, Intent};

/// Limits that one actor keeps for one subject.
#[derive(Clone, Debug)]
pub struct LimitGroup<'p> {
    /// The actor.
    pub actor: ActorKey<'p>,
    /// The subject whose buckets they are; `None` at a shared limit.
    pub subject: Option<Subject>,
    /// The limits, in order.
    pub limits: Vec<&'p Limit>,
}

/// The limits of one request: its caller's, then the shared ones.
#[derive(Clone, Debug, Default)]
pub struct Plan<'p> {
    /// The address's limits, then those of each key. Their actors are asked side by side; where
    /// several refuse, the first group counts as the one that refused.
    pub caller_limits: Vec<LimitGroup<'p>>,
    /// Shared limits, one actor for each binding: rates before quotas.
    pub shared_limits: Vec<LimitGroup<'p>>,
    /// The caller, as fair shares count it: by its key, where a limit counts that, else by its
    /// address. `None` only in the plan of an allow-listed address.
    pub caller: Option<Caller>,
}

impl<'p> Plan<'p> {
    /// The plan for a request that matched `route`, from the address `ip`, with the keys that `key`
    /// finds.
    pub fn new(
        policy: &'p Policy,
        route: Option<&'p Binding>,
        ip: Subject,
        key: impl Fn(&KeySources) -> Option<Subject>,
    ) -> Plan<'p> {
        let weight = fair_share::weight(policy.priority(route));
        let mut plan = Plan { caller: Some(Caller { subject: ip, address: ip, weight }), ..Plan::default() };
        if route.is_some_and(|binding| binding.exempt) {
            return plan;
        }
        let bindings = || policy.base.iter().chain(route);
        let of = |binding: &'p Binding, scope: Scope| binding.limits.iter().filter(move |limit| limit.scope == scope);

        for binding in bindings() {
            plan.add_caller_limits(ActorKey::Ip(ip), ip, of(binding, Scope::Ip));
        }
        for binding in bindings() {
            let mut limits = of(binding, Scope::Key).peekable();
            if limits.peek().is_some()
                && let Some(subject) = key(&binding.key)
            {
                plan.add_caller_limits(ActorKey::Key(subject), subject, limits);
                plan.caller = Some(Caller { subject, address: ip, weight });
            }
        }
        for binding in route.into_iter().chain(&policy.base) {
            let rates = of(binding, Scope::Global).filter(|limit| !limit.is_quota());
            let limits: Vec<&Limit> =
                rates.chain(of(binding, Scope::Global).filter(|limit| limit.is_quota())).collect();
            if !limits.is_empty() {
                // The place of a limit in its list may change, so its name can be no part of this.
                let actor = ActorKey::Shared(binding.shared_actor.as_str().into());
                plan.shared_limits.push(LimitGroup { actor, subject: None, limits });
            }
        }
        // One of the two may have quotas alone.
        if plan.shared_limits.first().is_some_and(|group| group.limits.iter().all(|limit| limit.is_quota())) {
            plan.shared_limits.reverse();
        }
        plan
    }

    /// All limits, in order.
    pub fn limits(&self) -> impl Iterator<Item = &'p Limit> {
        self.caller_limits.iter().chain(&self.shared_limits).flat_map(|group| group.limits.iter().copied())
    }

    /// The limits that count the caller itself and refuse, in order, each with its group. Clients
    /// are told of these.
    pub fn own_limits(&self) -> impl Iterator<Item = (&LimitGroup<'p>, &'p Limit)> {
        let limits = self.caller_limits.iter().flat_map(|group| group.limits.iter().map(move |limit| (group, *limit)));
        limits.filter(|(_, limit)| limit.enforces())
    }

    fn add_caller_limits(&mut self, actor: ActorKey<'p>, subject: Subject, limits: impl Iterator<Item = &'p Limit>) {
        let mut limits = limits.peekable();
        if limits.peek().is_none() {
            return;
        }
        match self.caller_limits.iter_mut().find(|group| group.actor == actor) {
            Some(group) => group.limits.extend(limits),
            None => self.caller_limits.push(LimitGroup { actor, subject: Some(subject), limits: limits.collect() }),
        }
    }
}

impl LimitGroup<'_> {
    /// Returns the key under which the lease cache keeps one of this group's limits.
    pub fn key(&self, limit: &Limit) -> LimitKey {
        LimitKey { limit: limit.number, subject: self.subject }
    }

    /// The question to this group's actor, whose reply is waited for as long as `patience`.
    pub fn question(
        &self,
        intent: Intent,
        demands: Vec<Demand>,
        durable_after: Span,
        patience: Span,
        budget_stage: BudgetStage,
    ) -> Ask {
        Ask {
            intent,
            subject: self.subject,
            demands,
            // Shared limits are always saved: a crash must not open them for everyone at once.
            durable_after: if self.subject.is_some() { durable_after } else { Span::ZERO },
            // Half of it: an actor that cannot reach D1 then still replies in time about its other
            // limits.
            patience: patience.half(),
            horizon: if budget_stage == BudgetStage::Plenty { Span::ZERO } else { call_budget::SAVING_HORIZON },
        }
    }
}

/// The settings that time a decision and its questions.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// `DURABLE_AFTER`.
    pub durable_after: Span,
    /// `DEADLINE`.
    pub deadline: Span,
}
