//! Edits: isolates with two configurations ask side by side, and no window admits more than the
//! larger of both limits.

use super::case::{Bug, Case, Move};
use super::rates::{CONTENDED, contention, warm};
use super::search::{holds, violates, wanders};

const RATE: &str = r#"{"LIMIT_BASE": {"global": "100/s burst 9"}}"#;

/// Edits of [`RATE`]: what they change, and the vars afterwards.
const EDITS: [(&str, &str); 4] = [
    ("a raise", r#"{"LIMIT_BASE": {"global": "400/s burst 12"}}"#),
    ("a raise of the rate alone", r#"{"LIMIT_BASE": {"global": "400/s burst 9"}}"#),
    ("a cut", r#"{"LIMIT_BASE": {"global": "50/s burst 4"}}"#),
    ("a faster rate with a smaller burst", r#"{"LIMIT_BASE": {"global": "400/s burst 4"}}"#),
];

/// Slots leased beyond a full debt, and then an edit.
const LEASED: [(&str, &str); 2] = [
    ("a raise while slots are leased", r#"{"LIMIT_BASE": {"global": "1600/s burst 40"}}"#),
    ("a cut while slots are leased", r#"{"LIMIT_BASE": {"global": "200/s burst 20"}}"#),
];

fn walks(case: Case) -> Case {
    Case { depth: 160, requests: 120, ticks: &[2, 10], ..case }
}

#[test]
fn cfg_10_edits_side_by_side_hold_the_larger_of_both() {
    for (what, vars) in EDITS {
        let case = Case::new(RATE).edited_to(vars);
        holds(what, &Case { before: warm(), depth: 3, faults: 0, ..case.clone() });
        wanders(what, &walks(Case { faults: 0, ..case.clone() }), 12);
        wanders(what, &walks(Case { faults: 8, back: 5, ..case }), 12);
    }
}

#[test]
fn cfg_10_edits_with_leases_in_hand_hold_the_larger_of_both() {
    for (what, vars) in LEASED {
        let case = Case { before: contention(), ..Case::new(CONTENDED).edited_to(vars) };
        wanders(what, &Case { ticks: &[1, 2, 5], faults: 0, ..walks(case.clone()) }, 12);
        wanders(what, &Case { ticks: &[1, 2, 5], faults: 8, ..walks(case) }, 12);
    }
}

#[test]
fn cfg_10_edits_of_a_count_hold_the_larger_of_both() {
    let case = Case::new(r#"{"LIMIT_BASE": {"per_ip": ["50/s burst 4", "30/day"], "on_error": "closed"}}"#);
    let case = case.edited_to(r#"{"LIMIT_BASE": {"per_ip": ["80/s burst 6", "40/day"], "on_error": "closed"}}"#);
    let case = Case { faults: 4, ticks: &[5, 20, 400], ..walks(case) };
    wanders("a rate and a quota", &case, 12);
}

/// Tokens that come back from a request that a shared limit refuses are held as well.
#[test]
fn cfg_10_edits_with_unused_tokens_in_hand_hold_the_larger_of_both() {
    let case =
        Case::new(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 9", "global": "50/s burst 3", "on_error": "closed"}}"#);
    for to in ["400/s burst 9", "50/s burst 4", "400/s burst 3"] {
        let vars = format!(r#"{{"LIMIT_BASE": {{"per_ip": "{to}", "global": "50/s burst 3", "on_error": "closed"}}}}"#);
        wanders(to, &walks(Case { faults: 0, ..case.edited_to(&vars) }), 12);
    }
}

/// Two isolates hold slots. One is edited, lets time pass, and uses up all that it may; then the
/// other one spends its slots.
fn slots_kept_over_an_edit() -> Vec<Move> {
    let edit = vec![Move::Edit(0), Move::Serve(0), Move::Tick(40)];
    [contention(), edit, vec![Move::Serve(0); 50], vec![Move::Serve(1); 8]].concat()
}

/// Checks that these moves break a limit with the planted bug, and none without it.
fn is_found(case: &Case, moves: &[Move]) {
    let bug = Case { bug: Bug::EditForgetsOldTerms, ..case.clone() };
    let found = violates(&bug, moves);
    println!("model: {found:?}");
    assert!(found.is_some_and(|what| what.contains("admitted within")));
    assert_eq!(violates(case, moves), None);
}

#[test]
fn raise_that_forgets_slots_of_the_old_terms_is_found() {
    is_found(&Case::new(CONTENDED).edited_to(LEASED[0].1), &slots_kept_over_an_edit());
}

#[test]
fn cut_that_is_given_again_under_the_old_terms_is_found() {
    let case = Case::new(r#"{"LIMIT_BASE": {"global": "9/h"}}"#).edited_to(r#"{"LIMIT_BASE": {"global": "2/h"}}"#);
    // The second pair of edits is an isolate with the old policy that remembers no denial.
    let edits = vec![Move::Edit(1), Move::Serve(1), Move::Edit(0), Move::Edit(0)];
    is_found(&case, &[vec![Move::Serve(0); 10], edits, vec![Move::Serve(0); 9]].concat());
}
