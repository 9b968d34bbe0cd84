//! Requests that a shared limit refuses: they have used nothing of their callers' own limits.

use super::case::{Bug, Case, Move};
use super::search::{explore, holds, violates, wanders};

/// Everyone together has one token an hour, and the first request takes it. Its own token keeps the
/// caller in debt, so no slot lapses.
fn refused() -> Case {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "9/h", "global": "1/h", "on_error": "closed"}}"#;
    Case { before: vec![Move::Serve(0)], faults: 0, ticks: &[1], requests: 5, depth: 7, ..Case::new(vars) }
}

#[test]
fn chg_01_refused_requests_use_no_token_of_a_rate() {
    holds("refused by a shared rate", &refused());
    wanders("refused by a shared rate", &Case { depth: 40, requests: 20, ..refused() }, 20);
}

#[test]
fn chg_01_refused_requests_use_no_token_of_a_day() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "20/day", "global": "50/s burst 2", "on_error": "closed"}}"#;
    let case = Case { faults: 0, ticks: &[2, 40, 400], ..Case::new(vars) };
    holds("a day, refused by a shared rate", &Case { depth: 4, ..case.clone() });
    wanders("a day, refused by a shared rate", &Case { depth: 120, requests: 80, ..case }, 12);
}

/// Checks that the search finds a planted bug, and that its path is no violation without it.
fn finds(bug: Bug) {
    let seen = explore(&Case { bug, ..refused() });
    let violation = seen.violation.unwrap_or_else(|| panic!("{bug:?} was not found"));
    println!("model: {bug:?} found on schedule {}: {}, after {:?}", seen.schedules, violation.what, violation.moves);
    assert!(violation.what.contains("in hand"), "{violation:?}");
    assert_eq!(violates(&refused(), &violation.moves), None);
}

#[test]
fn tokens_forgotten_after_a_refusal_are_found() {
    finds(Bug::TokensForgotten);
}

#[test]
fn tokens_that_come_back_twice_are_found() {
    finds(Bug::TokensBackTwice);
}
