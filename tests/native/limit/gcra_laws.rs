//! Laws that hold for every rate and every sequence of requests.

use penstock::limit::gcra::Gcra;
use penstock::limit::rate::Rate;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

/// Rates of every size: from one a year to a billion a second.
pub fn any_rate() -> impl Strategy<Value = Rate> {
    let size = |most: u32| (0..=most).prop_flat_map(|bits| 1..=(1_u64 << bits));
    (size(29), size(24), size(29)).prop_map(|(count, secs, burst)| {
        let period = Span::from_secs(secs);
        Rate::new(count, period, burst).or_else(|_| Rate::new(count, period, 1)).unwrap()
    })
}

/// A share of a span: `of` thousandths of it.
fn share(span: Span, of: u64) -> Span {
    let part = u128::from(span.as_nanos()) * u128::from(of) / 1_000;
    Span::from_nanos(u64::try_from(part).unwrap_or(u64::MAX))
}

fn start() -> Time {
    Time::from_millis(1_795_000_000_000)
}

/// Every TAT that can be met: long ago, within the bucket's capacity, far in the future.
fn any_tat(gcra: Gcra) -> impl Strategy<Value = Time> {
    prop_oneof![
        Just(Time::default()),
        (0..=gcra.capacity().as_nanos()).prop_map(|debt| start().plus(Span::from_nanos(debt))),
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
    fn denied_until_exactly_the_promised_instant_and_then_allowed((gcra, tat, cost) in any_case()) {
        let now = start();
        let tat = gcra.clamp_tat(tat, now, Span::ZERO);
        if let Err(no) = gcra.take(tat, now, cost) {
            let then = now.plus(no.wait);
            let early = then.minus(Span::from_nanos(1));
            prop_assert_eq!(gcra.take(tat, early, cost).map_err(|no| no.wait), Err(Span::from_nanos(1)));
            prop_assert!(gcra.take(tat, then, cost).is_ok());
        }
    }

    #[test]
    fn no_wait_exceeds_the_capacity_whatever_the_tat(
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
    fn what_is_available_is_what_can_be_taken((gcra, tat, _) in any_case()) {
        let now = start();
        let left = gcra.available(tat, now);
        prop_assert!(left <= gcra.burst());
        prop_assert!(left == 0 || gcra.take(tat, now, left).is_ok());
        prop_assert!(left == gcra.burst() || gcra.take(tat, now, left + 1).is_err());
    }

    #[test]
    fn until_more_is_exact((gcra, tat, _) in any_case()) {
        let now = start();
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

    /// The rate as written, not its rounded interval: between any two admissions at most burst + elapsed × N / PERIOD.
    #[test]
    fn never_more_than_the_limit_in_any_span(
        rate in any_rate(),
        steps in prop::collection::vec((prop_oneof![0_u64..=3, 0_u64..=1_500, 0_u64..=1_500_000], 0_u64..=1_100), 1..150),
    ) {
        let gcra = rate.gcra();
        let (mut now, mut tat) = (start(), Time::default());
        let mut admitted: Vec<(Time, u64)> = Vec::new();
        for (pause, size) in steps {
            // Pauses in thousandths of an interval, costs in thousandths of the burst.
            now = now.plus(share(gcra.interval(), pause).min(gcra.capacity().times(2)));
            let cost = share(Span::from_nanos(gcra.burst()), size).as_nanos().max(1);
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

    /// A clock may do what it likes: nobody panics, and whoever is refused passes after the wait they were told.
    #[test]
    fn gcr_05_promises_hold_across_clock_steps(
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
            // Leave the bucket empty, so that a second charge could not be paid.
            tat = gcra.take(tat, now, gcra.available(tat, now)).unwrap();
            prop_assert!(gcra.clamp_tat(tat, now, Span::ZERO) == tat, "no take leaves more than a full debt");
        }
    }
}
