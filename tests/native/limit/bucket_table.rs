//! The bounded table of buckets, against a plain map that drops nothing.

use penstock::limit::bucket_table::{Bucket, BucketTable};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bucket(tat: Time) -> Bucket {
    Bucket { tat, ..Bucket::default() }
}

#[test]
fn full_buckets_make_room() {
    let mut table = BucketTable::new(1_000_000);
    for number in 0..100_000_u128 {
        let now = Time::from_millis(u64::try_from(number).unwrap());
        table.reserve([number].into_iter(), now).unwrap();
        table.put(number, bucket(now.plus(Span::from_millis(500))));
    }
    assert!(table.len() < 3_000, "{} kept, of which 500 are in debt", table.len());
}

proptest! {
    #[test]
    fn bucket_in_debt_is_never_dropped_and_the_bound_holds(
        steps in prop::collection::vec((0..40_u128, 0..3_000_u64, 1..20_000_u64), 1..400),
        capacity in 1..30_usize,
    ) {
        let mut table = BucketTable::new(capacity);
        let mut model = BTreeMap::new();
        let mut now = Time::from_millis(1_000_000);
        for (id, later, debt) in steps {
            now = now.plus(Span::from_millis(later));
            let known = model.get(&id).copied().unwrap_or_default();
            prop_assert_eq!(table.tat(id).max(now), Time::max(known, now));
            if table.reserve([id].into_iter(), now).is_ok() {
                let tat = now.plus(Span::from_millis(debt));
                table.put(id, bucket(tat));
                model.insert(id, tat);
            } else {
                let in_debt = model.values().filter(|tat| **tat > now.minus(Span::from_secs(1))).count();
                prop_assert!(in_debt >= capacity, "refused with {in_debt} of {capacity} in use");
            }
            prop_assert!(table.len() <= capacity);
        }
    }
}
