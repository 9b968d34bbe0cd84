//! What the actor lends.

use super::{FakeShelf, question};
use crate::support::EVENING;
use penstock::actor::permits::lender::{PermitLender, ROW_TERM};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{OriginSample, PermitAsk, Reserve, TERM};
use proptest::prelude::*;

fn after(secs: u64) -> Time {
    EVENING.plus(Span::from_secs(secs))
}

fn slots_of(slots: &mut PermitLender, shelf: &FakeShelf, question: &PermitAsk, now: Time) -> u64 {
    slots.answer(question, shelf, now).unwrap().permits
}

#[test]
fn never_more_than_the_cap_all_together() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    assert_eq!(slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 7), EVENING), 7);
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 1, 10, 0, 7), EVENING), 3);
    assert_eq!(slots_of(&mut slots, &shelf, &question(3, 1, 10, 0, 7), EVENING), 0);
    assert_eq!(slots.lent(), 10);
}

#[test]
fn what_is_not_renewed_is_lent_to_others_when_its_term_has_passed() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 10), EVENING);
    let just_before = EVENING.plus(TERM).minus(Span::from_millis(1));
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 1, 10, 0, 1), just_before), 0);
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 2, 10, 0, 1), EVENING.plus(TERM)), 1);
    assert_eq!(
        slots_of(&mut slots, &shelf, &question(1, 2, 10, 10, 10), EVENING.plus(TERM)),
        9,
        "it gets back what is free"
    );
}

#[test]
fn an_older_question_that_comes_late_changes_nothing() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 2, 10, 0, 8), EVENING);
    assert!(slots.answer(&question(1, 1, 10, 0, 0), &shelf, EVENING).is_err());
    assert_eq!(slots.lent(), 8);
    // Nor after a crash.
    let mut restored = PermitLender::default();
    shelf.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert!(restored.answer(&question(1, 1, 10, 0, 0), &shelf, EVENING).is_err());
    assert_eq!(restored.lent(), 8);
}

#[test]
fn a_crash_forgets_nothing_that_was_lent_and_stops_nobody_who_holds_something() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 6), EVENING);
    let mut restored = PermitLender::default();
    shelf.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert_eq!(slots_of(&mut restored, &shelf, &question(2, 1, 10, 0, 9), after(1)), 4);
    assert_eq!(slots_of(&mut restored, &shelf, &question(1, 2, 10, 6, 6), after(1)), 6);
}

#[test]
fn after_a_crash_who_does_not_come_back_costs_slots_for_a_term_at_most() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 10), EVENING);
    let mut restored = PermitLender::default();
    shelf.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert_eq!(slots_of(&mut restored, &shelf, &question(2, 1, 10, 0, 1), after(1)), 0);
    assert_eq!(slots_of(&mut restored, &shelf, &question(2, 2, 10, 0, 1), after(11)), 1);
}

#[test]
fn a_holding_that_goes_on_is_written_only_now_and_then() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    for renewal in 0..60 {
        let at = EVENING.plus(Span::from_millis(2_500 * renewal));
        assert_eq!(slots_of(&mut slots, &shelf, &question(1, renewal + 1, 10, renewal.min(6), 6), at), 6);
        let row = shelf.rows.borrow()[&1];
        assert!(row.until >= at.plus(TERM), "a crash now must not free what is held");
        assert!(row.until <= at.plus(ROW_TERM));
    }
    assert!(shelf.written.get() <= 17, "{} rows in 150 s", shelf.written.get());
}

#[test]
fn what_cannot_be_written_is_not_lent() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 2), EVENING);
    shelf.full.set(true);
    assert!(slots.answer(&question(1, 2, 10, 2, 4), &shelf, EVENING).is_err());
    assert!(slots.answer(&question(2, 1, 10, 0, 4), &shelf, EVENING).is_err());
    assert_eq!(slots.lent(), 2);
}

#[test]
fn shares_are_fair_where_there_is_not_enough_for_all() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 12, 0, 12), EVENING);
    let share = |slots: &mut PermitLender, question| slots.answer(&question, &shelf, EVENING).unwrap().share;
    assert_eq!(share(&mut slots, question(2, 1, 12, 0, 2)), 2, "who wants little gets it");
    assert_eq!(share(&mut slots, question(3, 1, 12, 0, 30)), 5);
    assert_eq!(share(&mut slots, question(1, 2, 12, 12, 12)), 5);
    assert_eq!(
        slots_of(&mut slots, &shelf, &question(1, 3, 12, 5, 12), EVENING),
        5,
        "it grows no further while others want"
    );
    assert_eq!(slots_of(&mut slots, &shelf, &question(3, 2, 12, 0, 30), EVENING), 5);
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 2, 12, 0, 2), EVENING), 2);
}

#[test]
fn those_who_leave_something_have_fair_shares_of_the_rest() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    let low = |holder, number| PermitAsk { reserve: Reserve::Fifth, ..question(holder, number, 10, 0, 10) };
    let share = |slots: &mut PermitLender, question| slots.answer(&question, &shelf, EVENING).unwrap().share;
    for holder in 1..=4 {
        share(&mut slots, low(holder, 1));
    }
    assert_eq!(share(&mut slots, low(1, 2)), 2);
    assert_eq!(share(&mut slots, question(2, 2, 10, 0, 4)), 10, "what those below want is not of what they leave");
    assert_eq!(share(&mut slots, low(1, 3)), 2);
}

