//! Answers that no actor can have given are not believed, and `on_error` decides.

use super::support::Deployment;
use crate::support::{EVENING, ask, quota, rate};
use penstock::gate::decision::Reason;
use penstock::limit::lease::{LONGEST_HORIZON, Wish};
use penstock::limit::time::Span;
use penstock::protocol::rates::{CallError, Demand, Grant, Outcome, Reply};
use penstock::protocol::validate::valid_reply;

const SECOND: Span = Span::from_secs(1);
const DAY: u64 = 24 * 60 * 60;

fn met(left: u64, more: Span, slot: Span, until: Option<u64>) -> Outcome {
    Outcome::Met { left, more, slot, until }
}

fn granted(count: u64, first: Span) -> Option<Grant> {
    Some(Grant { count, first })
}

/// A minute's bucket of sixty, with a wish for ten.
fn sixty() -> Demand {
    Demand { wish: Wish { ahead: 10, waiting: 0 }, ..rate("a", SECOND, 60) }
}

fn judge(demand: Demand, outcome: Outcome, grant: Option<Grant>) -> Result<Reply, CallError> {
    let reply = Reply { outcomes: vec![outcome], grants: vec![grant], horizon: SECOND, ..Reply::default() };
    valid_reply(&ask(1, vec![demand]), reply, EVENING)
}

#[test]
fn what_no_actor_can_have_said_is_not_believed() {
    let fine = met(59, SECOND, Span::ZERO, None);
    let now = EVENING.as_secs();
    let hundred = || quota("q", 100, "UTC");
    let lies: [(&str, Demand, Outcome, Option<Grant>); 12] = [
        ("more left than the burst", sixty(), met(61, SECOND, Span::ZERO, None), None),
        ("more later than ever", sixty(), met(0, SECOND.times(101), Span::ZERO, None), None),
        ("a slot too far ahead", sixty(), met(0, SECOND, SECOND.times(101), None), None),
        (
            "a wait longer than it takes to fill up",
            sixty(),
            Outcome::Refused { left: 0, wait: SECOND.times(101), until: None },
            None,
        ),
        ("a grant larger than the wish", sixty(), fine, granted(11, SECOND)),
        ("a grant without a wish", rate("a", SECOND, 60), fine, granted(1, SECOND)),
        ("slots too far ahead", sixty(), fine, granted(10, SECOND.times(85))),
        ("slots beyond all time", sixty(), fine, granted(10, Span::from_nanos(u64::MAX))),
        ("a day that is over", hundred(), met(9, SECOND, Span::ZERO, Some(now - DAY)), None),
        ("a day that is still to come", hundred(), met(9, SECOND, Span::ZERO, Some(now + 7 * DAY)), None),
        ("a day's end for a rate", sixty(), met(9, SECOND, Span::ZERO, Some(now + 60)), None),
        (
            "a day of a week",
            hundred(),
            Outcome::Refused { left: 0, wait: SECOND.times(7 * DAY), until: Some(now + 7 * DAY) },
            None,
        ),
    ];
    for (what, demand, outcome, grant) in lies {
        let judged = judge(demand, outcome, grant);
        assert!(matches!(judged, Err(CallError::Nonsense(_))), "{what}: {judged:?}");
    }
}

#[test]
fn while_a_rate_warms_up_its_waits_are_longer_and_no_longer_than_that() {
    let warming = |warmup| Demand { warmup: SECOND.times(warmup), ..sixty() };
    for (wait, warmup, believed) in [(101, 0, false), (660, 1, true), (701, 600, false)] {
        for outcome in [
            met(0, SECOND.times(wait), Span::ZERO, None),
            Outcome::Refused { left: 0, wait: SECOND.times(wait), until: None },
        ] {
            assert_eq!(judge(warming(warmup), outcome, None).is_ok(), believed, "{wait} s with {warmup} s to warm up");
        }
    }
}

#[test]
fn what_is_only_unusual_is_read_so_that_nobody_gains() {
    let shrunk =
        judge(quota("q", 100, "UTC"), met(700, SECOND, Span::ZERO, Some(EVENING.as_secs() + 60)), None).unwrap();
    assert!(matches!(shrunk.outcomes[0], Outcome::Met { left: 100, .. }), "a day's count that has become smaller");
    let reply = Reply { outcomes: vec![Outcome::Unknown], horizon: SECOND.times(1_000_000), ..Reply::default() };
    let read = valid_reply(&ask(1, vec![sixty()]), reply, EVENING).unwrap();
    assert_eq!((read.horizon, read.grants), (LONGEST_HORIZON, vec![None]));
    let costly = Reply { outcomes: vec![Outcome::Unknown], rows: u32::MAX, d1: u32::MAX, ..Reply::default() };
    let read = valid_reply(&ask(1, vec![sixty()]), costly, EVENING).unwrap();
    assert!(read.rows < 100 && read.d1 < 100, "what counts against the day's budget");
}

#[test]
fn an_answer_to_another_question_is_none() {
    for outcomes in [vec![], vec![Outcome::Unknown; 2]] {
        let reply = Reply { outcomes, ..Reply::default() };
        assert!(valid_reply(&ask(1, vec![sixty()]), reply, EVENING).is_err());
    }
}

/// An actor that gives everything away to everyone.
fn generous(deployment: &Deployment) {
    deployment.lie.replace(Some(Reply {
        outcomes: vec![met(4, SECOND, Span::ZERO, None)],
        grants: vec![granted(1_000_000, Span::from_secs(3_600))],
        horizon: Span::from_secs(3_600),
        ..Reply::default()
    }));
}

#[test]
fn an_actor_that_gives_everything_away_opens_no_gate() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    generous(&deployment);
    assert_eq!(deployment.passing(100, "/", 1, None), 5, "local");
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    generous(&deployment);
    let decision = deployment.request("/", 1, None);
    assert_eq!(decision.refusal.unwrap().reason, Reason::LimiterUnavailable);
    assert!(
        format!("{:?}", decision.unchecked).contains("base/global: more is granted"),
        "and the log says what is wrong"
    );
}

#[test]
fn an_actor_that_says_never_locks_nobody_out_for_longer_than_its_circuit() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let never = Outcome::Refused { left: 0, wait: Span::from_nanos(u64::MAX), until: None };
    deployment.lie.replace(Some(Reply { outcomes: vec![never], ..Reply::default() }));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
    deployment.lie.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}

#[test]
fn what_one_bucket_fills_no_actor_and_makes_nobody_wait_for_it() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"global": "5/min"}}"#);
    let full = Outcome::Full { wait: SECOND.times(1_000_000) };
    deployment.lie.replace(Some(Reply { outcomes: vec![full], ..Reply::default() }));
    assert_eq!(deployment.request("/", 1, None).refusal.unwrap().reason, Reason::LimiterUnavailable);
}

#[test]
fn an_actor_that_is_full_is_asked_again_after_a_minute_whatever_it_said() {
    let deployment = Deployment::new(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let full = Outcome::Full { wait: Span::from_nanos(u64::MAX) };
    deployment.lie.replace(Some(Reply { outcomes: vec![full], ..Reply::default() }));
    assert_eq!(
        deployment.request("/", 1, None).refusal.unwrap().wait,
        SECOND.times(60),
        "nor is anybody told to wait for longer"
    );
    assert_eq!(deployment.passing(10, "/", 1, None), 0);
    deployment.lie.replace(None);
    deployment.forward(Span::from_secs(60));
    assert_eq!(deployment.passing(10, "/", 1, None), 5);
}
