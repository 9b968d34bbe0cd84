//! A deployment in memory: one isolate, all its actors, and faults to inject.

use crate::support::{EVENING, Turn, World, run};
use core::cell::{Cell, RefCell};
use penstock::gate::decide::Gate;
use penstock::gate::decision::Decision;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::GateState;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use std::collections::BTreeMap;
use std::rc::Rc;

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(EVENING) };
}

/// Reads the clock of the isolate and its actors.
pub fn now() -> Time {
    NOW.get()
}

/// A fault that a test injects. A test that ends before the fault was met fails, because it would
/// pass without the fault as well.
pub struct Fault<T> {
    now: RefCell<Option<T>>,
    injected: Cell<bool>,
    met: Cell<bool>,
}

impl<T> Default for Fault<T> {
    fn default() -> Fault<T> {
        Fault { now: RefCell::default(), injected: Cell::default(), met: Cell::default() }
    }
}

impl<T: Clone> Fault<T> {
    /// Injects the fault, or ends it with `None`.
    pub fn replace(&self, fault: Option<T>) {
        self.injected.set(self.injected.get() || fault.is_some());
        self.now.replace(fault);
    }

    /// Returns the fault if it is injected now and `applies`.
    fn meet(&self, applies: impl Fn(&T) -> bool) -> Option<T> {
        let fault = self.now.borrow().clone().filter(applies);
        self.met.set(self.met.get() || fault.is_some());
        fault
    }
}

impl<T> Drop for Fault<T> {
    fn drop(&mut self) {
        let missed = self.injected.get() && !self.met.get();
        assert!(!missed || std::thread::panicking(), "the test injects a fault that no call has met");
    }
}

/// The actors that a fault is about.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    All,
    /// The actors of addresses.
    Ip,
    /// The actors of keys.
    Key,
    /// The actors of shared limits.
    Shared,
    /// The actor of the shared limit of this name.
    Limit(&'static str),
}

impl Which {
    fn includes(self, actor: &ActorKey<'_>) -> bool {
        match (self, actor) {
            (Which::All, _)
            | (Which::Ip, ActorKey::Ip(_))
            | (Which::Key, ActorKey::Key(_))
            | (Which::Shared, ActorKey::Shared(_)) => true,
            (Which::Limit(name), ActorKey::Shared(limit)) => limit == name,
            _ => false,
        }
    }
}

/// One isolate, its actors by name, and the faults that they may have.
pub struct Deployment {
    pub policy: Policy,
    pub actors: RefCell<BTreeMap<String, Rc<World>>>,
    /// The failure of every call.
    pub error: Fault<CallError>,
    /// The reply of every actor instead of the true one.
    pub lie: Fault<Reply>,
    /// Calls made so far.
    pub calls: Cell<u32>,
    /// The time that some actors take to answer.
    pub slow: Fault<(Which, Span)>,
    pub state: GateState,
}

impl Actors for Deployment {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        self.calls.set(self.calls.get() + 1);
        if let Some((_, takes)) = self.slow.meet(|(which, _)| which.includes(actor)) {
            let begun = now();
            // Other actors that are asked at the same time begin at the same time.
            Turn::default().await;
            NOW.set(now().max(begun.plus(takes.min(patience))));
            if takes > patience {
                return Err(CallError::Late);
            }
        }
        if let Some(error) = self.error.meet(|_| true) {
            return Err(error);
        }
        if let Some(lie) = self.lie.meet(|_| true) {
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
    /// Makes a deployment with these vars, as JSON.
    pub fn new(vars: &str) -> Deployment {
        NOW.set(EVENING);
        let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
        Deployment {
            policy: Policy::read(&vars).unwrap(),
            actors: RefCell::default(),
            error: Fault::default(),
            lie: Fault::default(),
            calls: Cell::default(),
            slow: Fault::default(),
            state: GateState::default(),
        }
    }

    /// Decides about a GET of `path` from the address number `ip`, with the key number `key`.
    pub fn request(&self, path: &str, ip: u8, key: Option<u8>) -> Decision<'_> {
        let route = self.policy.route("GET", "example.com", path);
        let plan =
            Plan::new(&self.policy, route, Subject::from_bytes([ip; 16]), |_| Some(Subject::from_bytes([key?; 16])));
        run(self.gate().decide(&plan))
    }

    /// Returns the gate of the isolate.
    pub fn gate(&self) -> Gate<'_, Deployment> {
        let timing = Timing { durable_after: Span::from_secs(10), deadline: Span::from_millis(250) };
        Gate { actors: self, state: &self.state, timing, wall: now }
    }

    /// Whether such a request passes.
    pub fn passes(&self, path: &str, ip: u8, key: Option<u8>) -> bool {
        self.request(path, ip, key).refusal.is_none()
    }

    /// Returns how many of `count` such requests pass.
    pub fn passing(&self, count: usize, path: &str, ip: u8, key: Option<u8>) -> usize {
        (0..count).filter(|_| self.passes(path, ip, key)).count()
    }

    /// Lets time go on.
    pub fn forward(&self, span: Span) {
        NOW.set(now().plus(span));
    }

    /// Gives back the quota tokens that the isolate holds of `plans`, and then those that actors hold.
    pub fn return_idle_quota(&self, plans: &[Plan<'_>]) {
        for task in plans.iter().flat_map(|plan| self.gate().idle_quota_tasks(plan)) {
            run(self.gate().return_idle_quota(task));
        }
        for world in self.actors.borrow().values() {
            world.now.set(now());
            world.return_idle();
            NOW.set(world.now.get());
        }
    }

    /// Returns the tokens that D1 has counted for `limit`, over all its subjects.
    pub fn used(&self, limit: &str) -> u64 {
        let actors = self.actors.borrow();
        let mut limits = self.policy.base.iter().chain(&self.policy.bindings).flat_map(|binding| &binding.limits);
        let counter = limits.find(|other| other.name == limit).map_or(limit, |limit| limit.counter.as_str());
        let ledgers = actors.values().map(|world| world.ledger.used.borrow());
        ledgers
            .map(|used| used.iter().filter(|((_, name), _)| name == counter).map(|(_, used)| used).sum::<u64>())
            .sum()
    }
}

#[test]
#[should_panic(expected = "no call has met")]
fn fault_that_no_call_meets_fails_the_test() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    deployment.slow.replace(Some((Which::Key, Span::from_secs(1))));
    assert!(deployment.passes("/", 1, None));
}
