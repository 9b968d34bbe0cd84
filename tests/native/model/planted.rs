//! Mistakes planted around the product's code. Each is found, so the search would find its like inside.

use super::case::{Bug, Case, Fault, Move};
use super::quotas::LATE;
use super::search::{Seen, explore, wander};

use super::rates::{CROWDED, crowd};

const RATE: &str = r#"{"LIMIT_BASE": {"global": "100/s burst 9"}}"#;
const QUOTA: &str = r#"{"LIMIT_BASE": {"global": "60/day"}}"#;
const BOTH: &str = r#"{"LIMIT_BASE": {"per_ip": ["100/s burst 9", "200/s burst 5", "60/day"], "on_error": "closed"}}"#;

fn rates(bug: Bug, kinds: &'static [Fault]) -> Case {
    Case { depth: 160, requests: 120, faults: 8, kinds, ticks: &[2, 10], ends: false, bug, ..Case::new(RATE) }
}

fn quotas(bug: Bug, kinds: &'static [Fault]) -> Case {
    Case { ticks: &[2, 40, 400], ..rates(bug, kinds).with(QUOTA) }
}

fn crowded(bug: Bug) -> Case {
    Case { before: crowd(), ticks: &[1, 2, 5], ..rates(bug, &[]).with(CROWDED) }
}

/// The search finds the mistake, and without it nothing.
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
fn a_grant_before_it_is_saved() {
    finds(&rates(Bug::GrantBeforePersist, &[Fault::ActorCrash]), "admitted within");
}

#[test]
fn a_refund_in_the_actor() {
    finds(&rates(Bug::RefundInActor, &[Fault::ReplyLost]), "admitted within");
}

#[test]
fn a_schedule_cut_down_to_a_full_debt() {
    finds(&crowded(Bug::CutDown), "admitted within");
}

#[test]
fn slots_kept_past_their_time() {
    // A patient caller lets the bucket fill up again before it spends them.
    let busy = [Move::Serve(0), Move::Serve(0), Move::Tick(5)].repeat(10);
    let patient = [busy, vec![Move::Tick(200)], vec![Move::Serve(0); 60]].concat();
    finds(&Case { before: patient, ..crowded(Bug::LateSlots) }, "admitted within");
}

#[test]
fn slots_spent_before_their_time() {
    finds(&crowded(Bug::EarlySlots), "admitted within");
}

#[test]
fn a_limit_met_beside_a_refusal_taken_for_paid() {
    let case = rates(Bug::MetIsTaken, &[]).with(BOTH);
    report(&case, "admitted", wander(&case, 3_000, 1));
}

#[test]
fn a_question_repeated_with_all_that_it_gives() {
    // Tokens that lie idle are on their way back when the answer is lost.
    let idle = [super::quotas::warm(), vec![Move::Tick(1_100)]].concat();
    let case = quotas(Bug::RepeatInFull, &[Fault::ReplyLost]);
    let case = Case { before: idle, depth: 3, requests: 1, ends: true, ticks: &[1_000], ..case };
    report(&case, "D1 has counted", explore(&case));
}

#[test]
fn a_rest_given_back_again() {
    let case = Case { ticks: &[40, 400, 5_000], ..quotas(Bug::RestTwice, &[Fault::RestLost]) };
    finds(&case, "D1 has counted");
}

#[test]
fn a_quota_spent_past_midnight() {
    finds(&Case { start: LATE, ..quotas(Bug::PastMidnight, &[]) }, "admitted on");
}
