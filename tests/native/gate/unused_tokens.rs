//! A request that is refused by what everyone shares has used nothing of its caller's own limits:
//! its tokens come back into the isolate's hand.

use super::support::{Deployment, Which};
use crate::support::{Turn, run};
use core::cell::Cell;
use core::pin::Pin;
use core::task::{Context, Waker};
use penstock::gate::deadline::Deadline;
use penstock::gate::decide::Gate;
use penstock::gate::decision::{CapDecision, CapRefusal, Decision, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::gate::plan::Plan;
use penstock::gate::state::GateState;
use penstock::identity::Subject;
use penstock::limit::time::Span;
use penstock::policy::Policy;
use penstock::protocol::rates::CallError;

/// Base's cap while it is full. Requests wait for it for as long as `waits` says, and are refused.
struct FullCap<'a> {
    policy: &'a Policy,
    known: bool,
    waits: Option<&'a Cell<bool>>,
}

impl<'p> FullCap<'p> {
    fn refusal(&self) -> CapDecision<'p> {
        let binding = self.policy.base.as_ref().unwrap();
        let cap = binding.capacity.in_flight.as_ref().unwrap();
        let refusal = CapRefusal { cap, binding, reason: Reason::OverCapacity, wait: Span::from_secs(1) };
        CapDecision { refusal: Some(refusal), ..CapDecision::default() }
    }
}

impl<'p> PermitPort<'p> for FullCap<'p> {
    fn cap_count(&self) -> usize {
        1
    }

    fn known_refusal(&self) -> Option<CapDecision<'p>> {
        self.known.then(|| self.refusal())
    }

    async fn admit(&self, _: Deadline) -> CapDecision<'p> {
        while self.waits.is_some_and(Cell::get) {
            Turn::default().await;
        }
        self.refusal()
    }
}

fn plan(deployment: &Deployment) -> Plan<'_> {
    let key = Subject::from_bytes([9; 16]);
    Plan::new(&deployment.policy, None, Subject::from_bytes([1; 16]), |_| Some(key))
}

fn full(deployment: &Deployment) -> FullCap<'_> {
    FullCap { policy: &deployment.policy, known: false, waits: None }
}

/// Sends a request that the full cap refuses.
fn refused_by_cap(deployment: &Deployment) -> Decision<'_> {
    let decision = run(deployment.gate().decide_with(&plan(deployment), &full(deployment)));
    assert!(!decision.is_allowed());
    decision
}

fn passing(deployment: &Deployment, count: usize) -> usize {
    deployment.passing(count, "/", 1, Some(9))
}

const OWN: &str = r#""per_ip": "100/min", "per_key": ["7/min", "10/day"], "in_flight": 1"#;

#[test]
fn chg_01_thousand_requests_refused_by_a_full_cap_use_nothing() {
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{{OWN}}}}}"#));
    for _ in 0..1_000 {
        assert!(refused_by_cap(&deployment).refusal.is_none(), "no limit of its own refuses");
    }
    assert_eq!(deployment.calls.get(), 2, "one for the address and one for the key");
    assert_eq!(passing(&deployment, 20), 7);
    deployment.forward(Span::from_secs(60));
    assert_eq!(passing(&deployment, 20), 3, "the rest of the day");
}

#[test]
fn chg_01_thousand_requests_refused_by_a_full_global_rate_use_nothing() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "100/min", "per_key": "10/day", "global": "1/min"}}"#;
    let deployment = Deployment::new(vars);
    assert!(deployment.passes("/", 2, Some(2)));
    assert_eq!(passing(&deployment, 1_000), 0);
    assert!(deployment.calls.get() <= 3 + 3, "{} calls", deployment.calls.get());
    for _ in 0..10 {
        deployment.forward(Span::from_secs(60));
        assert_eq!(passing(&deployment, 2), 1);
    }
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.request("/", 1, Some(9)).refusal.unwrap().limit.name, "base/key", "ten of the day");
}

#[test]
fn chg_01_unreachable_closed_limit_uses_nothing() {
    let vars = r#"{"LIMIT_BASE": {"per_key": ["5/min", "10/day"], "global": "1000/s"}}"#;
    let deployment = Deployment::new(vars);
    deployment.slow.replace(Some((Which::Shared, Span::from_secs(1))));
    for _ in 0..20 {
        let refusal = deployment.request("/", 1, Some(9)).refusal.unwrap();
        assert_eq!((refusal.limit.name.as_str(), refusal.reason), ("base/global", Reason::LimiterUnavailable));
    }
    deployment.slow.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(passing(&deployment, 20), 5);
    deployment.forward(Span::from_secs(60));
    assert_eq!(passing(&deployment, 20), 5, "the whole day, once it is checked again");
    assert_eq!(deployment.used("base/key-2"), 10);
}

