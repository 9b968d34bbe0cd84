//! An isolate leaves a failing actor alone for a pause, and one question finds out whether the
//! trouble is over.

use crate::gate::support::{Deployment, Which, now};
use penstock::gate::state::actor_health::ActorHealth;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::protocol::circuit_breaker::{CallPermission, CallResult};
use penstock::protocol::rates::{ActorKey, CallError};

const NOW: Time = Time::from_millis(1_795_975_200_000);
const PATIENCE: Span = Span::from_millis(250);

const fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

#[test]
fn isolates_probe_a_failed_actor_at_different_times() {
    let actor = ActorKey::Shared("base/global".into());
    let mut returns: Vec<u64> = (0..64_u64)
        .map(|isolate| {
            let mut actor_health = ActorHealth::new(isolate);
            actor_health.record(&actor, CallPermission::Usual, CallResult::Overload, NOW, NOW);
            (0..1_000)
                .find(|millis| actor_health.permission(&actor, NOW.plus(ms(*millis)), PATIENCE).is_some())
                .unwrap()
        })
        .collect();
    returns.sort_unstable();
    assert!(returns[0] >= 125 && returns[63] <= 375, "{returns:?}");
    assert!(returns[48] - returns[16] > 60, "spread, {returns:?}");
}

#[test]
fn failed_actor_opens_only_its_own_breaker() {
    let mut actor_health = ActorHealth::new(1);
    let [bad, good] = [0, 1].map(|shard| ActorKey::Ip(Subject::from_bytes([shard; 16])));
    actor_health.record(&bad, CallPermission::Usual, CallResult::Overload, NOW, NOW);
    assert!(actor_health.is_open(&bad) && !actor_health.is_open(&good));
    assert!(!actor_health.is_open(&ActorKey::Key(Subject::from_bytes([0; 16]))));
}

#[test]
fn open_breaker_costs_no_call_and_no_time() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min", "global": "100/s", "on_error": "open"}}"#);
    deployment.slow.replace(Some((Which::All, Span::from_secs(60))));
    for _ in 0..2 {
        let begun = now();
        assert!(deployment.passes("/", 1, None));
        assert!(now().since(begun) <= ms(250), "one deadline for all of them");
    }
    let (begun, calls) = (now(), deployment.calls.get());
    for _ in 0..1_000 {
        assert!(deployment.passes("/", 1, None));
    }
    assert_eq!((now(), deployment.calls.get()), (begun, calls));
}

#[test]
fn recovered_actor_is_found_by_one_call() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min", "on_error": "closed"}}"#);
    assert!(deployment.passes("/", 1, None));
    deployment.error.replace(Some(CallError::Overloaded));
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    deployment.error.replace(None);
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    deployment.forward(ms(400));
    let calls = deployment.calls.get();
    let decision = deployment.request("/", 1, None);
    assert_eq!((decision.refusal.is_none(), decision.restored.len()), (true, 1));
    assert_eq!(deployment.calls.get(), calls + 1);
    assert!(deployment.request("/", 1, None).restored.is_empty(), "it is said once");
}

#[test]
fn leases_are_spent_while_the_breaker_is_open() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "1000/s burst 1000", "on_error": "closed"}}"#);
    // Requests come fast enough for leases.
    for _ in 0..40 {
        deployment.passing(4, "/", 1, None);
        deployment.forward(ms(10));
    }
    deployment.error.replace(Some(CallError::Overloaded));
    let calls = deployment.calls.get();
    assert!(deployment.passing(1_000, "/", 1, None) > 10);
    assert!(deployment.calls.get() <= calls + 1);
}