#[test]
fn those_below_have_a_share_of_what_those_above_do_not_want() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    let low = |number, keeps, wants| PermitAsk { reserve: Reserve::Fifth, ..question(1, number, 20, keeps, wants) };
    let share = |slots: &mut PermitLender, question: PermitAsk| slots.answer(&question, &shelf, EVENING).unwrap().share;
    assert_eq!(share(&mut slots, low(1, 0, 16)), 16);
    share(&mut slots, question(2, 1, 20, 0, 3));
    assert_eq!(share(&mut slots, low(2, 16, 16)), 16, "those find what they want in what is left to them");
    share(&mut slots, question(2, 2, 20, 3, 12));
    assert_eq!(share(&mut slots, low(3, 16, 16)), 8);
    share(&mut slots, question(2, 3, 20, 4, 50));
    assert_eq!(share(&mut slots, low(4, 8, 16)), 1, "who is there may go on with one");
    assert_eq!(share(&mut slots, question(2, 4, 20, 12, 50)), 12, "the others' are still held");
    share(&mut slots, low(5, 1, 16));
    assert_eq!(share(&mut slots, question(2, 5, 20, 12, 50)), 19);
}

#[test]
fn what_is_left_to_higher_priorities_is_left() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    let low = PermitAsk { reserve: Reserve::Fifth, ..question(1, 1, 20, 0, 30) };
    assert_eq!(slots_of(&mut slots, &shelf, &low, EVENING), 16);
    let normal = PermitAsk { reserve: Reserve::Tenth, ..question(2, 1, 20, 0, 2) };
    assert_eq!(slots_of(&mut slots, &shelf, &normal, EVENING), 2);
    assert_eq!(slots_of(&mut slots, &shelf, &question(3, 1, 20, 0, 2), EVENING), 2);
}

#[test]
fn the_shelf_is_empty_when_all_is_over() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    slots_of(&mut slots, &shelf, &question(1, 1, 10, 0, 3), EVENING);
    slots_of(&mut slots, &shelf, &question(2, 1, 10, 0, 3), EVENING);
    slots_of(&mut slots, &shelf, &question(1, 2, 10, 0, 0), EVENING);
    assert_eq!(shelf.rows.borrow().len(), 1);
    assert_eq!(slots.sweep(&shelf, after(9)), Ok(Some(EVENING.plus(TERM))));
    assert_eq!(slots.sweep(&shelf, after(10)), Ok(None));
    assert!(shelf.rows.borrow().is_empty());
}

#[test]
fn a_row_from_the_future_counts_no_longer_than_any_other() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    let row = penstock::actor::permits::lender::PermitRow { holder: 1, permits: 10, until: Time::MAX, number: 1 };
    slots.restore(row);
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 1, 10, 0, 1), EVENING), 0);
    assert_eq!(slots_of(&mut slots, &shelf, &question(2, 2, 10, 0, 1), EVENING.plus(TERM)), 1);
}

#[test]
fn the_more_want_slots_the_longer_each_waits_before_it_asks_again() {
    let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
    let again =
        |slots: &mut PermitLender, holder| slots.answer(&question(holder, 1, 1, 0, 5), &shelf, EVENING).unwrap().again;
    let first = again(&mut slots, 1);
    let last = (2..=1_000).map(|holder| again(&mut slots, holder)).last().unwrap();
    assert_eq!((first, last), (Span::from_millis(50), Span::from_secs(1)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_an_actor_answers_is_possible(
        steps in prop::collection::vec((0u64..9, 0u64..12, 0u64..40, 0u8..4, 0u64..6_000, 0u8..8, 1u64..3_000), 1..120),
    ) {
        let (mut slots, shelf) = (PermitLender::default(), FakeShelf::default());
        let mut now = EVENING;
        for (number, (holder, keeps, wants, reserve, later, size, ended)) in (1u64..).zip(steps) {
            now = now.plus(Span::from_millis(later / 4));
            let size = match size {
                // Caps are made larger and smaller, and by one of another version that goes by other settings.
                0 => Size::Fixed(1),
                1 => Size::Fixed(30),
                2 => Size::Auto { least: 1, most: 4 },
                3 => Size::Auto { least: 20, most: 1_000 },
                4 | 5 => Size::Auto { least: 2, most: 40 },
                _ => Size::Fixed(6),
            };
            let reserve = [Reserve::Nothing, Reserve::Tenth, Reserve::Fifth][usize::from(reserve) % 3];
            let sample = (later % 2 == 0).then_some(OriginSample {
                ended,
                sum_ms: ended * (later % 300),
                min_ms: later % 300,
                errors: if later % 5 == 0 { ended / 3 } else { 0 },
                peak: wants,
            });
            let question = PermitAsk { holder, number, size, keeps, wants: wants.max(keeps), reserve, sample };
            let answer = slots.answer(&question, &shelf, now).unwrap();
            prop_assert!(answer.is_possible(&question), "{question:?} {answer:?}");
        }
    }
}
