//! A quota counted in memory.

use penstock::limit::calendar::{Day, Zone};
use penstock::limit::day_counter::{Counted, DayCounter};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

fn day(number: u64) -> Day {
    Zone::utc().day(Time::from_nanos(0).plus(Span::from_secs(86_400 * number)))
}

#[test]
fn a_day_gives_exactly_its_limit() {
    let mut tally = DayCounter::new();
    let today = day(20_000);
    for left in (0..100).rev() {
        assert_eq!(tally.take(&today, 1, 100), Counted::Taken { left });
    }
    assert_eq!(tally.take(&today, 1, 100), Counted::Exhausted { left: 0, until: today.end });
}

#[test]
fn a_refused_cost_takes_nothing() {
    let mut tally = DayCounter::new();
    let today = day(20_000);
    assert_eq!(tally.take(&today, 8, 10), Counted::Taken { left: 2 });
    assert_eq!(tally.take(&today, 3, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(tally.take(&today, u64::MAX, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(tally.take(&today, 2, 10), Counted::Taken { left: 0 });
}

#[test]
fn a_new_date_starts_again() {
    let mut tally = DayCounter::new();
    assert_eq!(tally.take(&day(20_000), 10, 10), Counted::Taken { left: 0 });
    assert_eq!(tally.take(&day(20_001), 1, 10), Counted::Taken { left: 9 });
}

#[test]
fn a_clock_that_steps_back_a_day_counts_on_the_later_one() {
    let mut tally = DayCounter::new();
    let (yesterday, today) = (day(20_000), day(20_001));
    assert_eq!(tally.take(&yesterday, 10, 10), Counted::Taken { left: 0 });
    assert_eq!(tally.take(&today, 4, 10), Counted::Taken { left: 6 });
    assert_eq!(tally.take(&yesterday, 4, 10), Counted::Taken { left: 2 });
    assert_eq!(tally.take(&yesterday, 4, 10), Counted::Exhausted { left: 2, until: today.end });
    assert_eq!(tally.take(&today, 2, 10), Counted::Taken { left: 0 });
}

#[test]
fn it_is_over_when_its_day_has_ended_and_before_it_has_begun() {
    let mut tally = DayCounter::new();
    let day = day(20_000);
    assert!(tally.is_over(Time::default()), "a count that has not begun");
    tally.take(&day, 1, 10);
    assert!(!tally.is_over(day.end.minus(Span::from_nanos(1))) && tally.is_over(day.end));
}

#[test]
fn a_limit_lowered_below_what_is_used_is_exhausted() {
    let mut tally = DayCounter::new();
    let today = day(20_000);
    assert_eq!(tally.take(&today, 10, 10), Counted::Taken { left: 0 });
    assert_eq!(tally.take(&today, 1, 5), Counted::Exhausted { left: 0, until: today.end });
}

proptest! {
    #[test]
    fn no_date_is_ever_handed_out_beyond_its_limit(
        steps in prop::collection::vec((20_000_u64..20_004, 1_u64..8), 1..200),
        limit in 1_u64..40,
    ) {
        let mut tally = DayCounter::new();
        let mut latest = 0;
        let mut admitted = std::collections::BTreeMap::<u64, u64>::new();
        for (number, cost) in steps {
            latest = number.max(latest);
            let used = admitted.entry(latest).or_default();
            match tally.take(&day(number), cost, limit) {
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
