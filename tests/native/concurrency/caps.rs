//! One request and all of its caps: which permits it gets, and how long it waits for them.

use crate::support::{EVENING, run};
use core::cell::{Cell, RefCell};
use penstock::concurrency::caps::Caps;
use penstock::concurrency::lease_table::{PermitGuard, PermitLeases};
use penstock::concurrency::permit_calls::PermitCalls;
use penstock::concurrency::plan::{PlannedCap, RequestKind, planned_caps};
use penstock::gate::deadline::Deadline;
use penstock::gate::decision::{CapDecision, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::{Cap, OnError, Policy};
use penstock::protocol::permits::{PermitActors, PermitAsk, PermitReply, TERM};
use penstock::protocol::rates::CallError;
use serde_json::{Value, json};
use std::rc::Rc;

const DEADLINE: Span = Span::from_millis(250);

thread_local! {
    /// The time of tests in which it passes. Each test runs in a thread of its own.
    static NOW: Cell<Time> = const { Cell::new(EVENING) };
}

fn pass_time(span: Span) {
    NOW.set(NOW.get().plus(span));
}

/// Actors that lend as many permits as are asked for, up to `most` at each cap. `None`: they are
/// overloaded and do not answer.
struct LendingActors {
    most: Option<u64>,
    calls: Cell<u32>,
}

impl LendingActors {
    fn up_to(most: Option<u64>) -> LendingActors {
        LendingActors { most, calls: Cell::new(0) }
    }
}

impl PermitActors for LendingActors {
    async fn ask(&self, _cap: &str, question: &PermitAsk, _patience: Span) -> Result<PermitReply, CallError> {
        self.calls.set(self.calls.get() + 1);
        let most = self.most.ok_or(CallError::Overloaded)?;
        let permits = question.wants.min(most);
        let (free, again) = (most - permits, Span::from_millis(50));
        Ok(PermitReply { permits, share: most, cap: most, free, term: TERM, again, rows: 1 })
    }

    async fn sleep(&self, _: Span) {}
}

fn policy(vars: Value) -> Policy {
    let Value::Object(vars) = vars else { panic!("an object") };
    Policy::read(&vars.into_iter().collect()).unwrap()
}

pub(super) fn policy_with_three_caps() -> Policy {
    policy(json!({
        "LIMIT_BASE": { "in_flight": 9, "priority": "low" },
        "LIMIT_X": { "route": "/x", "in_flight": 2, "wait": "1s", "sockets": 1 },
        "LIMIT_HEALTH": { "route": "/health", "exempt": true },
        "LIMIT_PAY": { "route": "/pay", "priority": "high" },
        "LIMIT_SHADOW": { "route": "/shadow", "in_flight": 2, "wait": "1s", "mode": "shadow" },
    }))
}

pub(super) fn planned<'p>(policy: &'p Policy, path: &str, kind: RequestKind) -> Vec<PlannedCap<'p>> {
    planned_caps(policy, policy.route("GET", "h", path), kind)
}

/// Lets a request of `caller` ask `caps` for permits, at the time `wall`.
fn admit_at<'p>(
    wall: fn() -> Time,
    actors: &impl PermitActors,
    leases: &RefCell<PermitLeases>,
    caps: &[PlannedCap<'p>],
    caller: u8,
) -> (CapDecision<'p>, Vec<PermitGuard>) {
    let calls = PermitCalls { actors, leases, deadline: DEADLINE, wall };
    let deadline = Deadline::after(wall(), DEADLINE);
    let caller = Subject::from_bytes([caller; 16]);
    let caps = Caps { calls, planned: caps.to_vec(), address: caller, permits: RefCell::default() };
    let decision = run(caps.admit(deadline));
    (decision, caps.permits.take())
}

/// The same, at a time that stands still.
fn admit<'p>(
    actors: &impl PermitActors,
    leases: &RefCell<PermitLeases>,
    caps: &[PlannedCap<'p>],
    caller: u8,
) -> (CapDecision<'p>, Vec<PermitGuard>) {
    admit_at(|| EVENING, actors, leases, caps, caller)
}

