//! The isolate's view of a bucket: the debt of refused requests, and the starting point of the
//! local limiter.

use crate::gate::support::Deployment;
use crate::support::EVENING;
use penstock::gate::decision::Reason;
use penstock::gate::state::bucket_view::BucketView;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::Span;
use penstock::protocol::rates::{CallError, Outcome, Terms};

const KEY_BEFORE_IP: &str = r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "20/min", "per_key": "5/min"}}"#;

#[test]
fn flood_refused_from_memory_does_not_lengthen_the_wait() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    let refusal = deployment.request("/", 1, Some(1)).refusal.unwrap();
    assert_eq!(refusal.limit.name, "base/key");
    deployment.forward(refusal.wait);
    assert!(deployment.passes("/", 1, Some(1)), "it waited exactly as told");
}

#[test]
fn unreported_debt_is_repaid_by_time() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    deployment.forward(Span::from_secs(3_600));
    assert_eq!((0..30).filter(|key| deployment.passes("/", 1, Some(100 + key))).count(), 20, "a full bucket");
}

#[test]
fn unreported_debt_is_paid_at_the_actor() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    assert!(!deployment.passes("/", 1, Some(2)), "all twenty are paid");
    deployment.forward(Span::from_secs(3));
    assert!(deployment.passes("/", 1, Some(2)), "and not one more");
    assert!(!deployment.passes("/", 1, Some(3)));
}

#[test]
fn local_limiter_starts_where_the_actor_stopped() {
    for vars in
        [r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#, r#"{"LIMIT_BASE": {"global": "5/min", "on_error": "local"}}"#]
    {
        let deployment = Deployment::new(vars);
        assert_eq!(deployment.passing(5, "/", 1, None), 5);
        deployment.forward(Span::from_secs(12));
        deployment.error.replace(Some(CallError::Overloaded));
        assert_eq!(deployment.passing(20, "/", 1, None), 1, "{vars}");
        deployment.forward(Span::from_secs(24));
        assert_eq!(deployment.passing(1, "/", 1, None), 1);
        deployment.error.replace(None);
        assert_eq!(deployment.passing(20, "/", 1, None), 1, "the actor is told what passed without it: {vars}");
    }
}

#[test]
fn outages_that_come_and_go_do_not_double_a_limit() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let mut passed = 0;
    for second in 0..600 {
        deployment.error.replace((second % 2 == 0).then_some(CallError::Overloaded));
        passed += deployment.passing(3, "/", 1, None);
        deployment.forward(Span::from_secs(1));
    }
    assert!((45..=5 + 50).contains(&passed), "{passed} in ten minutes");
}

#[test]
fn used_up_day_stays_used_up_while_d1_is_away() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/day"}}"#);
    assert_eq!(deployment.passing(20, "/", 1, None), 5);
    deployment.forward(Span::from_secs(61));
    deployment.error.replace(Some(CallError::Late));
    let refusal = deployment.request("/", 1, None).refusal.unwrap();
    assert_eq!(refusal.reason, Reason::QuotaExhausted);
    deployment.forward(Span::from_secs(6 * 3_600));
    assert_eq!(deployment.passing(20, "/", 1, None), 5, "the next day");
}

#[test]
fn debt_added_during_a_call_counts_on_top_of_the_answer() {
    let gcra = Gcra::new(Span::from_secs(3), 20).unwrap();
    let terms = Terms::Rate(gcra);
    let met = Outcome::Met { left: 13, more: Span::from_secs(3), slot: Span::ZERO, until: None };
    let mut known = BucketView::default();
    assert_eq!(known.take_unreported(&terms, EVENING), 0, "a question is asked");
    for _ in 0..3 {
        known.add_debt(&terms, 1, EVENING);
    }
    known.observe(&terms, 1, &met, EVENING);
    assert_eq!(
        known.starting_point(EVENING).debt,
        Span::from_secs(3 * 10),
        "seven that the actor knows of, and three that it does not"
    );
    assert_eq!(known.take_unreported(&terms, EVENING), 3);
    known.observe(&terms, 1, &met, EVENING);
    assert_eq!(known.starting_point(EVENING).debt, Span::from_secs(3 * 10), "told once, counted once");
}

#[test]
fn repaid_local_admissions_leave_the_word_to_the_actor() {
    let gcra = Gcra::new(Span::from_secs(12), 5).unwrap();
    let mut known = BucketView::default();
    known.pass_alone(&Terms::Rate(gcra), 5, EVENING);
    assert!(known.wait_for(1, EVENING).is_some());
    let repaid = EVENING.plus(Span::from_secs(60));
    // These answers took longer than the next one will take.
    known.pass(&gcra, 5, repaid.plus(Span::from_millis(50)));
    assert_eq!(known.wait_for(1, repaid.plus(Span::from_secs(12))), None);
}

#[test]
fn refused_request_takes_nothing_of_a_day_during_an_outage() {
    for limits in [r#""per_key": ["3/min", "50/day"]"#, r#""per_ip": "3/min", "per_key": "50/day""#] {
        let deployment = Deployment::new(&format!(r#"{{"KEY": "bearer", "LIMIT_BASE": {{{limits}}}}}"#));
        deployment.error.replace(Some(CallError::Overloaded));
        for minute in 0..10 {
            assert_eq!(deployment.passing(100, "/", 1, Some(1)), 3, "{limits}, minute {minute}");
            deployment.forward(Span::from_secs(60));
        }
        deployment.forward(Span::from_secs(600));
        deployment.error.replace(None);
        assert_eq!(deployment.passing(100, "/", 1, Some(1)), 3, "nor is the actor told of it: {limits}");
    }
}
