//! Local days, against a table from another implementation, and against their laws.

use super::day_table::DAYS;
use super::{secs, zone};
use penstock::limit::calendar::{Day, Zone};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

fn day(date: &str, end: Time) -> Day {
    Day { date: date.to_owned(), end }
}

#[test]
fn every_instant_of_a_day_has_its_date_and_its_end() {
    for (name, days) in DAYS {
        let zone = zone(name);
        for pair in days.windows(2) {
            let [(date, start), (_, end)] = pair else { unreachable!() };
            let expected = day(date, secs(*end));
            let last = secs(*end).minus(Span::from_nanos(1));
            let hourly = (*start..*end).step_by(900).map(secs);
            for at in hourly.chain([secs(start + 59), secs(start + 60), secs(start + 61), last]) {
                assert_eq!(zone.day(at), expected, "{name} at {}", zone.rfc3339(at));
            }
        }
    }
}

#[test]
fn fixed_offset_has_days_of_24_hours() {
    for (text, midnight) in
        [("+14:00", 1_795_946_400), ("-14:00", 1_796_047_200), ("-03:30", 1_796_009_400), ("UTC", 1_795_996_800)]
    {
        let zone = zone(text);
        assert_eq!(zone.day(secs(midnight - 1)), day("2026-11-29", secs(midnight)), "{text}");
        assert_eq!(zone.day(secs(midnight)), day("2026-11-30", secs(midnight + 86_400)), "{text}");
    }
}

#[test]
fn ends_of_time_have_days() {
    assert_eq!(Zone::utc().day(Time::default()), day("1970-01-01", secs(86_400)));
    assert_eq!(zone("-14:00").day(Time::default()), day("1969-12-31", secs(14 * 3_600)));
    assert_eq!(zone("+14:00").day(Time::default()), day("1970-01-01", secs(10 * 3_600)));
    for (text, date) in [("UTC", "2554-07-21"), ("+14:00", "2554-07-22"), ("America/New_York", "2554-07-21")] {
        assert_eq!(zone(text).day(Time::MAX), day(date, Time::MAX), "{text}");
        assert!(zone(text).day(Time::MAX.minus(Span::from_nanos(1))).end == Time::MAX, "{text}");
    }
}

/// Checks the days around each change of each zone until 2037.
#[test]
fn days_of_every_zone_follow_each_other_without_a_gap() {
    for name in jiff::tz::db().available().filter(|name| name.as_str() != "Factory") {
        let zone = zone(name.as_str());
        let rules = jiff::tz::TimeZone::get(name.as_str()).unwrap();
        let changes = rules.following(jiff::Timestamp::UNIX_EPOCH).map(|change| change.timestamp().as_second());
        for change in changes.take_while(|change| *change < 2_145_916_800) {
            let change = u64::try_from(change).unwrap();
            let mut at = secs(change.saturating_sub(2 * 86_400));
            let mut today = zone.day(at);
            while at < secs(change + 86_400) {
                let last = zone.day(today.end.minus(Span::from_nanos(1)));
                assert_eq!(last, today, "{name}: one day, one end");
                let next = zone.day(today.end);
                assert!(next.date > today.date && next.end > today.end, "{name}: {next:?} after {today:?}");
                let length = next.end.since(today.end);
                assert!(
                    length >= Span::from_secs(16 * 3_600) && length <= Span::from_secs(32 * 3_600),
                    "{name}: {next:?}"
                );
                (at, today) = (today.end, next);
            }
        }
    }
}

proptest! {
    #[test]
    fn later_instant_never_has_an_earlier_date(
        name in prop::sample::select(vec![
            "America/St_Johns", "America/Goose_Bay", "Pacific/Apia", "Africa/Cairo", "America/Sao_Paulo", "Asia/Gaza",
            "Antarctica/Casey", "+13:45", "UTC",
        ]),
        first in any::<u64>(),
        second in prop_oneof![any::<u64>(), 0..200_000_000_000_000_u64],
    ) {
        let zone = zone(name);
        let (first, second) = (Time::from_nanos(first), Time::from_nanos(first).plus(Span::from_nanos(second)));
        let (before, after) = (zone.day(first), zone.day(second));
        prop_assert!(before.date <= after.date && before.end <= after.end);
        prop_assert!(before.end > first || first == Time::MAX);
        prop_assert_eq!(before.date == after.date, second < before.end || before.end == Time::MAX);
    }
}
