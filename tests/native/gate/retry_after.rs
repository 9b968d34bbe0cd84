//! The wait that is told covers all limits that the isolate knows, not only the one that refused.

use super::support::Deployment;
use crate::support::run;
use penstock::gate::decision::Decision;
use penstock::gate::plan::Plan;
use penstock::identity::Subject;
use penstock::limit::time::Span;

/// Returns the limit that refuses, and the wait that is told.
fn told<'p>(decision: &Decision<'p>) -> Option<(&'p str, Span)> {
    let refusal = decision.refusal.as_ref()?;
    Some((refusal.limit.name.as_str(), refusal.wait.max(decision.min_wait)))
}

const fn secs(count: u64) -> Span {
    Span::from_secs(count)
}

#[test]
fn wait_covers_another_limit_that_is_used_up() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/s", "global": "3/min"}}"#);
    for _ in 0..2 {
        assert!(deployment.passes("/x", 1, None));
        assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(1))));
        deployment.forward(secs(1));
    }
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(18))), "the shared one has room then");
    deployment.forward(secs(18));
    assert!(deployment.passes("/x", 1, None));
}

#[test]
fn wait_covers_the_limit_that_the_refused_request_emptied() {
    let limits = r#""per_ip": "3/min", "per_key": "6/min burst 1""#;
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(told(&deployment.request("/x", 1, Some(1))), Some(("x/key", secs(10))));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/key", secs(20))),
        "the address has paid its last token"
    );
    deployment.forward(secs(20));
    assert!(deployment.passes("/x", 1, Some(1)));
    // The same where a shared limit refuses, and the token that came back lapses before that has room.
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/min", "global": "6/min burst 1"}}"#);
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 2, None)), Some(("x/global", secs(60))));
    deployment.forward(secs(60));
    assert!(deployment.passes("/x", 2, None));
}

#[test]
fn partial_token_shortens_the_wait() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "2/h", "per_key": "60/min burst 1"}}"#);
    assert!(deployment.passes("/x", 1, Some(1)));
    deployment.forward(secs(29 * 60));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/ip", secs(60))),
        "but for a minute it has another one"
    );
}

#[test]
fn used_up_day_waits_for_a_limit_that_lasts_longer() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/day", "global": "1/30d"}}"#);
    assert!(deployment.passes("/x", 1, None));
    let mut refused = deployment.request("/x", 1, None);
    assert_eq!(told(&refused), Some(("x/ip", secs(30 * 86_400))));
    let refusal = refused.refusal.as_mut().unwrap();
    assert!(refusal.until.is_some());
    refusal.wait_at_least(refused.min_wait);
    assert_eq!((refusal.wait, refusal.until), (secs(30 * 86_400), None), "it is not the next day that is waited for");
}

#[test]
fn shadow_limits_and_tokens_in_hand_add_no_wait() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "1/h", "mode": "shadow"}, "LIMIT_X": {"route": "/x", "per_ip": "1/min"}}"#;
    let deployment = Deployment::new(vars);
    assert!(deployment.passes("/x", 1, None));
    assert_eq!(told(&deployment.request("/x", 1, None)), Some(("x/ip", secs(60))));
}

#[test]
fn passing_request_has_no_wait() {
    let deployment = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/h"}}"#);
    assert_eq!(deployment.request("/x", 1, None).min_wait, Span::ZERO);
}

#[test]
fn wait_covers_a_used_up_day_and_a_warming_rate() {
    let hours = |limits: &str| {
        let deployment = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", "per_ip": "1/s", {limits}}}}}"#));
        assert!(deployment.passes("/x", 1, None));
        let (limit, wait) = told(&deployment.request("/x", 1, None)).unwrap();
        assert_eq!(limit, "x/ip");
        deployment.forward(wait);
        assert!(deployment.passes("/x", 1, None), "{wait}");
        wait
    };
    assert!(hours(r#""global": "1/day""#) > secs(60));
    assert!(hours(r#""global": "20/min burst 10", "warmup": "30s""#) > secs(3));
}

#[test]
fn returned_last_token_of_a_day_adds_no_wait() {
    let limits = r#""per_ip": "10/min burst 1", "per_key": "2/day""#;
    let deployment = Deployment::new(&format!(r#"{{"KEY": "bearer", "LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(deployment.passes("/x", 1, Some(1)));
    assert_eq!(
        told(&deployment.request("/x", 1, Some(1))),
        Some(("x/ip", secs(6))),
        "its key's last token was not needed"
    );
    let route = deployment.policy.route("GET", "example.com", "/x");
    let plan =
        Plan::new(&deployment.policy, route, Subject::from_bytes([1; 16]), |_| Some(Subject::from_bytes([1; 16])));
    for task in deployment.gate().idle_quota_tasks(&plan) {
        run(deployment.gate().return_idle_quota(task));
    }
    assert_eq!(told(&deployment.request("/x", 1, Some(1))).map(|(limit, _)| limit), Some("x/ip"));
    let wait = told(&deployment.request("/x", 1, Some(1))).unwrap().1;
    assert!(wait <= secs(6), "{} s", wait.as_secs_up());
    deployment.forward(wait);
    assert!(deployment.passes("/x", 1, Some(1)));
}
