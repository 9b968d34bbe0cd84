//! The days around each clock change of each zone, against a reference that knows the changes.

use super::reference::{ZoneChanges, different_zones};
use super::{reference, secs, zone};
use penstock::limit::time::{Span, Time};

const DAY: i64 = 86_400;
/// The start of 1970 and of 2051.
const YEARS: (i64, i64) = (0, 2_556_144_000);

#[test]
fn days_around_each_change_are_the_reference_s() {
    let mut compared = 0;
    for ZoneChanges { name, rules, changes, .. } in different_zones(YEARS.0, YEARS.1) {
        let zone = zone(&name);
        for (change, _) in changes {
            let (_, end) = reference::day(&rules, change);
            for at in [change - DAY, change - 1, change, change + 1, end - 1, end].into_iter().filter(|at| *at >= 0) {
                let (date, end) = reference::day(&rules, at);
                let day = zone.day(secs(at.unsigned_abs()));
                assert_eq!((day.date, day.end), (date, secs(end.unsigned_abs())), "{name} at {at}");
                compared += 1;
            }
        }
    }
    assert!(compared > 50_000, "{compared}");
}

/// The search for changes samples the offset once a day, and looks at six days at a time.
#[test]
fn changes_of_a_zone_are_more_than_six_days_apart() {
    for ZoneChanges { name, changes, .. } in different_zones(YEARS.0, YEARS.1) {
        for pair in changes.windows(2) {
            assert!(pair[1].0 - pair[0].0 > 6 * DAY, "{name}: {pair:?}");
        }
    }
}

#[test]
fn instants_of_one_second_have_one_day() {
    let zone = zone("America/St_Johns");
    let change = 1_194_143_460;
    for at in [change - 1, change, change + 1].map(secs) {
        let last = Time::from_nanos(at.as_nanos() + 999_999_999);
        assert_eq!(zone.day(at), zone.day(last));
        assert_eq!(zone.day(at).end.as_nanos() % Span::from_secs(1).as_nanos(), 0);
    }
}
