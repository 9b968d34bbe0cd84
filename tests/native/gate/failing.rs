//! When an actor does not answer, `on_error` decides; and never more than it promises passes.

use super::support::Deployment;
use penstock::gate::decision::Reason;
use penstock::limit::time::Span;
use penstock::protocol::rates::CallError;

fn down(vars: &str) -> Deployment {
    let deployment = Deployment::new(vars);
    deployment.error.replace(Some(CallError::Late));
    deployment
}

#[test]
fn closed_refuses_and_says_that_it_could_not_check() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min", "on_error": "closed"}}"#);
    let decision = deployment.request("/", 1, None);
    assert_eq!(decision.refusal.unwrap().reason, Reason::LimiterUnavailable);
    assert_eq!(decision.unchecked.len(), 1);
}

#[test]
fn a_global_limit_is_closed_by_default_and_a_callers_local() {
    let deployment = down(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}

#[test]
fn open_lets_everything_pass_and_notes_each() {
    let deployment = down(r#"{"LIMIT_BASE": {"global": "5/min", "per_ip": "5/min", "on_error": "open"}}"#);
    for _ in 0..20 {
        let decision = deployment.request("/", 1, None);
        assert!(decision.refusal.is_none());
        assert_eq!(decision.unchecked.len(), 2);
    }
}

#[test]
fn local_goes_on_at_the_limits_own_rate_for_each_caller() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    for ip in 0..5 {
        assert_eq!(deployment.passing(20, "/", ip, None), 5);
    }
    deployment.forward(Span::from_secs(24));
    assert_eq!(deployment.passing(20, "/", 1, None), 2);
}

#[test]
fn local_counts_a_day_too_and_ends_it_at_midnight() {
    let deployment = down(r#"{"KEY": "bearer", "LIMIT_BASE": {"per_key": "5/day"}}"#);
    assert_eq!(deployment.passing(20, "/", 1, Some(1)), 5);
    let refusal = deployment.request("/", 1, Some(1)).refusal.unwrap();
    assert_eq!((refusal.reason, refusal.wait), (Reason::QuotaExhausted, Span::from_secs(6 * 3_600)));
    deployment.forward(Span::from_secs(6 * 3_600));
    assert_eq!(deployment.passing(20, "/", 1, Some(1)), 5);
}

#[test]
fn each_of_several_limits_goes_its_own_way() {
    let deployment = down(
        r#"{"LIMIT_BASE": {"per_ip": "5/min", "on_error": "open"},
            "LIMIT_X": {"route": "/x", "per_ip": "3/min"},
            "LIMIT_Y": {"route": "/y", "per_ip": "3/min", "on_error": "closed"}}"#,
    );
    assert_eq!(deployment.passing(10, "/", 1, None), 10);
    assert_eq!(deployment.passing(10, "/x", 1, None), 3);
    assert_eq!(deployment.passing(10, "/y", 1, None), 0);
}

#[test]
fn a_limit_in_shadow_refuses_nobody_even_when_it_cannot_be_checked() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min", "mode": "shadow", "on_error": "closed"}}"#);
    let decision = deployment.request("/", 1, None);
    assert!(decision.refusal.is_none());
    assert_eq!(decision.shadows.len(), 1);
}
