//! Places of several requests of one caller that a rate refuses at once.

use penstock::gate::state::lease_cache::LimitKey;
use penstock::gate::state::retry_places::{Place, RetryPlaces, Schedule};
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

use crate::support::EVENING;

const CALLER: LimitKey = LimitKey { limit: 1, subject: Some(Subject::from_bytes([7; 16])) };

/// `20/min burst 3`.
const SLOW: Schedule = Schedule { step: Span::from_secs(3), burst: 3 };

fn at(millis: u64) -> Time {
    EVENING.plus(Span::from_millis(millis))
}

/// The number of places ahead of each of several refusals, at times in milliseconds. The first
/// place is due `due` milliseconds after the beginning.
fn ahead(schedule: Schedule, due: u64, times: &[u64]) -> Vec<u64> {
    let mut places = RetryPlaces::default();
    let wait = |time: u64| Span::from_millis(due.saturating_sub(time));
    times.iter().map(|time| places.place(CALLER, wait(*time), schedule, at(*time)).ahead).collect()
}

#[test]
fn sdk_11_refusals_at_once_have_places_one_after_another() {
    let fast = Schedule { step: Span::from_millis(10), burst: 200 };
    let table: &[(Schedule, u64, &[u64], &[u64])] = &[
        (SLOW, 3_000, &[0, 0, 0, 0, 0, 0], &[0, 1, 2, 2, 2, 2]),
        (SLOW, 3_000, &[0, 100, 249, 250, 1_000, 2_999], &[0, 1, 2, 0, 0, 0]),
        // Past its due time a refusal begins anew.
        (SLOW, 3_000, &[0, 0, 3_000], &[0, 1, 0]),
        // One step is shorter than a quarter of a second.
        (fast, 500, &[0, 9, 10, 11], &[0, 1, 0, 0]),
        (Schedule { burst: 1, ..SLOW }, 3_000, &[0, 0, 0], &[0, 0, 0]),
    ];
    for (schedule, due, times, expected) in table {
        assert_eq!(ahead(*schedule, *due, times), *expected, "{schedule:?} at {times:?}");
    }
}

#[test]
fn sdk_11_caller_that_comes_early_is_told_the_rest_of_its_first_wait() {
    let mut places = RetryPlaces::default();
    let mut told = |time: u64| places.place(CALLER, Span::from_millis(6_000 - time), SLOW, at(time));
    assert_eq!(told(0), Place { first: Span::from_secs(6), ahead: 0 });
    assert_eq!(told(2_000), Place { first: Span::from_secs(4), ahead: 0 });
    assert_eq!(told(2_001).ahead, 0, "nor is the next one another request");
}

#[test]
fn each_limit_and_each_caller_has_places_of_its_own() {
    let mut places = RetryPlaces::default();
    let mut ahead = |limit, byte| {
        places
            .place(
                LimitKey { limit, subject: Some(Subject::from_bytes([byte; 16])) },
                Span::from_secs(3),
                SLOW,
                EVENING,
            )
            .ahead
    };
    assert_eq!([ahead(1, 1), ahead(1, 2), ahead(2, 1), ahead(1, 1)], [0, 0, 0, 1]);
}

#[test]
fn memory_of_places_is_bounded() {
    let mut places = RetryPlaces::default();
    let hour = Schedule { step: Span::from_secs(3_600), burst: 9 };
    let caller = |who: u32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&who.to_be_bytes());
        LimitKey { limit: 1, subject: Some(Subject::from_bytes(bytes)) }
    };
    let mut refuse = |who, time| places.place(caller(who), Span::from_secs(3_600), hour, at(time)).ahead;
    for who in 0..10_000 {
        refuse(who, 0);
    }
    assert_eq!([refuse(0, 1), refuse(10_000, 1), refuse(10_000, 1)], [1, 0, 0], "one too many has no places");
    assert_eq!([refuse(10_001, 251), refuse(10_001, 251)], [0, 1], "once the others' time is over, it has");
}

proptest! {
    /// Whenever refusals come, no place lies before the first, and none behind the burst.
    #[test]
    fn sdk_11_places_stay_within_the_burst(
        burst in 1_u64..20,
        step in 1_u64..60_000,
        gaps in prop::collection::vec(0_u64..400, 1..60),
    ) {
        let schedule = Schedule { step: Span::from_millis(step), burst };
        let mut places = RetryPlaces::default();
        let mut time = 0;
        for gap in gaps {
            time += gap;
            let wait = Span::from_millis(step - time % step);
            let place = places.place(CALLER, wait, schedule, at(time));
            prop_assert!(place.first >= wait && place.ahead < burst);
        }
    }
}
