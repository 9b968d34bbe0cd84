//! The bounded table of buckets, against a plain map that drops nothing.

use penstock::limit::bucket_table::{Bucket, BucketTable};
use penstock::limit::debt::Debt;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bucket(tat: Time) -> Bucket {
    Bucket { debt: Debt::of_tat(tat), ..Bucket::default() }
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

/// The seconds that one more newcomer is told at `now`.
fn told(table: &mut BucketTable, id: u128, now: Time) -> Option<u64> {
    table.reserve([id].into_iter(), now).err().map(|full| full.wait.as_secs_up())
}

/// A full table, whose buckets are in debt for so many seconds from `start`.
fn full(start: Time, debts: &[u64]) -> BucketTable {
    let mut table = BucketTable::new(debts.len());
    for (id, secs) in debts.iter().enumerate() {
        let id = u128::try_from(id).unwrap();
        table.reserve([id].into_iter(), start).unwrap();
        table.put(id, bucket(start.plus(Span::from_secs(*secs))));
    }
    table
}

#[test]
fn wai_10_newcomers_to_a_full_table_are_told_of_different_places() {
    let start = Time::from_millis(1_000_000_000);
    let mut table = full(start, &[30, 10, 20]);
    let at = |secs| start.plus(Span::from_secs(secs));
    let waits: Vec<_> = (10..14).map(|id| told(&mut table, id, start)).collect();
    assert_eq!(waits, [Some(10), Some(20), Some(30), Some(30)], "the last one shares a place");
    assert_eq!(told(&mut table, 14, at(9)), Some(21), "the first places are still promised");
    // Each one that comes when it was told to finds room, if nobody else comes.
    for (id, secs) in [(10, 10), (11, 20), (12, 30)] {
        assert_eq!(told(&mut table, id, at(secs)), None, "at {secs} s");
        table.put(id, bucket(at(secs).plus(Span::from_secs(1_000))));
    }
    assert_eq!(told(&mut table, 13, at(30)), Some(980));
}

#[test]
fn wai_10_a_place_behind_others_is_at_most_a_minute_away() {
    let start = Time::from_millis(1_000_000_000);
    let mut table = full(start, &[5, 3_600, 7_200]);
    assert_eq!([10, 11, 12].map(|id| told(&mut table, id, start)), [Some(5), Some(60), Some(60)]);
    let mut table = full(start, &[3_600, 7_200]);
    assert_eq!([10, 11].map(|id| told(&mut table, id, start)), [Some(3_600), Some(3_600)]);
}

proptest! {
    #[test]
    fn wai_10_nobody_is_told_of_a_place_before_a_bucket_can_be_free(
        debts in prop::collection::vec(1..5_000_u64, 1..40),
        steps in prop::collection::vec(0..90_u64, 1..60),
    ) {
        let mut now = Time::from_millis(1_000_000_000);
        let mut table = full(now, &debts);
        let first = now.plus(Span::from_secs(*debts.iter().min().unwrap()));
        for (id, later) in (1_000..).zip(steps) {
            now = now.plus(Span::from_secs(later));
            match told(&mut table, id, now) {
                Some(wait) => prop_assert!(now.plus(Span::from_secs(wait)) >= first),
                None => prop_assert!(now >= first),
            }
            if now >= first { break }
        }
    }

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
            prop_assert_eq!(table.get(id).debt.tat().max(now), Time::max(known, now));
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
