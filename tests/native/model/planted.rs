//! Bugs planted around the product's code. The search finds each, and would find its like inside.

use super::case::{Bug, Case, Fault, Move};
use super::quotas::LATE;
use super::rates::{CONTENDED, contention};
use super::search::{Seen, explore, wander};

const RATE: &str = r#"{"LIMIT_BASE": {"global": "100/s burst 9"}}"#;
const QUOTA: &str = r#"{"LIMIT_BASE": {"global": "60/day"}}"#;
const BOTH: &str = r#"{"LIMIT_BASE": {"per_ip": ["100/s burst 9", "200/s burst 5", "60/day"], "on_error": "closed"}}"#;

fn rates(bug: Bug, kinds: &'static [Fault]) -> Case {
    Case { depth: 160, requests: 120, faults: 8, kinds, ticks: &[2, 10], ends: false, bug, ..Case::new(RATE) }
}

fn quotas(bug: Bug, kinds: &'static [Fault]) -> Case {
    Case { ticks: &[2, 40, 400], ..rates(bug, kinds).with(QUOTA) }
}

fn contended(bug: Bug) -> Case {
    Case { before: contention(), ticks: &[1, 2, 5], ..rates(bug, &[]).with(CONTENDED) }
}

/// Checks that walks find the planted bug, and that the path is no violation without it.
fn finds(case: &Case, expected: &str) {
    report(case, expected, wander(case, 200, 1));
}

fn report(case: &Case, expected: &str, seen: Seen) {
    let violation = seen.violation.unwrap_or_else(|| panic!("{:?} was not found", case.bug));
    println!(
        "model: {:?} found on schedule {}: {}, after {:?}",
        case.bug, seen.schedules, violation.what, violation.moves
    );
    assert!(violation.what.contains(expected), "{violation:?}");
    let honest = Case { bug: Bug::None, ..case.clone() };
    assert_eq!(super::search::violates(&honest, &violation.moves), None);
}

#[test]
fn grant_before_save_is_found() {
    finds(&rates(Bug::GrantBeforePersist, &[Fault::ActorCrash]), "admitted within");
}

#[test]
fn refund_in_the_actor_is_found() {
    finds(&rates(Bug::RefundInActor, &[Fault::ReplyLost]), "admitted within");
}

#[test]
fn tat_cut_down_to_a_full_debt_is_found() {
    finds(&contended(Bug::CutDown), "admitted within");
}

#[test]
fn slot_kept_past_its_time_is_found() {
    // A patient caller lets the bucket fill up again before it spends them.
    let busy = [Move::Serve(0), Move::Serve(0), Move::Tick(5)].repeat(10);
    let patient = [busy, vec![Move::Tick(200)], vec![Move::Serve(0); 60]].concat();
    finds(&Case { before: patient, ..contended(Bug::LateSlots) }, "admitted within");
}

#[test]
fn slot_spent_before_its_time_is_found() {
    finds(&contended(Bug::EarlySlots), "admitted within");
}

#[test]
fn limit_met_beside_a_refusal_and_taken_for_paid_is_found() {
    let case = rates(Bug::MetIsTaken, &[]).with(BOTH);
    report(&case, "admitted", wander(&case, 3_000, 1));
}

#[test]
fn question_repeated_with_its_unused_tokens_is_found() {
    // Tokens that lie idle are on their way back when the answer is lost.
    let idle = [super::quotas::warm(), vec![Move::Tick(1_100)]].concat();
    let case = quotas(Bug::RepeatInFull, &[Fault::ReplyLost]);
    let case = Case { before: idle, depth: 3, requests: 1, ends: true, ticks: &[1_000], ..case };
    report(&case, "D1 has counted", explore(&case));
}

#[test]
fn unused_tokens_given_back_twice_are_found() {
    let case = Case { ticks: &[40, 400, 5_000], ..quotas(Bug::RestTwice, &[Fault::RestLost]) };
    finds(&case, "D1 has counted");
}

#[test]
fn quota_spent_past_midnight_is_found() {
    finds(&Case { start: LATE, ..quotas(Bug::PastMidnight, &[]) }, "admitted on");
}
