//! Which limits a request meets, in which order, and who holds their state.

use crate::gate::state::call_budget::{self, BudgetStage};
use crate::gate::state::fair_share::{self, Caller};
use crate::gate::state::lease_cache::LimitKey;
use crate::identity::digest::Subject;
use crate::identity::key::KeySources;
use crate::limit::lease::Wish;
use crate::limit::rate::Allowance;
use crate::limit::time::Span;
use crate::policy::{Binding, Limit, Mode, Policy, Scope};
use crate::protocol::rates::{ActorKey, Ask, Demand, Enforcement, Intent, Terms};

/// A limit, and the binding it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct PlannedLimit<'p> {
    /// The limit.
    pub limit: &'p Limit,
    /// Its binding's name.
    pub binding: &'p str,
    /// How long it takes to open after a cold start, if it is a shared rate; zero where it is open
    /// at once.
    pub warmup: Span,
}

/// Limits that one actor keeps for one subject.
#[derive(Clone, Debug)]
pub struct LimitGroup<'p> {
    /// The actor.
    pub actor: ActorKey<'p>,
    /// Whose buckets; nobody's in particular at a shared limit.
    pub subject: Option<Subject>,
    /// The limits, in order.
    pub limits: Vec<PlannedLimit<'p>>,
}

/// The limits of one request: its caller's, then what everyone shares.
#[derive(Clone, Debug, Default)]
pub struct Plan<'p> {
    /// The address's limits, then the keys'. Met one after the other.
    pub caller: Vec<LimitGroup<'p>>,
    /// Shared limits, one actor each: the narrower binding's before base's, rates before quotas.
    pub shared: Vec<LimitGroup<'p>>,
    /// Who asks, where shares are given out: the key that its limits go by, or else the address.
    pub who: Option<Caller>,
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
        let mut plan = Plan { who: Some(Caller { subject: ip, address: ip, weight }), ..Plan::default() };
        if route.is_some_and(|binding| binding.exempt) {
            return plan;
        }
        let bindings = || policy.base.iter().chain(route);
        let of = |binding: &'p Binding, scope: Scope| {
            let warmup = if scope == Scope::Global { binding.capacity.warmup.unwrap_or_default() } else { Span::ZERO };
            let met = move |limit| PlannedLimit { limit, binding: binding.name.as_str(), warmup };
            binding.limits.iter().filter(move |limit| limit.scope == scope).map(met)
        };

        for binding in bindings() {
            plan.add_caller(ActorKey::Ip(ip), ip, of(binding, Scope::Ip));
        }
        for binding in bindings() {
            let mut limits = of(binding, Scope::Key).peekable();
            if limits.peek().is_some()
                && let Some(subject) = key(&binding.key)
            {
                plan.add_caller(ActorKey::Key(subject), subject, limits);
                plan.who = Some(Caller { subject, address: ip, weight });
            }
        }
        for binding in route.into_iter().chain(&policy.base) {
            plan.shared.extend(of(binding, Scope::Global).map(|met| LimitGroup {
                actor: ActorKey::Shared(met.limit.name.as_str().into()),
                subject: None,
                limits: vec![met],
            }));
        }
        plan.shared.sort_by_key(|group| group.limits.iter().any(PlannedLimit::is_quota));
        plan
    }

    /// All limits, in order.
    pub fn limits(&self) -> impl Iterator<Item = PlannedLimit<'p>> {
        self.caller.iter().chain(&self.shared).flat_map(|group| group.limits.iter().copied())
    }

    fn add_caller(&mut self, actor: ActorKey<'p>, subject: Subject, limits: impl Iterator<Item = PlannedLimit<'p>>) {
        let mut limits = limits.peekable();
        if limits.peek().is_none() {
            return;
        }
        match self.caller.iter_mut().find(|group| group.actor == actor) {
            Some(group) => group.limits.extend(limits),
            None => self.caller.push(LimitGroup { actor, subject: Some(subject), limits: limits.collect() }),
        }
    }
}

impl PlannedLimit<'_> {
    /// Whether the limit refuses, rather than only saying that it would.
    pub fn enforces(&self) -> bool {
        self.limit.mode == Mode::Enforce
    }

    fn is_quota(&self) -> bool {
        matches!(self.limit.allowance, Allowance::Quota(_))
    }

    /// What the limit allows, as its actor is told.
    pub fn terms(&self) -> Terms {
        match &self.limit.allowance {
            Allowance::Rate(rate) => Terms::Rate(rate.gcra()),
            Allowance::Quota(quota) => Terms::Quota(quota.count(), quota.zone().clone()),
        }
    }

    /// The question for one request, or for none and what is wished for alone.
    pub fn demand(&self, cost: u64, wish: Wish, owed: u64) -> Demand {
        Demand {
            limit: self.limit.name.clone(),
            terms: self.terms(),
            cost,
            per_request: self.limit.cost,
            wish,
            unreported: owed,
            unused: None,
            enforcement: match self.limit.mode {
                Mode::Enforce => Enforcement::Enforced,
                Mode::Shadow => Enforcement::Shadow,
            },
            warmup: self.warmup,
        }
    }
}

impl LimitGroup<'_> {
    /// Returns the key under which the lease cache keeps one of this group's limits.
    pub fn key(&self, planned: &PlannedLimit<'_>) -> LimitKey {
        LimitKey { limit: planned.limit.number, subject: self.subject }
    }

    /// The question for this stop's actor, whose answer is waited for as long as `patience`.
    pub fn ask(
        &self,
        intent: Intent,
        demands: Vec<Demand>,
        durable_after: Span,
        patience: Span,
        stage: BudgetStage,
    ) -> Ask {
        Ask {
            intent,
            subject: self.subject,
            demands,
            // What everyone shares is always saved: a crash must not open it for everyone at once.
            durable_after: if self.subject.is_some() { durable_after } else { Span::ZERO },
            // An actor whose D1 is away answers well before that, so that its other limits still
            // hold.
            patience: patience.half(),
            horizon: if stage == BudgetStage::Plenty { Span::ZERO } else { call_budget::SAVING_HORIZON },
        }
    }
}

/// The settings that travel with every question.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// `DURABLE_AFTER`.
    pub durable_after: Span,
    /// `DEADLINE`.
    pub deadline: Span,
}
