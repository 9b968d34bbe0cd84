//! A lease: the window of each slot, and slots that come back.

use super::{MS, NOW, any_bucket, gcra};
use penstock::limit::lease::Lease;
use penstock::limit::time::Span;
use proptest::prelude::*;

#[test]
fn slot_can_be_spent_from_the_tolerance_before_it_up_to_itself() {
    let ten = gcra(Span::from_secs(1), 10);
    let first = Span::from_secs(20);
    let slot = NOW.plus(first);
    let opens = slot.minus(ten.tolerance());
    let spends = |at| Lease::new(first, 1, NOW, NOW).spend(&ten, 1, at).is_some();
    assert!(!spends(opens.minus(Span::from_nanos(1))));
    assert!(spends(opens));
    assert!(spends(slot));
    assert!(!spends(slot.plus(Span::from_nanos(1))));
}

#[test]
fn slots_of_a_lease_expire_one_by_one() {
    let ten = gcra(Span::from_secs(1), 10);
    let mut lease = Lease::new(Span::from_secs(5), 4, NOW, NOW);
    let at = |secs| NOW.plus(Span::from_secs(secs));
    assert_eq!([4, 5, 6, 7, 8, 9].map(|secs| lease.left(&ten, at(secs))), [4, 4, 3, 2, 1, 0]);
    assert!(lease.spend(&ten, 2, at(7)).is_some());
    assert!(lease.spend(&ten, 1, at(7)).is_none());
}

#[test]
fn slot_that_was_not_used_can_be_spent_again_once() {
    let ten = gcra(Span::from_secs(1), 10);
    let mut lease = Lease::new(Span::from_secs(5), 2, NOW, NOW.plus(MS));
    let spent = lease.spend(&ten, 1, NOW.plus(MS)).unwrap();
    assert_eq!(lease.rejoin(&ten, spent), Ok(()));
    assert_eq!(lease.left(&ten, NOW.plus(MS)), 2);
    assert_eq!(lease.rejoin(&ten, spent), Err(spent), "it is no longer the one before the next");
}

proptest! {
    #[test]
    fn any_round_trip_keeps_a_slot_within_the_window_of_its_actor(
        gcra in any_bucket(),
        first in 0..5_000_000_000_u64,
        count in 1..100_u64,
        (out, back) in (0..500_000_000_u64, 0..500_000_000_u64),
        tries in prop::collection::vec(0..3_000_000_000_u64, 1..60),
    ) {
        // The actor's clock is an hour and a bit ahead of the holder's. Both run at the same pace.
        let skew = Span::from_nanos(3_723_456_789_012);
        let asked = NOW;
        let granted = asked.plus(Span::from_nanos(out));
        let answered = granted.plus(Span::from_nanos(back));
        let mut lease = Lease::new(Span::from_nanos(first), count, asked, answered);
        let mut left = count;
        let mut now = answered;
        for later in tries {
            now = now.plus(Span::from_nanos(later));
            let before = lease.left(&gcra, now);
            prop_assert!(before <= left);
            left = before;
            if lease.spend(&gcra, 1, now).is_some() {
                let slot = granted.plus(skew).plus(Span::from_nanos(first)).plus(gcra.interval().times(count - left));
                let spent = now.plus(skew);
                prop_assert!(slot.minus(gcra.tolerance()) <= spent && spent <= slot);
                left -= 1;
            }
        }
    }
}
