//! Which caps a request meets, and what becomes of it there.

use crate::support::{EVENING, run};
use core::cell::{Cell, RefCell};
use core::ops::Deref;
use penstock::concurrency::caps::Caps;
use penstock::concurrency::permit_calls::PermitCalls;
use penstock::concurrency::permit_leases::{PermitGuard, PermitLeases};
use penstock::concurrency::plan::{PlannedCap, RequestKind, planned_caps};
use penstock::gate::deadline::Deadline;
use penstock::gate::decision::{Admission, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::{Cap, OnError, Policy};
use penstock::protocol::permits::{PermitActors, PermitAsk, PermitReply, Reserve, TERM};
use penstock::protocol::rates::CallError;
use serde_json::{Value, json};
use std::rc::Rc;

const DEADLINE: Span = Span::from_millis(250);

/// Gives what it is asked for, up to so many at each cap; `None` answers nothing.
struct Giving(Option<u64>, Cell<u32>);

impl PermitActors for Giving {
    async fn ask(&self, _cap: &str, question: &PermitAsk, _patience: Span) -> Result<PermitReply, CallError> {
        self.1.set(self.1.get() + 1);
        let most = self.0.ok_or(CallError::Overloaded)?;
        let slots = question.wants.min(most);
        let again = Span::from_millis(50);
        Ok(PermitReply { slots, share: most, cap: most, free: most - slots, term: TERM, again, rows: 1 })
    }

    async fn sleep(&self, _: Span) {}
}

fn policy(vars: Value) -> Policy {
    let Value::Object(vars) = vars else { panic!("an object") };
    Policy::read(&vars.into_iter().collect()).unwrap()
}

fn three() -> Policy {
    policy(json!({
        "LIMIT_BASE": { "in_flight": 9, "priority": "low" },
        "LIMIT_X": { "route": "/x", "in_flight": 2, "wait": "1s", "sockets": 1 },
        "LIMIT_HEALTH": { "route": "/health", "exempt": true },
        "LIMIT_PAY": { "route": "/pay", "priority": "high" },
        "LIMIT_SHADOW": { "route": "/shadow", "in_flight": 2, "wait": "1s", "mode": "shadow" },
    }))
}

fn caps<'p>(policy: &'p Policy, path: &str, kind: RequestKind) -> Vec<PlannedCap<'p>> {
    planned_caps(policy, policy.route("GET", "h", path), kind)
}

/// What the caps said to a request, and the permits that it has.
struct Admitted<'p> {
    admission: Admission<'p>,
    permits: Vec<PermitGuard>,
}

impl<'p> Deref for Admitted<'p> {
    type Target = Admission<'p>;

    fn deref(&self) -> &Admission<'p> {
        &self.admission
    }
}

/// Asks `caps` for permits, within [`DEADLINE`].
async fn enter<'p>(
    calls: PermitCalls<'_, impl PermitActors>,
    caps: &[PlannedCap<'p>],
    caller: Subject,
) -> Admitted<'p> {
    let deadline = Deadline::after((calls.wall)(), DEADLINE);
    let caps = Caps { calls, planned: caps.to_vec(), caller, permits: RefCell::default() };
    let admission = caps.admit(deadline).await;
    Admitted { admission, permits: caps.permits.take() }
}

fn let_in<'p>(actors: &Giving, leases: &RefCell<PermitLeases>, caps: &[PlannedCap<'p>], caller: u8) -> Admitted<'p> {
    let admit = PermitCalls { actors, leases, patience: DEADLINE, wall: || EVENING };
    run(enter(admit, caps, Subject::from_bytes([caller; 16])))
}

#[test]
fn a_request_meets_its_bindings_cap_and_bases_and_a_socket_one_more() {
    let policy = three();
    let names = |path, kind| caps(&policy, path, kind).iter().map(|met| met.cap.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("/x", RequestKind::Plain), ["x/in-flight", "base/in-flight"]);
    assert_eq!(names("/x", RequestKind::Socket), ["x/in-flight", "base/in-flight", "x/sockets"]);
    assert_eq!(names("/other", RequestKind::Socket), ["base/in-flight"]);
    assert!(names("/health", RequestKind::Socket).is_empty());
}

