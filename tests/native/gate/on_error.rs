//! An actor that does not answer leaves the decision to `on_error`, which admits no more than it
//! promises.

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
fn closed_limit_refuses_as_unavailable() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min", "on_error": "closed"}}"#);
    let decision = deployment.request("/", 1, None);
    assert_eq!(decision.refusal.unwrap().reason, Reason::LimiterUnavailable);
    assert_eq!(decision.unchecked.len(), 1);
}

#[test]
fn default_is_closed_for_global_limits_and_local_for_callers() {
    let deployment = down(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}

#[test]
fn open_limit_passes_all_and_notes_each() {
    let deployment = down(r#"{"LIMIT_BASE": {"global": "5/min", "per_ip": "5/min", "on_error": "open"}}"#);
    for _ in 0..20 {
        let decision = deployment.request("/", 1, None);
        assert!(decision.refusal.is_none());
        assert_eq!(decision.unchecked.len(), 2);
    }
}

#[test]
fn local_limit_counts_each_caller_at_its_rate() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    for ip in 0..5 {
        assert_eq!(deployment.passing(20, "/", ip, None), 5);
    }
    deployment.forward(Span::from_secs(24));
    assert_eq!(deployment.passing(20, "/", 1, None), 2);
}

#[test]
fn local_quota_ends_at_midnight() {
    let deployment = down(r#"{"KEY": "bearer", "LIMIT_BASE": {"per_key": "5/day"}}"#);
    assert_eq!(deployment.passing(20, "/", 1, Some(1)), 5);
    let refusal = deployment.request("/", 1, Some(1)).refusal.unwrap();
    assert_eq!((refusal.reason, refusal.wait), (Reason::QuotaExhausted, Span::from_secs(6 * 3_600)));
    deployment.forward(Span::from_secs(6 * 3_600));
    assert_eq!(deployment.passing(20, "/", 1, Some(1)), 5);
}

#[test]
fn limits_follow_their_own_on_error() {
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
fn unchecked_shadow_limit_refuses_nobody() {
    let deployment = down(r#"{"LIMIT_BASE": {"per_ip": "5/min", "mode": "shadow", "on_error": "closed"}}"#);
    let decision = deployment.request("/", 1, None);
    assert!(decision.refusal.is_none());
    assert_eq!(decision.shadows.len(), 1);
}
