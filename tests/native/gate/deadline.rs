//! One deadline holds for the whole decision, whichever actors are slow.

use super::support::{Deployment, Which, now};
use crate::support::run;
use penstock::gate::deadline::Deadline;
use penstock::gate::decision::{CapDecision, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::gate::plan::Plan;
use penstock::identity::Subject;
use penstock::limit::time::Span;

const DEADLINE: Span = Span::from_millis(250);

const EVERYTHING: &str = r#"{"KEY": "bearer",
    "LIMIT_BASE": {"per_ip": "50/min", "per_key": ["50/min", "1000/day"], "global": ["100/s", "10000/day"]},
    "LIMIT_X": {"route": "/x", "global": "50/s"}}"#;

#[test]
fn slow_actors_never_delay_a_decision_past_the_deadline() {
    let actors =
        [Which::All, Which::Ip, Which::Key, Which::Shared, Which::Limit("base/global"), Which::Limit("x/global")];
    for which in actors {
        for takes in [1, 40, 90, 120, 130, 200, 249, 250, 251, 10_000] {
            let deployment = Deployment::new(EVERYTHING);
            deployment.slow.replace(Some((which, Span::from_millis(takes))));
            for ip in 0..10 {
                let begun = now();
                let decision = deployment.request("/x", ip, Some(ip));
                let took = now().since(begun);
                assert!(took <= DEADLINE, "{which:?} takes {takes} ms: {took}, {decision:?}");
            }
        }
    }
}

#[test]
fn hanging_caller_actor_leaves_time_for_shared_limits() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min", "global": "10/min"}}"#);
    deployment.slow.replace(Some((Which::Ip, Span::from_secs(60))));
    let decision = deployment.request("/", 1, None);
    assert!(decision.refusal.is_none(), "the address goes on locally, and the global limit is checked: {decision:?}");
    assert_eq!(decision.unchecked.len(), 1);
}

#[test]
fn hanging_shared_actor_leaves_time_for_the_other() {
    let deployment = Deployment::new(
        r#"{"LIMIT_BASE": {"global": "10/min"}, "LIMIT_X": {"route": "/x", "global": "5/min", "on_error": "open"}}"#,
    );
    deployment.slow.replace(Some((Which::Limit("x/global"), Span::from_secs(60))));
    let decision = deployment.request("/x", 1, None);
    assert!(decision.refusal.is_none(), "{decision:?}");
}

#[test]
fn late_answer_leaves_the_decision_to_on_error() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "10/min"}}"#);
    deployment.slow.replace(Some((Which::Shared, Span::from_millis(251))));
    let begun = now();
    assert_eq!(deployment.request("/", 1, None).refusal.unwrap().reason, Reason::LimiterUnavailable);
    assert_eq!(now().since(begun), DEADLINE);
}

/// A cap whose permit comes after two seconds.
struct WaitsTwoSeconds<'d>(&'d Deployment);

impl<'p> PermitPort<'p> for WaitsTwoSeconds<'_> {
    fn cap_count(&self) -> usize {
        1
    }

    async fn admit(&self, deadline: Deadline) -> CapDecision<'p> {
        let time = deadline.left(now());
        assert!(time < DEADLINE && time > DEADLINE.half());
        self.0.forward(Span::from_secs(2));
        CapDecision { waited: Span::from_secs(2), ..CapDecision::default() }
    }
}

#[test]
fn wait_for_a_permit_leaves_time_for_shared_limits() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "10/min", "in_flight": "5", "wait": "2s"}}"#);
    deployment.slow.replace(Some((Which::Shared, Span::from_millis(100))));
    let plan = Plan::new(&deployment.policy, None, Subject::from_bytes([1; 16]), |_| None);
    let decision = run(deployment.gate().decide_with(&plan, &WaitsTwoSeconds(&deployment)));
    assert!(decision.refusal.is_none(), "{decision:?}");
    assert!(decision.unchecked.is_empty());
}