#[test]
fn what_a_request_leaves_depends_on_who_else_meets_the_cap() {
    let policy = three();
    let reserve = |path| caps(&policy, path, RequestKind::Plain).iter().map(|met| met.reserve).collect::<Vec<_>>();
    assert_eq!(reserve("/x"), [Reserve::Nothing, Reserve::Tenth], "nobody of a higher priority meets its own cap");
    assert_eq!(reserve("/pay"), [Reserve::Nothing]);
    assert_eq!(reserve("/other"), [Reserve::Fifth]);
    assert_eq!((Reserve::Fifth.of_cap(4), Reserve::Fifth.of_cap(5), Reserve::Tenth.of_cap(9)), (0, 1, 0));
}

#[test]
fn whom_one_cap_refuses_has_a_place_under_none() {
    let policy = three();
    let (actors, leases) = (Giving(Some(2), Cell::new(0)), RefCell::default());
    let base = caps(&policy, "/pay", RequestKind::Plain);
    let x = caps(&policy, "/shadow", RequestKind::Plain);
    let _held: Vec<_> = (0..2).map(|_| let_in(&actors, &leases, &base, 1)).collect();
    let entry = let_in(&actors, &leases, &x, 1);
    assert!(entry.permits.is_empty());
    assert_eq!(entry.refusal.unwrap().cap.name, "base/in-flight");
    let now = EVENING;
    assert_eq!(leases.borrow_mut().of(x[0].cap).borrow_mut().in_use(now), 0, "its place under the other is free again");
    assert_eq!(entry.spent.limits, 2);
}

#[test]
fn shadow_refuses_nobody_and_tells() {
    let policy = three();
    let (actors, leases) = (Giving(Some(0), Cell::new(0)), RefCell::default());
    let shadow = &caps(&policy, "/shadow", RequestKind::Plain)[..1];
    assert_eq!(shadow[0].wait, Span::ZERO, "nor does it make anybody wait");
    let entry = let_in(&actors, &leases, shadow, 1);
    assert!(entry.refusal.is_none() && entry.permits.is_empty());
    assert_eq!(entry.shadows[0].reason, Reason::OverCapacity);
}

#[test]
fn those_who_find_it_full_come_back_after_one_to_three_seconds() {
    let policy = three();
    let (actors, leases) = (Giving(Some(0), Cell::new(0)), RefCell::default());
    let other = caps(&policy, "/other", RequestKind::Plain);
    let waits: Vec<u64> =
        (0..6).map(|caller| let_in(&actors, &leases, &other, caller).refusal.unwrap().wait.as_secs_up()).collect();
    assert_eq!(waits, [1, 2, 3, 1, 2, 3]);
    assert_eq!(actors.1.get(), 1, "and cost one call together");
}

#[test]
fn a_cap_that_cannot_be_checked_does_what_on_error_says() {
    let of = |on_error: &str| {
        let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5, "on_error": on_error } }));
        let (actors, leases) = (Giving(None, Cell::new(0)), RefCell::default());
        let met = caps(&policy, "/x", RequestKind::Plain);
        let entries: Vec<_> = (0..4).map(|_| let_in(&actors, &leases, &met, 1)).collect();
        assert_eq!(actors.1.get(), 1, "one in trouble is not asked again at once");
        assert_eq!(entries[0].unchecked[0].1, CallError::Overloaded);
        assert_eq!(entries[3].unchecked[0].1, CallError::NotAsked);
        entries.iter().map(|entry| entry.refusal.map(|refusal| refusal.reason)).collect::<Vec<_>>()
    };
    assert_eq!(of("closed"), [Some(Reason::LimiterUnavailable); 4]);
    assert_eq!(of("open"), [None; 4]);
    assert_eq!(of("local")[0], None, "at least one");
    assert_eq!(of("local")[1..], [Some(Reason::OverCapacity); 3]);
}

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(EVENING) };
}

/// Gives what it is asked for at the binding's cap and nothing at base's, and notes how few have a place at the former.
struct FullElsewhere<'a>(&'a RefCell<PermitLeases>, Rc<Cap>, Cell<u64>);

impl PermitActors for FullElsewhere<'_> {
    async fn ask(&self, cap: &str, question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        Giving(Some(if cap.starts_with("base") { 0 } else { 5 }), Cell::new(0)).ask(cap, question, patience).await
    }

    async fn sleep(&self, span: Span) {
        NOW.set(NOW.get().plus(span));
        let lease = self.0.borrow_mut().of(&self.1);
        let used = lease.borrow_mut().in_use(NOW.get());
        self.2.set(self.2.get().min(used));
    }
}

