//! Fair shares of a cap, as the lender's answers show them.

use super::{FakeStore, question};
use crate::support::EVENING;
use penstock::actor::permits::lender::PermitLender;
use penstock::protocol::permits::{PermitAsk, Reserve};

/// The share that the holder is told in answer to its question.
fn share(lender: &mut PermitLender, store: &FakeStore, question: PermitAsk) -> u64 {
    lender.answer(&question, store, EVENING).unwrap().share
}

/// Permits that the holder has after its question.
fn permits(lender: &mut PermitLender, store: &FakeStore, question: PermitAsk) -> u64 {
    lender.answer(&question, store, EVENING).unwrap().permits
}

#[test]
fn short_cap_is_shared_equally_and_small_wants_are_met() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    permits(&mut lender, &store, question(1, 1, 12, 0, 12));
    assert_eq!(share(&mut lender, &store, question(2, 1, 12, 0, 2)), 2, "a want below the level is met");
    assert_eq!(share(&mut lender, &store, question(3, 1, 12, 0, 30)), 5);
    assert_eq!(share(&mut lender, &store, question(1, 2, 12, 12, 12)), 5);
    assert_eq!(
        permits(&mut lender, &store, question(1, 3, 12, 5, 12)),
        5,
        "it grows no further while others want permits"
    );
    assert_eq!(permits(&mut lender, &store, question(3, 2, 12, 0, 30)), 5);
    assert_eq!(permits(&mut lender, &store, question(2, 2, 12, 0, 2)), 2);
}

#[test]
fn low_priority_holders_share_the_part_below_the_reserve() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    let low = |holder, number| PermitAsk { reserve: Reserve::Fifth, ..question(holder, number, 10, 0, 10) };
    for holder in 1..=4 {
        share(&mut lender, &store, low(holder, 1));
    }
    assert_eq!(share(&mut lender, &store, low(1, 2)), 2);
    assert_eq!(
        share(&mut lender, &store, question(2, 2, 10, 0, 4)),
        10,
        "wants of a lower priority take nothing from a higher one"
    );
    assert_eq!(share(&mut lender, &store, low(1, 3)), 2);
}

#[test]
fn low_priority_holders_share_the_part_that_higher_ones_do_not_want() {
    let (mut lender, store) = (PermitLender::default(), FakeStore::default());
    let low = |number, keeps, wants| PermitAsk { reserve: Reserve::Fifth, ..question(1, number, 20, keeps, wants) };
    assert_eq!(share(&mut lender, &store, low(1, 0, 16)), 16);
    share(&mut lender, &store, question(2, 1, 20, 0, 3));
    assert_eq!(share(&mut lender, &store, low(2, 16, 16)), 16, "the reserve covers the want of the higher priority");
    share(&mut lender, &store, question(2, 2, 20, 3, 12));
    assert_eq!(share(&mut lender, &store, low(3, 16, 16)), 8);
    share(&mut lender, &store, question(2, 3, 20, 4, 50));
    assert_eq!(share(&mut lender, &store, low(4, 8, 16)), 1, "a holder may always go on with one");
    assert_eq!(share(&mut lender, &store, question(2, 4, 20, 12, 50)), 12, "the lower priority still holds the rest");
    share(&mut lender, &store, low(5, 1, 16));
    assert_eq!(share(&mut lender, &store, question(2, 5, 20, 12, 50)), 19);
}
