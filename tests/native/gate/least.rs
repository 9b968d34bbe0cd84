//! A wait that is told is true of all limits that the isolate knows of, not of the refusing one alone.

use super::support::Deployment;
use crate::support::run;
use penstock::gate::decision::Decision;
use penstock::gate::plan::Plan;
use penstock::identity::Subject;
use penstock::limit::time::Span;

/// Who refuses, and how long whoever obeys waits.
fn told<'p>(decision: &Decision<'p>) -> Option<(&'p str, Span)> {
    let refusal = decision.refusal.as_ref()?;
    Some((refusal.limit.name.as_str(), refusal.wait.max(decision.min_wait)))
}

const fn secs(count: u64) -> Span {
    Span::from_secs(count)
}

#[test]
fn who_is_too_fast_for_one_limit_is_told_of_the_one_that_it_has_used_up_as_well() {
    let world = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/s", "global": "3/min"}}"#);
    for _ in 0..2 {
        assert!(world.passes("/x", 1, None));
        assert_eq!(told(&world.request("/x", 1, None)), Some(("x/ip", secs(1))));
        world.forward(secs(1));
    }
    assert!(world.passes("/x", 1, None));
    assert_eq!(told(&world.request("/x", 1, None)), Some(("x/ip", secs(18))), "the shared one has room then");
    world.forward(secs(18));
    assert!(world.passes("/x", 1, None));
}

#[test]
fn who_pays_at_its_address_and_is_refused_later_waits_for_its_address_too() {
    let limits = r#""per_ip": "3/min", "per_key": "6/min burst 1""#;
    let world = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(world.passes("/x", 1, Some(1)));
    assert_eq!(told(&world.request("/x", 1, Some(1))), Some(("x/key", secs(10))));
    assert_eq!(
        told(&world.request("/x", 1, Some(1))),
        Some(("x/key", secs(20))),
        "the address has paid its last token"
    );
    world.forward(secs(20));
    assert!(world.passes("/x", 1, Some(1)));
    // The same where everyone together was too fast.
    let world = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/min", "global": "6/min burst 1"}}"#);
    assert!(world.passes("/x", 1, None));
    assert_eq!(told(&world.request("/x", 2, None)), Some(("x/global", secs(60))));
    world.forward(secs(60));
    assert!(world.passes("/x", 2, None));
}

#[test]
fn what_is_left_of_a_token_shortens_the_wait() {
    let world = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "2/h", "per_key": "60/min burst 1"}}"#);
    assert!(world.passes("/x", 1, Some(1)));
    world.forward(secs(29 * 60));
    assert!(world.passes("/x", 1, Some(1)));
    assert_eq!(told(&world.request("/x", 1, Some(1))), Some(("x/ip", secs(60))), "but for a minute it has another one");
}

#[test]
fn who_has_used_up_a_day_waits_for_what_lasts_longer_than_the_day() {
    let world = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "2/day", "global": "1/30d"}}"#);
    assert!(world.passes("/x", 1, None));
    assert_eq!(told(&world.request("/x", 1, None)).map(|(limit, _)| limit), Some("x/global"));
    let mut refused = world.request("/x", 1, None);
    assert_eq!(told(&refused), Some(("x/ip", secs(30 * 86_400))));
    let refusal = refused.refusal.as_mut().unwrap();
    assert!(refusal.until.is_some());
    refusal.wait_for(refused.min_wait);
    assert_eq!((refusal.wait, refusal.until), (secs(30 * 86_400), None), "it is not the next day that is waited for");
}

#[test]
fn limits_in_shadow_and_tokens_in_hand_make_nobody_wait() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "1/h", "mode": "shadow"}, "LIMIT_X": {"route": "/x", "per_ip": "1/min"}}"#;
    let world = Deployment::new(vars);
    assert!(world.passes("/x", 1, None));
    assert_eq!(told(&world.request("/x", 1, None)), Some(("x/ip", secs(60))));
}

#[test]
fn who_is_let_pass_is_told_of_no_wait() {
    let world = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/h"}}"#);
    assert_eq!(world.request("/x", 1, None).min_wait, Span::ZERO);
}

#[test]
fn a_day_that_is_used_up_and_a_rate_that_is_warming_up_are_told_of() {
    let hours = |limits: &str| {
        let world = Deployment::new(&format!(r#"{{"LIMIT_X": {{"route": "/x", "per_ip": "1/s", {limits}}}}}"#));
        assert!(world.passes("/x", 1, None));
        let (limit, wait) = told(&world.request("/x", 1, None)).unwrap();
        assert_eq!(limit, "x/ip");
        world.forward(wait);
        assert!(world.passes("/x", 1, None), "{wait}");
        wait
    };
    assert!(hours(r#""global": "1/day""#) > secs(60));
    assert!(hours(r#""global": "20/min burst 10", "warmup": "30s""#) > secs(3));
}

#[test]
fn a_day_whose_last_token_was_given_back_is_not_told_to_be_over() {
    let limits = r#""per_ip": "10/min burst 1", "per_key": "2/day""#;
    let world = Deployment::new(&format!(r#"{{"KEY": "bearer", "LIMIT_X": {{"route": "/x", {limits}}}}}"#));
    assert!(world.passes("/x", 1, Some(1)));
    assert_eq!(told(&world.request("/x", 1, Some(1))), Some(("x/ip", secs(6))), "its key's last token was not needed");
    let route = world.policy.route("GET", "example.com", "/x");
    let plan = Plan::new(&world.policy, route, Subject::from_bytes([1; 16]), |_| Some(Subject::from_bytes([1; 16])));
    for task in world.gate().idle_quota_tasks(&plan) {
        run(world.actor_calls().return_idle_quota(task));
    }
    assert_eq!(told(&world.request("/x", 1, Some(1))).map(|(limit, _)| limit), Some("x/ip"));
    let wait = told(&world.request("/x", 1, Some(1))).unwrap().1;
    assert!(wait <= secs(6), "{} s", wait.as_secs_up());
    world.forward(wait);
    assert!(world.passes("/x", 1, Some(1)));
}
