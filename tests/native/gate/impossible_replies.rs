//! A gate whose actor gives impossible answers: `on_error` decides, as if the actor had not
//! answered.

use super::support::Deployment;
use penstock::gate::decision::Reason;
use penstock::limit::time::Span;
use penstock::protocol::rates::{Grant, Outcome, Reply};

const SECOND: Span = Span::from_secs(1);

/// Makes the actor grant a million tokens to every question.
fn grant_everything(deployment: &Deployment) {
    deployment.lie.replace(Some(Reply {
        outcomes: vec![Outcome::Met { left: 4, more: SECOND, slot: Span::ZERO, until: None }],
        grants: vec![Some(Grant { count: 1_000_000, first: Span::from_secs(3_600) })],
        horizon: Span::from_secs(3_600),
        ..Reply::default()
    }));
}

#[test]
fn actor_that_grants_everything_lets_no_more_pass() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    grant_everything(&deployment);
    assert_eq!(deployment.passing(100, "/", 1, None), 5, "local");
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    grant_everything(&deployment);
    let decision = deployment.request("/", 1, None);
    assert_eq!(decision.refusal.unwrap().reason, Reason::LimiterUnavailable);
    assert!(
        format!("{:?}", decision.unchecked).contains("base/global: more is granted"),
        "the log names the impossible part"
    );
}

#[test]
fn actor_that_refuses_for_ever_locks_callers_out_only_while_its_breaker_is_open() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let never = Outcome::Refused { left: 0, wait: Span::from_nanos(u64::MAX), until: None };
    deployment.lie.replace(Some(Reply { outcomes: vec![never], ..Reply::default() }));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
    deployment.lie.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}

#[test]
fn actor_of_one_bucket_that_says_full_counts_as_unavailable() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    let full = Outcome::Full { wait: SECOND.times(1_000_000) };
    deployment.lie.replace(Some(Reply { outcomes: vec![full], ..Reply::default() }));
    assert_eq!(deployment.request("/", 1, None).refusal.unwrap().reason, Reason::LimiterUnavailable);
}

#[test]
fn actor_that_is_full_is_asked_again_after_a_minute() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let full = Outcome::Full { wait: Span::from_nanos(u64::MAX) };
    deployment.lie.replace(Some(Reply { outcomes: vec![full], ..Reply::default() }));
    assert_eq!(
        deployment.request("/", 1, None).refusal.unwrap().wait,
        SECOND.times(60),
        "the client is told to wait a minute at most"
    );
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    deployment.lie.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}
