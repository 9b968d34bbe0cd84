//! Every actor of a deployment in memory, and a request to send past them.

use crate::support::{EVENING, Turn, World, run};
use core::cell::{Cell, RefCell};
use penstock::gate::actor_calls::ActorCalls;
use penstock::gate::decide::Gate;
use penstock::gate::decision::Decision;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::actor_health::ActorHealth;
use penstock::gate::state::lease_cache::LeaseCache;
use penstock::gate::state::local_limiter::LocalLimiter;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use std::collections::BTreeMap;
use std::rc::Rc;

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(EVENING) };
}

pub fn now() -> Time {
    NOW.get()
}

/// A deployment: its actors by name, and a trouble that they may all be in.
pub struct Deployment {
    pub policy: Policy,
    pub actors: RefCell<BTreeMap<String, Rc<World>>>,
    pub error: RefCell<Option<CallError>>,
    /// What every actor says instead of the truth.
    pub lie: RefCell<Option<Reply>>,
    pub calls: Cell<u32>,
    /// How long an actor takes, for the seats whose description contains the text.
    pub slow: RefCell<Option<(&'static str, Span)>>,
    pub lease_cache: RefCell<LeaseCache>,
    local: RefCell<LocalLimiter>,
    pub actor_health: RefCell<ActorHealth>,
}

impl Actors for Deployment {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        self.calls.set(self.calls.get() + 1);
        let slow = self.slow.borrow().filter(|(which, _)| format!("{actor:?}").contains(which));
        if let Some((_, takes)) = slow {
            let begun = now();
            // Whoever else is asked at the same time is so from the same time on.
            Turn::default().await;
            NOW.set(now().max(begun.plus(takes.min(patience))));
            if takes > patience {
                return Err(CallError::Late);
            }
        }
        if let Some(error) = self.error.borrow().clone() {
            return Err(error);
        }
        if let Some(lie) = self.lie.borrow().clone() {
            return Ok(lie);
        }
        let world = Rc::clone(self.actors.borrow_mut().entry(format!("{actor:?}")).or_default());
        world.now.set(now());
        world.answer(ask).await.map_err(CallError::Failed)
    }

    async fn sleep(&self, span: Span) {
        NOW.set(now().plus(span));
    }
}

impl Deployment {
    /// With these vars, as JSON.
    pub fn new(vars: &str) -> Deployment {
        NOW.set(EVENING);
        let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
        Deployment {
            policy: Policy::read(&vars).unwrap(),
            actors: RefCell::default(),
            error: RefCell::default(),
            lie: RefCell::default(),
            calls: Cell::default(),
            slow: RefCell::default(),
            lease_cache: RefCell::default(),
            local: RefCell::default(),
            actor_health: RefCell::default(),
        }
    }

    /// A GET of `path` from the address number `ip`, with the key number `key`.
    pub fn request(&self, path: &str, ip: u8, key: Option<u8>) -> Decision<'_> {
        let route = self.policy.route("GET", "example.com", path);
        let plan =
            Plan::new(&self.policy, route, Subject::from_bytes([ip; 16]), |_| Some(Subject::from_bytes([key?; 16])));
        run(self.gate().decide(&plan))
    }

    /// What decides in this deployment's one isolate.
    pub fn gate(&self) -> Gate<'_, Deployment> {
        let patience = Timing { durable_after: Span::from_secs(10), deadline: Span::from_millis(250) };
        let Deployment { lease_cache, local, actor_health, .. } = self;
        Gate { actors: self, lease_cache, local, actor_health, patience, wall: now }
    }

    /// What runs errands for this deployment's one isolate.
    pub fn actor_calls(&self) -> ActorCalls<'_, Deployment> {
        let patience = Timing { durable_after: Span::from_secs(10), deadline: Span::from_millis(250) };
        ActorCalls {
            actors: self,
            lease_cache: &self.lease_cache,
            actor_health: &self.actor_health,
            patience,
            wall: now,
        }
    }

    /// Whether such a request passes.
    pub fn passes(&self, path: &str, ip: u8, key: Option<u8>) -> bool {
        self.request(path, ip, key).refusal.is_none()
    }

    /// How many of `count` such requests pass.
    pub fn passing(&self, count: usize, path: &str, ip: u8, key: Option<u8>) -> usize {
        (0..count).filter(|_| self.passes(path, ip, key)).count()
    }

    pub fn forward(&self, span: Span) {
        NOW.set(now().plus(span));
    }

    /// What is counted in the ledger of the actor at `actor`.
    pub fn used(&self, limit: &str) -> u64 {
        let actors = self.actors.borrow();
        let ledgers = actors.values().map(|world| world.ledger.used.borrow());
        ledgers.map(|used| used.iter().filter(|((_, name), _)| name == limit).map(|(_, used)| used).sum::<u64>()).sum()
    }
}