#[test]
fn who_waits_for_a_second_place_keeps_the_first() {
    let policy = policy(json!({
        "LIMIT_BASE": { "in_flight": 9, "wait": "5s" },
        "LIMIT_X": { "route": "/x", "in_flight": 5 },
    }));
    let (leases, caps) = (RefCell::new(PermitLeases::default()), caps(&policy, "/x", RequestKind::Plain));
    let actors = FullElsewhere(&leases, Rc::clone(caps[0].cap), Cell::new(u64::MAX));
    let admit = PermitCalls { actors: &actors, leases: &leases, patience: DEADLINE, wall: || NOW.get() };
    let entry = run(enter(admit, &caps, Subject::from_bytes([1; 16])));
    assert_eq!(entry.waited, Span::from_secs(5));
    assert_eq!(entry.refusal.unwrap().cap.name, "base/in-flight");
    assert!(NOW.get().since(EVENING) >= Span::from_secs(5));
    assert_eq!(actors.2.get(), 1);
    NOW.set(NOW.get().plus(Span::from_secs(1)));
    assert_eq!(leases.borrow_mut().of(caps[0].cap).borrow_mut().in_use(NOW.get()), 0, "and then has none");
}

/// Never answers.
struct Hanging(RefCell<Vec<Span>>);

impl PermitActors for Hanging {
    async fn ask(&self, _cap: &str, _question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        self.0.borrow_mut().push(patience);
        NOW.set(NOW.get().plus(patience));
        Err(CallError::Late)
    }

    async fn sleep(&self, span: Span) {
        NOW.set(NOW.get().plus(span));
    }
}

#[test]
fn all_caps_together_have_one_deadline_and_each_some_of_it() {
    let policy = three();
    let (actors, leases, caps) =
        (Hanging(RefCell::default()), RefCell::default(), caps(&policy, "/x", RequestKind::Socket));
    let admit = PermitCalls { actors: &actors, leases: &leases, patience: DEADLINE, wall: || NOW.get() };
    let open = |met: &PlannedCap<'_>| Rc::new(Cap { on_error: OnError::Open, ..(**met.cap).clone() });
    let open: Vec<Rc<Cap>> = caps.iter().map(open).collect();
    let open: Vec<PlannedCap<'_>> = caps.iter().zip(&open).map(|(met, cap)| PlannedCap { cap, ..*met }).collect();
    let begun = NOW.get();
    let entry = run(enter(admit, &open, Subject::from_bytes([1; 16])));
    assert_eq!((entry.permits.len(), entry.unchecked.len(), entry.waited), (3, 3, Span::ZERO));
    assert_eq!(NOW.get().since(begun), DEADLINE, "although one may be waited for");
    assert_eq!(actors.0.borrow().len(), 3);
    assert!(actors.0.borrow().iter().all(|patience| *patience > Span::from_millis(10)));
}

/// The way to it breaks so many times.
struct Breaking(Cell<u32>);

impl PermitActors for Breaking {
    async fn ask(&self, cap: &str, question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        match self.0.get() {
            0 => Giving(Some(5), Cell::new(0)).ask(cap, question, patience).await,
            times => {
                self.0.set(times - 1);
                Err(CallError::Disconnected)
            }
        }
    }

    async fn sleep(&self, _: Span) {}
}

#[test]
fn a_way_that_breaks_is_tried_once_more() {
    let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5 } }));
    let met = caps(&policy, "/x", RequestKind::Plain);
    for (times, permits, left) in [(1, 1, 0), (9, 0, 7)] {
        let (actors, leases) = (Breaking(Cell::new(times)), RefCell::default());
        let admit = PermitCalls { actors: &actors, leases: &leases, patience: DEADLINE, wall: || EVENING };
        let entry = run(enter(admit, &met, Subject::from_bytes([1; 16])));
        assert_eq!((entry.permits.len(), actors.0.get()), (permits, left));
    }
}

#[test]
fn it_is_told_once_that_a_cap_is_checked_again() {
    let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": 5, "on_error": "open" } }));
    let (leases, met) = (RefCell::default(), caps(&policy, "/x", RequestKind::Plain));
    let request = |actors: &Giving| {
        NOW.set(NOW.get().plus(Span::from_secs(1)));
        let admit = PermitCalls { actors, leases: &leases, patience: DEADLINE, wall: || NOW.get() };
        run(enter(admit, &met, Subject::from_bytes([1; 16]))).restored.len()
    };
    let told: Vec<usize> = [None, None, Some(5), Some(5)].map(|most| request(&Giving(most, Cell::new(0)))).into();
    assert_eq!(told, [0, 0, 1, 0]);
}
