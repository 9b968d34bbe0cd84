//! Fair shares in a decision: only requests that the rate itself admits or refuses are charged.

use super::askers::{ask, asker, in_turn, part, settled};
use super::support::{Deployment, now};
use crate::support::run;
use penstock::gate::deadline::Deadline;
use penstock::gate::decision::{CapDecision, CapRefusal, Reason};
use penstock::gate::permit_port::PermitPort;
use penstock::gate::plan::Plan;
use penstock::gate::state::retry_spread::RetrySpread;
use penstock::identity::Subject;
use penstock::limit::time::Span;
use penstock::policy::Policy;
use penstock::protocol::rates::CallError;

#[test]
fn request_refused_by_another_limit_is_not_charged_to_fair_share() {
    let vars =
        r#"{"LIMIT_BASE": {"global": "500/s burst 100"}, "LIMIT_NARROW": {"route": "/narrow", "global": "50/s"}}"#;
    let deployment = Deployment::new(vars);
    let given = settled(&deployment, [asker(1, "/narrow", 900.0), asker(2, "/", 900.0)]);
    assert!(given[0] >= 45.0 && given[0] + given[1] >= 475.0, "{given:?}");
}

#[test]
fn request_refused_by_one_contended_rate_is_not_charged_at_another() {
    let vars =
        r#"{"LIMIT_BASE": {"global": "500/s burst 100"}, "LIMIT_NARROW": {"route": "/narrow", "global": "50/s"}}"#;
    let deployment = Deployment::new(vars);
    let given = settled(&deployment, [asker(1, "/narrow", 900.0), asker(2, "/narrow", 900.0), asker(3, "/", 900.0)]);
    assert!(given.iter().sum::<f64>() >= 475.0 && given[0] + given[1] >= 45.0, "{given:?}");
}

/// A cap that lets a request in, or is full.
struct LetsIn<'p> {
    policy: &'p Policy,
    when: bool,
}

impl<'p> PermitPort<'p> for LetsIn<'p> {
    fn cap_count(&self) -> usize {
        1
    }

    async fn admit(&self, _: Deadline) -> CapDecision<'p> {
        let binding = self.policy.base.as_ref().unwrap();
        let cap = binding.capacity.in_flight.as_ref().unwrap();
        let refusal = CapRefusal { cap, binding, reason: Reason::OverCapacity, wait: Span::from_secs(1) };
        CapDecision { refusal: (!self.when).then_some(refusal), ..CapDecision::default() }
    }
}

#[test]
fn request_refused_by_a_cap_is_not_charged_to_fair_share() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "500/s burst 100", "in_flight": 9}}"#);
    ask(&deployment, &mut [asker(1, "/", 600.0), asker(2, "/", 600.0)], 5);
    let (mut asked, mut passed) = (0_u32, 0);
    for _ in 0..2_000 {
        for ip in [1, 2] {
            let plan = Plan::new(&deployment.policy, None, Subject::from_bytes([ip; 16]), |_| None);
            asked += 1;
            // The cap lets in every third request.
            let cap = LetsIn { policy: &deployment.policy, when: asked % 3 == 0 };
            let decision = run(deployment.gate().decide_with(&plan, &cap));
            passed += u32::from(decision.is_allowed());
        }
        deployment.forward(Span::from_millis(10));
    }
    assert!(passed * 10 >= asked * 3, "{passed} of {asked}, and a third found a permit");
}

#[test]
fn unchecked_rate_is_not_shared() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "100/s burst 20", "on_error": "open"}}"#);
    let mut askers = [asker(1, "/", 300.0), asker(2, "/", 300.0)];
    ask(&deployment, &mut askers, 5);
    deployment.error.replace(Some(CallError::Failed("down".to_owned())));
    let mut askers = [asker(1, "/", 300.0), asker(2, "/", 300.0)];
    ask(&deployment, &mut askers, 13);
    println!("{:.3}", part(&askers));
    assert!(part(&askers) > 0.999, "{}", part(&askers));
}

#[test]
fn wait_of_a_caller_over_its_share_delays_no_other_caller() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "20/min burst 3"}}"#);
    in_turn(&deployment, 30, Span::from_millis(250), 1_200);
    let mut spread = RetrySpread::default();
    let mut line = |ip: u8| {
        let decision = deployment.request("/", ip, None);
        let least = decision.min_wait;
        let refusal = decision.refusal.as_ref()?;
        if ip < 30 && least < Span::from_secs(30) {
            return None;
        }
        let subject = Subject::from_bytes([ip; 16]);
        Some(spread.wait_for_turn(refusal.limit, refusal.wait, subject, now()))
    };
    (0..30).find_map(&mut line).expect("someone has had its share for long");
    let newcomer = (200..250).find_map(&mut line).expect("the rate has no room for all");
    assert!(newcomer <= Span::from_secs(10), "{} s", newcomer.as_secs_up());
}