#[test]
fn request_refused_by_one_cap_keeps_no_permit_of_another() {
    let policy = policy_with_three_caps();
    let (actors, leases) = (LendingActors::up_to(Some(2)), RefCell::default());
    let base = planned(&policy, "/pay", RequestKind::Plain);
    let shadow_and_base = planned(&policy, "/shadow", RequestKind::Plain);
    let _held: Vec<_> = (0..2).map(|_| admit(&actors, &leases, &base, 1)).collect();
    let (decision, permits) = admit(&actors, &leases, &shadow_and_base, 1);
    assert!(permits.is_empty());
    assert_eq!(decision.refusal.unwrap().cap.name, "base/in-flight");
    let lease = leases.borrow_mut().of(shadow_and_base[0].cap);
    assert_eq!(lease.borrow_mut().in_use(EVENING), 0, "its permit of the other cap is free again");
    assert_eq!(decision.spent.limits, 2);
}

#[test]
fn full_cap_in_shadow_refuses_no_request_and_reports_it() {
    let policy = policy_with_three_caps();
    let (actors, leases) = (LendingActors::up_to(Some(0)), RefCell::default());
    let shadow = &planned(&policy, "/shadow", RequestKind::Plain)[..1];
    assert_eq!(shadow[0].wait, Span::ZERO, "a cap in shadow makes no request wait");
    let (decision, permits) = admit(&actors, &leases, shadow, 1);
    assert!(decision.refusal.is_none() && permits.is_empty());
    assert_eq!(decision.shadows[0].reason, Reason::OverCapacity);
}

#[test]
fn callers_refused_by_a_full_cap_come_back_after_one_to_three_seconds() {
    let policy = policy_with_three_caps();
    let (actors, leases) = (LendingActors::up_to(Some(0)), RefCell::default());
    let caps = planned(&policy, "/other", RequestKind::Plain);
    let wait = |caller| admit(&actors, &leases, &caps, caller).0.refusal.unwrap().wait.as_secs_up();
    assert_eq!((0..6).map(wait).collect::<Vec<u64>>(), [1, 2, 3, 1, 2, 3]);
    assert_eq!(actors.calls.get(), 1, "all refusals cost one call");
}

#[test]
fn on_error_decides_where_a_cap_cannot_be_checked() {
    let reasons = |on_error: &str| {
        let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5, "on_error": on_error } }));
        let (actors, leases) = (LendingActors::up_to(None), RefCell::default());
        let caps = planned(&policy, "/x", RequestKind::Plain);
        let admitted: Vec<_> = (0..4).map(|_| admit(&actors, &leases, &caps, 1)).collect();
        assert_eq!(actors.calls.get(), 1, "an overloaded actor is not asked again at once");
        assert_eq!(admitted[0].0.unchecked[0].1, CallError::Overloaded);
        assert_eq!(admitted[3].0.unchecked[0].1, CallError::NotAsked);
        admitted.iter().map(|(decision, _)| decision.refusal.map(|refusal| refusal.reason)).collect::<Vec<_>>()
    };
    assert_eq!(reasons("closed"), [Some(Reason::LimiterUnavailable); 4]);
    assert_eq!(reasons("open"), [None; 4]);
    assert_eq!(reasons("local")[0], None, "at least one passes");
    assert_eq!(reasons("local")[1..], [Some(Reason::OverCapacity); 3]);
}

/// Actors that lend nothing of base's cap, and permits of the binding's. While a request waits,
/// they note the fewest requests in flight under the binding's cap.
struct FullBase<'a> {
    leases: &'a RefCell<PermitLeases>,
    binding_cap: Rc<Cap>,
    fewest_in_flight: Cell<u64>,
}

impl PermitActors for FullBase<'_> {
    async fn ask(&self, cap: &str, question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        let most = if cap.starts_with("base") { 0 } else { 5 };
        LendingActors::up_to(Some(most)).ask(cap, question, patience).await
    }

    async fn sleep(&self, span: Span) {
        pass_time(span);
        let lease = self.leases.borrow_mut().of(&self.binding_cap);
        let in_flight = lease.borrow_mut().in_use(NOW.get());
        self.fewest_in_flight.set(self.fewest_in_flight.get().min(in_flight));
    }
}

