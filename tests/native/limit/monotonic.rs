//! A monotonic clock made from wall clocks that step.

use crate::support::EVENING;
use penstock::limit::monotonic::MonotonicClock;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

fn check(readings: &[u64], expected: &[u64]) {
    let mut clock = MonotonicClock::default();
    let times: Vec<u64> = readings.iter().map(|secs| clock.read(Time::from_millis(secs * 1_000)).as_secs()).collect();
    assert_eq!(times, expected, "{readings:?}");
}

#[test]
fn wall_clock_that_steps_leaves_time_going_on() {
    check(&[100, 101, 105], &[100, 101, 105]);
    // Back by an hour for good: the minutes still pass.
    check(&[10_000, 6_400, 6_460, 6_500], &[10_000, 10_000, 10_060, 10_100]);
    // Back and forward again: the step forward is not time that has passed.
    check(&[100, 40, 112, 113], &[100, 100, 112, 113]);
    check(&[100, 40, 50, 112], &[100, 100, 110, 112]);
    // Forward and back: the hour ahead was counted once, and is not counted again.
    check(&[100, 3_700, 100, 160, 3_761], &[100, 3_700, 3_700, 3_760, 3_761]);
}

proptest! {
    #[test]
    fn time_never_steps_back_and_is_never_behind_the_wall_clock(readings in prop::collection::vec(0..1_000_u64, 1..50)) {
        let mut clock = MonotonicClock::default();
        let mut last = Time::default();
        for secs in readings {
            let wall = Time::from_millis(secs);
            let now = clock.read(wall);
            prop_assert!(now >= last && now >= wall);
            last = now;
        }
    }
}

#[test]
fn gcr_05_jitter_of_the_clock_adds_no_time() {
    let mut clock = MonotonicClock::default();
    let at = |millis: u64| EVENING.plus(Span::from_millis(millis));
    clock.read(at(1_000));
    // Ten seconds pass, while the wall clock jitters by up to 900 ms.
    for millis in 1_000..11_000_u64 {
        let now = clock.read(at(millis - millis * 7_919 % 900));
        assert!(now <= at(millis), "{now:?} at {millis}");
    }
    assert!(clock.read(at(12_000)) == at(12_000), "and costs none");
}
