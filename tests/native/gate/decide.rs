//! The order of a decision: a refused request takes nothing of the limits after the one that
//! refuses.

use super::support::Deployment;
use penstock::gate::decision::Reason;
use penstock::limit::time::Span;

#[test]
fn atm_02_refused_address_takes_nothing_of_the_global_limit() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "1/min", "global": "10/min"}}"#);
    assert_eq!(deployment.passing(20, "/", 0, None), 1);
    let others = (1..=9).filter(|ip| deployment.passes("/", *ip, None)).count();
    assert_eq!(others, 9);
    let crowded = deployment.request("/", 10, None);
    assert_eq!(crowded.refusal.unwrap().reason, Reason::OverCapacity);
}

#[test]
fn contended_route_and_base_do_not_drain_each_other() {
    let deployment = Deployment::new(
        r#"{"LIMIT_BASE": {"global": "20/min"}, "LIMIT_NARROW": {"route": "/narrow", "global": "5/min"}}"#,
    );
    assert_eq!(deployment.passing(100, "/narrow", 1, None), 5);
    assert_eq!(deployment.passing(100, "/", 1, None), 15);
    deployment.forward(Span::from_secs(12));
    assert_eq!(deployment.passing(100, "/", 1, None), 4);
    assert_eq!(deployment.passing(100, "/narrow", 1, None), 0, "base is full");
    deployment.forward(Span::from_secs(3));
    assert_eq!(deployment.passing(100, "/narrow", 1, None), 1, "and narrow was not drained by that");
}

#[test]
fn refusal_by_a_shared_rate_takes_nothing_of_the_shared_quota() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": ["1000/day", "5/min"]}}"#);
    assert_eq!(deployment.passing(50, "/", 1, None), 5);
    assert_eq!(deployment.used("base/global"), 5);
}

#[test]
fn key_01_fresh_keys_do_not_bypass_the_address_limit() {
    let deployment = Deployment::new(r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "20/min", "per_key": "5/min"}}"#);
    let passed = (0..100).filter(|key| deployment.passes("/", 1, Some(*key))).count();
    assert_eq!(passed, 20);
}

#[test]
fn refusal_by_the_key_is_charged_to_the_address_only() {
    let deployment = Deployment::new(
        r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "20/min", "per_key": "5/min", "global": "100/min"}}"#,
    );
    assert_eq!(deployment.passing(15, "/", 1, Some(1)), 5);
    assert_eq!(deployment.passing(15, "/", 1, Some(2)), 5, "five left at the address");
    assert_eq!(deployment.passing(200, "/", 2, None) + deployment.passing(200, "/", 3, None), 40);
    let mut left = 0;
    for ip in 10..200 {
        left += deployment.passing(20, "/", ip, None);
    }
    assert_eq!(left, 100 - 10 - 40);
}

#[test]
fn refusal_by_the_address_takes_nothing_of_the_key() {
    let deployment = Deployment::new(r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "2/min", "per_key": "5/min"}}"#);
    assert_eq!(deployment.passing(50, "/", 1, Some(1)), 2);
    assert_eq!(deployment.passing(50, "/", 2, Some(1)), 2);
    assert_eq!(deployment.passing(50, "/", 3, Some(1)), 1);
}

#[test]
fn several_refusals_tell_the_longest_wait() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": ["2/s", "2/h", "2/min"]}}"#);
    assert_eq!(deployment.passing(3, "/", 1, None), 2);
    let refusal = deployment.request("/", 1, None).refusal.unwrap();
    assert_eq!((refusal.limit.name.as_str(), refusal.wait), ("base/ip-2", Span::from_secs(1_800)));
}
