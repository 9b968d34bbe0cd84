//! Answers about rates and quotas that no correct actor could give.

use crate::support::{EVENING, ask, quota, rate};
use penstock::limit::debt::SIDE_BY_SIDE;
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

/// A bucket of 60 tokens per minute, with a wish for 10.
fn sixty() -> Demand {
    Demand { wish: Wish { ahead: 10, waiting: 0 }, ..rate("a", SECOND, 60) }
}

fn validated(demand: Demand, outcome: Outcome, grant: Option<Grant>) -> Result<Reply, CallError> {
    let reply = Reply { outcomes: vec![outcome], grants: vec![grant], horizon: SECOND, ..Reply::default() };
    valid_reply(&ask(1, vec![demand]), reply, EVENING)
}

#[test]
fn impossible_outcome_or_grant_is_rejected() {
    let fine = met(59, SECOND, Span::ZERO, None);
    let now = EVENING.as_secs();
    let hundred = || quota("q", 100, "UTC");
    let impossible: [(&str, Demand, Outcome, Option<Grant>); 12] = [
        ("more left than the burst", sixty(), met(61, SECOND, Span::ZERO, None), None),
        ("more later than ever", sixty(), met(0, SECOND.times(701), Span::ZERO, None), None),
        ("a slot too far ahead", sixty(), met(0, SECOND, SECOND.times(701), None), None),
        (
            "a wait longer than it takes to fill up",
            sixty(),
            Outcome::Refused { left: 0, wait: SECOND.times(761), until: None },
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
    for (name, demand, outcome, grant) in impossible {
        let result = validated(demand, outcome, grant);
        assert!(matches!(result, Err(CallError::Nonsense(_))), "{name}: {result:?}");
    }
}

#[test]
fn waits_of_a_rate_with_warmup_may_be_longer_by_the_longest_ramp() {
    let warming = |warmup| Demand { warmup: SECOND.times(warmup), ..sixty() };
    for (wait, warmup, valid) in [(701, 0, false), (1_260, 1, true), (1_301, 600, false)] {
        for outcome in [
            met(0, SECOND.times(wait), Span::ZERO, None),
            Outcome::Refused { left: 0, wait: SECOND.times(wait).plus(SIDE_BY_SIDE), until: None },
        ] {
            assert_eq!(validated(warming(warmup), outcome, None).is_ok(), valid, "{wait} s with {warmup} s to warm up");
        }
    }
}

#[test]
fn unusual_numbers_are_cut_down_to_their_bounds() {
    let shrunk =
        validated(quota("q", 100, "UTC"), met(700, SECOND, Span::ZERO, Some(EVENING.as_secs() + 60)), None).unwrap();
    assert!(matches!(shrunk.outcomes[0], Outcome::Met { left: 100, .. }), "the day's count has become smaller");
    let reply = Reply { outcomes: vec![Outcome::Unknown], horizon: SECOND.times(1_000_000), ..Reply::default() };
    let read = valid_reply(&ask(1, vec![sixty()]), reply, EVENING).unwrap();
    assert_eq!((read.horizon, read.grants), (LONGEST_HORIZON, vec![None]));
    let costly = Reply { outcomes: vec![Outcome::Unknown], rows: u32::MAX, d1: u32::MAX, ..Reply::default() };
    let read = valid_reply(&ask(1, vec![sixty()]), costly, EVENING).unwrap();
    assert!(read.rows < 100 && read.d1 < 100, "rows and statements count against the budget");
}

#[test]
fn answer_with_another_number_of_outcomes_is_rejected() {
    for outcomes in [vec![], vec![Outcome::Unknown; 2]] {
        let reply = Reply { outcomes, ..Reply::default() };
        assert!(valid_reply(&ask(1, vec![sixty()]), reply, EVENING).is_err());
    }
}
