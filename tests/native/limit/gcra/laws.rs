//! Laws that hold for every rate and every sequence of requests.

use super::super::{any_rate, at};
use super::thousandths;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

/// TATs of every kind: long ago, within the bucket's capacity, far in the future.
fn any_tat(gcra: Gcra) -> impl Strategy<Value = Time> {
    prop_oneof![
        Just(Time::default()),
        (0..=gcra.capacity().as_nanos()).prop_map(|debt| at(0).plus(Span::from_nanos(debt))),
        any::<u64>().prop_map(Time::from_nanos),
        Just(Time::MAX),
    ]
}

fn any_case() -> impl Strategy<Value = (Gcra, Time, u64)> {
    any_rate()
        .prop_map(|rate| rate.gcra())
        .prop_flat_map(|gcra| (Just(gcra), any_tat(gcra), prop_oneof![1..=gcra.burst(), Just(gcra.burst()), Just(1)]))
}

proptest! {
    #[test]
    fn refused_request_passes_exactly_after_its_wait((gcra, tat, cost) in any_case()) {
        let now = at(0);
        let tat = gcra.clamp_tat(tat, now, Span::ZERO);
        if let Err(no) = gcra.take(tat, now, cost) {
            let then = now.plus(no.wait);
            let early = then.minus(Span::from_nanos(1));
            prop_assert_eq!(gcra.take(tat, early, cost).map_err(|no| no.wait), Err(Span::from_nanos(1)));
            prop_assert!(gcra.take(tat, then, cost).is_ok());
        }
    }

    #[test]
    fn any_tat_makes_no_wait_longer_than_the_capacity(
        (gcra, tat, cost) in any_case(),
        now in any::<u64>().prop_map(Time::from_nanos),
    ) {
        let tat = gcra.clamp_tat(tat, now, Span::ZERO);
        match gcra.take(tat, now, cost) {
            Err(no) => prop_assert!(no.wait <= gcra.capacity() && no.wait > Span::ZERO),
            Ok(next) => prop_assert!(next >= tat.max(now), "an admission never lowers a TAT"),
        }
    }

    #[test]
    fn available_tokens_can_all_be_taken_and_no_more((gcra, tat, _) in any_case()) {
        let now = at(0);
        let left = gcra.available(tat, now);
        prop_assert!(left <= gcra.burst());
        prop_assert!(left == 0 || gcra.take(tat, now, left).is_ok());
        prop_assert!(left == gcra.burst() || gcra.take(tat, now, left + 1).is_err());
    }

    #[test]
    fn time_until_next_token_is_exact_to_the_nanosecond((gcra, tat, _) in any_case()) {
        let now = at(0);
        let tat = gcra.clamp_tat(tat, now, Span::ZERO);
        let (left, more) = (gcra.available(tat, now), gcra.until_next_token(tat, now));
        if more == Span::ZERO {
            prop_assert_eq!(left, gcra.burst());
        } else {
            let then = now.plus(more);
            prop_assert_eq!(gcra.available(tat, then.minus(Span::from_nanos(1))), left);
            prop_assert_eq!(gcra.available(tat, then), left + 1);
        }
    }

    /// Between any two admissions at most burst + elapsed × N / PERIOD tokens pass. N and PERIOD
    /// are the configured numbers, before the interval is rounded.
    #[test]
    fn any_span_admits_at_most_the_burst_and_the_rate(
        rate in any_rate(),
        steps in prop::collection::vec((prop_oneof![0_u64..=3, 0_u64..=1_500, 0_u64..=1_500_000], 0_u64..=1_100), 1..150),
    ) {
        let gcra = rate.gcra();
        let (mut now, mut tat) = (at(0), Time::default());
        let mut admitted: Vec<(Time, u64)> = Vec::new();
        for (pause, size) in steps {
            // Pauses are thousandths of an interval, costs are thousandths of the burst.
            now = now.plus(Span::from_nanos(thousandths(gcra.interval().as_nanos(), pause)).min(gcra.capacity().times(2)));
            let cost = thousandths(gcra.burst(), size).max(1);
            if let Ok(next) = gcra.take(tat, now, cost) {
                tat = next;
                admitted.push((now, cost));
            }
        }
        for (i, (first, _)) in admitted.iter().enumerate() {
            let mut sum: u128 = 0;
            for (last, cost) in &admitted[i..] {
                sum += u128::from(*cost);
                let elapsed = u128::from(last.since(*first).as_nanos());
                let period = u128::from(rate.period().as_nanos());
                let most = u128::from(gcra.burst()) * period + elapsed * u128::from(rate.count());
                prop_assert!(sum * period <= most, "{} in {} ns at {}", sum, elapsed, rate);
            }
        }
    }

    /// With any steps of the clock, nothing panics, and a refused request passes after its wait.
    #[test]
    fn gcr_05_clock_steps_leave_every_promised_wait_true(
        rate in any_rate(),
        clock in prop::collection::vec(any::<u64>().prop_map(|nanos| Time::from_nanos(nanos / 2)), 1..40),
    ) {
        let gcra = rate.gcra();
        let mut tat = Time::default();
        for now in clock {
            tat = gcra.clamp_tat(tat, now, Span::ZERO);
            match gcra.take(tat, now, 1) {
                Ok(next) => tat = next,
                Err(no) => prop_assert!(gcra.take(tat, now.plus(no.wait), 1).is_ok()),
            }
            // The bucket is left empty, so that a second charge could not be paid.
            tat = gcra.take(tat, now, gcra.available(tat, now)).unwrap();
            prop_assert!(gcra.clamp_tat(tat, now, Span::ZERO) == tat, "no take leaves more than a full debt");
        }
    }
}