#[test]
fn chg_01_caller_over_its_fair_share_uses_nothing() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "100000/day", "global": "20/s burst 3"}}"#);
    let mut passed = 0;
    for step in 0..2_000 {
        for ip in 0..8 {
            passed += u64::from(deployment.passes("/", ((ip + step) % 8) as u8, None));
        }
        deployment.forward(Span::from_millis(50));
    }
    let shares = deployment.state.fair_shares.borrow().len();
    assert!(shares > 0, "the rate is contended");
    let plans: Vec<Plan<'_>> =
        (0..8).map(|ip| Plan::new(&deployment.policy, None, Subject::from_bytes([ip; 16]), |_| None)).collect();
    deployment.return_idle_quota(&plans);
    assert_eq!(deployment.used("base/ip"), passed);
}

#[test]
fn chg_01_tokens_counted_alone_come_back_and_are_not_owed() {
    let limits = r#""per_ip": ["5/h", "8/day"], "on_error": "local", "in_flight": 1"#;
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{{limits}}}}}"#));
    deployment.error.replace(Some(CallError::Failed("down".to_owned())));
    (0..50).for_each(|_| drop(refused_by_cap(&deployment)));
    assert_eq!(deployment.passing(3, "/", 1, None), 3, "alone");
    (0..50).for_each(|_| drop(refused_by_cap(&deployment)));
    deployment.error.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.passing(10, "/", 1, None), 2, "the actor hears of three");
}

type Running<'a> = Pin<Box<dyn Future<Output = bool> + 'a>>;

/// Starts `count` requests that wait for the full cap, and returns them while they wait.
fn waiting<'a>(
    gate: &'a Gate<'a, Deployment>,
    plan: &'a Plan<'a>,
    cap: &'a FullCap<'a>,
    count: usize,
) -> Vec<Running<'a>> {
    let mut running: Vec<Running<'a>> =
        (0..count).map(|_| Box::pin(async { gate.decide_with(plan, cap).await.is_allowed() }) as Running<'a>).collect();
    for _ in 0..200 {
        running.retain_mut(|future| future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    running
}

#[test]
fn chg_01_requests_side_by_side_all_give_their_tokens_back() {
    for (count, order) in [(40, 1), (40, 7), (40, 39)] {
        let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "60/h", "in_flight": 1}}"#);
        let (gate, plan, waits) = (deployment.gate(), plan(&deployment), Cell::new(true));
        let cap = FullCap { policy: &deployment.policy, known: false, waits: Some(&waits) };
        assert_eq!(passing(&deployment, 1), 1, "its debt keeps the slots of the others from lapsing");
        let mut running = waiting(&gate, &plan, &cap, count);
        assert_eq!(running.len(), count);
        let other = GateState::default();
        let elsewhere = Gate { state: &other, ..deployment.gate() };
        let beside = (0..100).filter(|_| run(elsewhere.decide(&plan)).is_allowed()).count();
        assert_eq!(beside, 59 - count, "elsewhere there is less by as many as are under way");
        waits.set(false);
        let mut at = 0;
        while !running.is_empty() {
            at = (at + order) % running.len();
            let mut one = running.remove(at);
            assert!(one.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        assert_eq!(passing(&deployment, 100), count, "order {order}");
    }
}

#[test]
fn chg_01_client_that_leaves_while_it_waits_uses_nothing() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": ["9/h", "20/day"], "in_flight": 1}}"#);
    let (gate, plan, waits) = (deployment.gate(), plan(&deployment), Cell::new(true));
    let cap = FullCap { policy: &deployment.policy, known: false, waits: Some(&waits) };
    assert_eq!(passing(&deployment, 1), 1, "its debt keeps the slots of the others from lapsing");
    drop(waiting(&gate, &plan, &cap, 8));
    assert_eq!(passing(&deployment, 20), 8);
}

#[test]
fn chg_01_day_taken_by_requests_under_way_is_there_again() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "10/day", "in_flight": 1}}"#);
    let (gate, plan, waits) = (deployment.gate(), plan(&deployment), Cell::new(true));
    let cap = FullCap { policy: &deployment.policy, known: false, waits: Some(&waits) };
    let running = waiting(&gate, &plan, &cap, 13);
    assert_eq!(running.len(), 10, "three are told that the day is used up");
    drop(running);
    // The isolate and the actor have both been told that the day is used up. Neither may believe it
    // for longer than it holds the tokens.
    deployment.return_idle_quota(core::slice::from_ref(&plan));
    assert_eq!(deployment.used("base/ip"), 0);
    assert_eq!(passing(&deployment, 20), 10);
}

#[test]
fn full_cap_that_is_known_asks_no_actor() {
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{{OWN}}}}}"#));
    let plan = plan(&deployment);
    let cap = FullCap { known: true, ..full(&deployment) };
    assert!((0..100).all(|_| !run(deployment.gate().decide_with(&plan, &cap)).is_allowed()));
    assert_eq!(deployment.calls.get(), 0);
}

#[test]
fn wait_covers_a_token_that_lapses_before_the_retry() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "1/min", "in_flight": 1}}"#);
    let told = |decision: &Decision<'_>| decision.min_wait.max(decision.caps.refusal.unwrap().wait);
    let wait = told(&refused_by_cap(&deployment));
    deployment.forward(wait);
    assert_eq!(passing(&deployment, 1), 1, "after {wait}");
}
