//! The counter of one day's quota.

use penstock::limit::calendar::{Day, Zone};
use penstock::limit::day_counter::{Counted, DayCounter};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

fn day(number: u64) -> Day {
    Zone::utc().day(Time::from_nanos(0).plus(Span::from_secs(86_400 * number)))
}

#[test]
fn day_gives_exactly_its_limit() {
    let mut counter = DayCounter::new();
    let today = day(20_000);
    for left in (0..100).rev() {
        assert_eq!(counter.take(&today, 1, 100), Counted::Taken { left });
    }
    assert_eq!(counter.take(&today, 1, 100), Counted::Exhausted { left: 0, until: today.end });
}

#[test]
fn refused_cost_takes_nothing() {
    let mut counter = DayCounter::new();
    let today = day(20_000);
    assert_eq!(counter.take(&today, 8, 10), Counted::Taken { left: 2 });
    assert_eq!(counter.take(&today, 3, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(counter.take(&today, u64::MAX, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(counter.take(&today, 2, 10), Counted::Taken { left: 0 });
}

#[test]
fn new_date_starts_from_zero() {
    let mut counter = DayCounter::new();
    assert_eq!(counter.take(&day(20_000), 10, 10), Counted::Taken { left: 0 });
    assert_eq!(counter.take(&day(20_001), 1, 10), Counted::Taken { left: 9 });
}

#[test]
fn clock_that_steps_back_a_day_counts_on_the_later_day() {
    let mut counter = DayCounter::new();
    let (yesterday, today) = (day(20_000), day(20_001));
    assert_eq!(counter.take(&yesterday, 10, 10), Counted::Taken { left: 0 });
    assert_eq!(counter.take(&today, 4, 10), Counted::Taken { left: 6 });
    assert_eq!(counter.take(&yesterday, 4, 10), Counted::Taken { left: 2 });
    assert_eq!(counter.take(&yesterday, 4, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(counter.take(&today, 2, 10), Counted::Taken { left: 0 });
}

#[test]
fn counter_is_over_after_its_day_and_before_its_first() {
    let mut counter = DayCounter::new();
    let day = day(20_000);
    assert!(counter.is_over(Time::default()), "a count that has not begun");
    counter.take(&day, 1, 10);
    assert!(!counter.is_over(day.end.minus(Span::from_nanos(1))) && counter.is_over(day.end));
}

#[test]
fn limit_lowered_below_the_used_tokens_is_exhausted() {
    let mut counter = DayCounter::new();
    let today = day(20_000);
    assert_eq!(counter.take(&today, 10, 10), Counted::Taken { left: 0 });
    assert_eq!(counter.take(&today, 1, 5), Counted::Exhausted { left: 0, until: today.end });
}

proptest! {
    #[test]
    fn no_date_is_handed_out_beyond_its_limit(
        steps in prop::collection::vec((20_000_u64..20_004, 1_u64..8), 1..200),
        limit in 1_u64..40,
    ) {
        let mut counter = DayCounter::new();
        let mut latest = 0;
        let mut admitted = std::collections::BTreeMap::<u64, u64>::new();
        for (number, cost) in steps {
            latest = number.max(latest);
            let used = admitted.entry(latest).or_default();
            match counter.take(&day(number), cost, limit) {
                Counted::Taken { left } => {
                    *used += cost;
                    prop_assert_eq!(left, limit.checked_sub(*used).expect("never above the limit"));
                }
                Counted::Exhausted { left, until } => {
                    prop_assert!(*used + cost > limit, "refused with {} used", used);
                    prop_assert_eq!((left, until), (limit - *used, day(latest).end));
                }
            }
        }
    }
}
