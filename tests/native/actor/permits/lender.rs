//! The lender of one cap: how many permits it lends, and for how long.

use super::{FakeStore, question};
use crate::support::EVENING;
use penstock::actor::permits::lender::{PermitLender, ROW_TERM};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{OriginSample, PermitAsk, Reserve, TERM};
use proptest::prelude::*;

/// `secs` seconds after the start.
fn after(secs: u64) -> Time {
    EVENING.plus(Span::from_secs(secs))
}

/// Permits that the holder has after its question.
fn permits_for(lender: &mut PermitLender, store: &FakeStore, question: &PermitAsk, now: Time) -> u64 {
    lender.answer(question, store, now).unwrap().permits
}

#[test]
fn holders_together_get_no_more_than_the_cap() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    assert_eq!(permits_for(&mut lender, &store, &question(1, 1, 10, 0, 7), EVENING), 7);
    assert_eq!(permits_for(&mut lender, &store, &question(2, 1, 10, 0, 7), EVENING), 3);
    assert_eq!(permits_for(&mut lender, &store, &question(3, 1, 10, 0, 7), EVENING), 0);
    assert_eq!(lender.lent(), 10);
}

#[test]
fn permits_that_are_not_renewed_are_lent_to_others_after_their_term() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 1, 10, 0, 10), EVENING);
    let just_before = EVENING.plus(TERM).minus(Span::from_millis(1));
    assert_eq!(permits_for(&mut lender, &store, &question(2, 1, 10, 0, 1), just_before), 0);
    assert_eq!(permits_for(&mut lender, &store, &question(2, 2, 10, 0, 1), EVENING.plus(TERM)), 1);
    assert_eq!(
        permits_for(&mut lender, &store, &question(1, 2, 10, 10, 10), EVENING.plus(TERM)),
        9,
        "a holder whose term has ended gets back the permits that are free"
    );
}

#[test]
fn older_question_that_arrives_late_is_refused() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 2, 10, 0, 8), EVENING);
    assert!(lender.answer(&question(1, 1, 10, 0, 0), &store, EVENING).is_err());
    assert_eq!(lender.lent(), 8);
    // After a crash as well.
    let mut restored = PermitLender::default();
    store.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert!(restored.answer(&question(1, 1, 10, 0, 0), &store, EVENING).is_err());
    assert_eq!(restored.lent(), 8);
}

#[test]
fn crash_keeps_lent_permits_and_lets_their_holder_renew_them() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 1, 10, 0, 6), EVENING);
    let mut restored = PermitLender::default();
    store.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert_eq!(permits_for(&mut restored, &store, &question(2, 1, 10, 0, 9), after(1)), 4);
    assert_eq!(permits_for(&mut restored, &store, &question(1, 2, 10, 6, 6), after(1)), 6);
}

#[test]
fn crash_costs_the_permits_of_a_lost_holder_for_a_term_at_most() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 1, 10, 0, 10), EVENING);
    let mut restored = PermitLender::default();
    store.rows.borrow().values().for_each(|row| restored.restore(*row));
    assert_eq!(permits_for(&mut restored, &store, &question(2, 1, 10, 0, 1), after(1)), 0);
    assert_eq!(permits_for(&mut restored, &store, &question(2, 2, 10, 0, 1), after(11)), 1);
}

#[test]
fn holding_that_is_renewed_is_saved_only_now_and_then() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    for renewal in 0..60 {
        let at = EVENING.plus(Span::from_millis(2_500 * renewal));
        assert_eq!(permits_for(&mut lender, &store, &question(1, renewal + 1, 10, renewal.min(6), 6), at), 6);
        let row = store.rows.borrow()[&1];
        assert!(row.until >= at.plus(TERM), "a crash now must not free permits in use");
        assert!(row.until <= at.plus(ROW_TERM));
    }
    assert!(store.written.get() <= 17, "{} rows in 150 s", store.written.get());
}

#[test]
fn full_disk_lends_nothing_more() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 1, 10, 0, 2), EVENING);
    store.full.set(true);
    assert!(lender.answer(&question(1, 2, 10, 2, 4), &store, EVENING).is_err());
    assert!(lender.answer(&question(2, 1, 10, 0, 4), &store, EVENING).is_err());
    assert_eq!(lender.lent(), 2);
}

#[test]
fn reserve_stays_free_for_higher_priorities() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    let low = PermitAsk { reserve: Reserve::Fifth, ..question(1, 1, 20, 0, 30) };
    assert_eq!(permits_for(&mut lender, &store, &low, EVENING), 16);
    let normal = PermitAsk { reserve: Reserve::Tenth, ..question(2, 1, 20, 0, 2) };
    assert_eq!(permits_for(&mut lender, &store, &normal, EVENING), 2);
    assert_eq!(permits_for(&mut lender, &store, &question(3, 1, 20, 0, 2), EVENING), 2);
}

#[test]
fn store_is_empty_after_all_permits_are_given_back_or_expired() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits_for(&mut lender, &store, &question(1, 1, 10, 0, 3), EVENING);
    permits_for(&mut lender, &store, &question(2, 1, 10, 0, 3), EVENING);
    permits_for(&mut lender, &store, &question(1, 2, 10, 0, 0), EVENING);
    assert_eq!(store.rows.borrow().len(), 1);
    assert_eq!(lender.sweep(&store, after(9)), Ok(Some(EVENING.plus(TERM))));
    assert_eq!(lender.sweep(&store, after(10)), Ok(None));
    assert!(store.rows.borrow().is_empty());
}

#[test]
fn row_from_the_future_counts_for_a_term_at_most() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    let row = penstock::actor::permits::lender::PermitRow { holder: 1, permits: 10, until: Time::MAX, number: 1 };
    lender.restore(row);
    assert_eq!(permits_for(&mut lender, &store, &question(2, 1, 10, 0, 1), EVENING), 0);
    assert_eq!(permits_for(&mut lender, &store, &question(2, 2, 10, 0, 1), EVENING.plus(TERM)), 1);
}

#[test]
fn wait_before_asking_again_grows_with_the_holders_that_want_permits() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    let again = |lender: &mut PermitLender, holder| {
        lender.answer(&question(holder, 1, 1, 0, 5), &store, EVENING).unwrap().again
    };
    let first = again(&mut lender, 1);
    let last = (2..=1_000).map(|holder| again(&mut lender, holder)).last().unwrap();
    assert_eq!((first, last), (Span::from_millis(50), Span::from_secs(1)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_of_the_lender_is_possible(
        steps in prop::collection::vec((0u64..9, 0u64..12, 0u64..40, 0u8..4, 0u64..6_000, 0u8..8, 1u64..3_000), 1..120),
    ) {
        let (mut lender, store) = (PermitLender::default(), FakeStore::default());
        let mut now = EVENING;
        for (number, (holder, keeps, wants, reserve, later, size, ended)) in (1u64..).zip(steps) {
            now = now.plus(Span::from_millis(later / 4));
            let size = match size {
                // Caps grow and shrink, and an isolate of another version has other settings.
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
            let answer = lender.answer(&question, &store, now).unwrap();
            prop_assert!(answer.is_possible(&question), "{question:?} {answer:?}");
        }
    }
}