#[test]
fn request_that_waits_for_a_second_permit_keeps_the_first() {
    let policy = policy(json!({
        "LIMIT_BASE": { "in_flight": 9, "wait": "5s" },
        "LIMIT_X": { "route": "/x", "in_flight": 5 },
    }));
    let (leases, caps) = (RefCell::new(PermitLeases::default()), planned(&policy, "/x", RequestKind::Plain));
    let binding_cap = Rc::clone(caps[0].cap);
    let actors = FullBase { leases: &leases, binding_cap, fewest_in_flight: Cell::new(u64::MAX) };
    let (decision, _) = admit_at(|| NOW.get(), &actors, &leases, &caps, 1);
    assert_eq!(decision.waited, Span::from_secs(5));
    assert_eq!(decision.refusal.unwrap().cap.name, "base/in-flight");
    assert!(NOW.get().since(EVENING) >= Span::from_secs(5));
    assert_eq!(actors.fewest_in_flight.get(), 1);
    pass_time(Span::from_secs(1));
    assert_eq!(leases.borrow_mut().of(caps[0].cap).borrow_mut().in_use(NOW.get()), 0, "the refused request has none");
}

/// Actors that never answer. They note how long each question waits.
#[derive(Default)]
struct SilentActors {
    waits: RefCell<Vec<Span>>,
}

impl PermitActors for SilentActors {
    async fn ask(&self, _cap: &str, _question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        self.waits.borrow_mut().push(patience);
        pass_time(patience);
        Err(CallError::Late)
    }

    async fn sleep(&self, span: Span) {
        pass_time(span);
    }
}

#[test]
fn all_caps_share_one_deadline_and_each_gets_some_of_it() {
    let policy = policy_with_three_caps();
    let (actors, leases) = (SilentActors::default(), RefCell::default());
    let caps = planned(&policy, "/x", RequestKind::Socket);
    let with_open = |met: &PlannedCap<'_>| Rc::new(Cap { on_error: OnError::Open, ..(**met.cap).clone() });
    let open: Vec<Rc<Cap>> = caps.iter().map(with_open).collect();
    let open: Vec<PlannedCap<'_>> = caps.iter().zip(&open).map(|(met, cap)| PlannedCap { cap, ..*met }).collect();
    let began = NOW.get();
    let (decision, permits) = admit_at(|| NOW.get(), &actors, &leases, &open, 1);
    assert_eq!((permits.len(), decision.unchecked.len(), decision.waited), (3, 3, Span::ZERO));
    assert_eq!(NOW.get().since(began), DEADLINE, "although one cap has a wait");
    assert_eq!(actors.waits.borrow().len(), 3);
    assert!(actors.waits.borrow().iter().all(|wait| *wait > Span::from_millis(10)));
}

/// Actors whose connection breaks for the next `breaks` questions.
struct BreakingConnection {
    breaks: Cell<u32>,
}

impl PermitActors for BreakingConnection {
    async fn ask(&self, cap: &str, question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        match self.breaks.get() {
            0 => LendingActors::up_to(Some(5)).ask(cap, question, patience).await,
            breaks => {
                self.breaks.set(breaks - 1);
                Err(CallError::Disconnected)
            }
        }
    }

    async fn sleep(&self, _: Span) {}
}

#[test]
fn broken_connection_is_tried_once_more() {
    let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5 } }));
    let caps = planned(&policy, "/x", RequestKind::Plain);
    for (breaks, permits, breaks_left) in [(1, 1, 0), (9, 0, 7)] {
        let (actors, leases) = (BreakingConnection { breaks: Cell::new(breaks) }, RefCell::default());
        let (_, held) = admit(&actors, &leases, &caps, 1);
        assert_eq!((held.len(), actors.breaks.get()), (permits, breaks_left));
    }
}

#[test]
fn cap_that_is_checked_again_is_reported_once() {
    let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5, "on_error": "open" } }));
    let (leases, caps) = (RefCell::default(), planned(&policy, "/x", RequestKind::Plain));
    let reports = |most| {
        pass_time(Span::from_secs(1));
        admit_at(|| NOW.get(), &LendingActors::up_to(most), &leases, &caps, 1).0.restored.len()
    };
    assert_eq!([None, None, Some(5), Some(5)].map(reports), [0, 0, 1, 0]);
}
