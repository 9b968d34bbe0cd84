//! What an isolate knows without asking: what a refused request owes, and where it begins when it is on its own.

use super::support::Deployment;
use crate::support::EVENING;
use penstock::gate::decision::Reason;
use penstock::gate::state::bucket_view::BucketView;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::Span;
use penstock::protocol::rates::{CallError, Outcome, Terms};

const KEY_BEFORE_IP: &str = r#"{"KEY": "bearer", "LIMIT_BASE": {"per_ip": "20/min", "per_key": "5/min"}}"#;

#[test]
fn a_flood_that_a_key_refuses_from_memory_keeps_nobody_out_longer_than_told() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    let refusal = deployment.request("/", 1, Some(1)).refusal.unwrap();
    assert_eq!(refusal.limit.name, "base/key");
    deployment.forward(refusal.wait);
    assert!(deployment.passes("/", 1, Some(1)), "it waited exactly as told");
}

#[test]
fn what_is_owed_is_repaid_by_time() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    deployment.forward(Span::from_secs(3_600));
    assert_eq!((0..30).filter(|key| deployment.passes("/", 1, Some(100 + key))).count(), 20, "a full bucket");
}

#[test]
fn what_is_owed_is_paid_where_there_was_room_for_it() {
    let deployment = Deployment::new(KEY_BEFORE_IP);
    assert_eq!(deployment.passing(500, "/", 1, Some(1)), 5);
    assert!(!deployment.passes("/", 1, Some(2)), "all twenty are paid");
    deployment.forward(Span::from_secs(3));
    assert!(deployment.passes("/", 1, Some(2)), "and not one more");
    assert!(!deployment.passes("/", 1, Some(3)));
}

#[test]
fn an_isolate_on_its_own_goes_on_where_the_actor_stopped() {
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
fn troubles_that_come_and_go_do_not_double_a_limit() {
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
fn a_day_that_is_known_to_be_used_up_stays_so_when_d1_is_away() {
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
fn what_passed_while_the_question_was_under_way_is_owed_on_top_of_the_answer() {
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
fn when_what_passed_alone_is_repaid_the_actor_knows_better_again() {
    let gcra = Gcra::new(Span::from_secs(12), 5).unwrap();
    let mut known = BucketView::default();
    known.pass_alone(&Terms::Rate(gcra), 5, EVENING);
    assert!(known.wait_for(1, EVENING).is_some());
    let repaid = EVENING.plus(Span::from_secs(60));
    // These answers took longer than the next one will.
    known.pass(&gcra, 5, repaid.plus(Span::from_millis(50)));
    assert_eq!(known.wait_for(1, repaid.plus(Span::from_secs(12))), None);
}

#[test]
fn who_is_refused_takes_nothing_of_a_day_while_nobody_can_be_asked() {
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
