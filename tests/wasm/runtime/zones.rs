//! The zones of the runtime, against the database that `make check` has: names, offsets and days of
//! 1990 to 2050.

use crate::reference::{self, ZoneChanges, different_zones, zones};
use penstock::limit::calendar::Zone;
use penstock::limit::time::{Span, Time};
use penstock::runtime::zones::SOURCE;
use std::collections::BTreeMap;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::eval;

const DAY: i64 = 86_400;
/// The starts of 1990 and of 2051.
const FROM: i64 = 631_152_000;
const UNTIL: i64 = 2_556_144_000;

/// The stretches in which the two databases may differ: the name, and the first and last second.
/// Node 22 has the release 2026c, and the test's database is of 2026f, which knows newer decisions.
const DIFFERENCES: &[(&str, i64, i64)] = &[
    // Manitoba, the Northwest Territories and Rainy River keep their daylight saving time from
    // 2026-11-01 on.
    ("America/Inuvik", 1_793_520_000, i64::MAX),
    ("America/Rainy_River", 1_793_516_400, i64::MAX),
    ("America/Winnipeg", 1_793_516_400, i64::MAX),
    ("Canada/Central", 1_793_516_400, i64::MAX),
    // Cuba keeps it over one winter, from 2026-11-01 to 2027-03-14.
    ("America/Havana", 1_793_509_200, 1_805_000_399),
    ("Cuba", 1_793_509_200, 1_805_000_399),
    // In 1992 Colombia's clocks went forward on 2 May, and not on 3 May.
    ("America/Bogota", 704_782_800, 704_869_199),
];

/// Whether the databases may differ about `name` within a day of `at`.
fn may_differ(name: &str, at: i64) -> bool {
    DIFFERENCES
        .iter()
        .any(|(zone, from, until)| *zone == name && from.saturating_sub(DAY) <= at && at <= until.saturating_add(DAY))
}

fn zone(text: &str) -> Zone {
    SOURCE.install();
    text.parse().unwrap()
}

fn secs(at: i64) -> Time {
    Time::default().plus(Span::from_secs(at.unsigned_abs()))
}

/// An instant of each fortnight, by the generator SplitMix64.
fn instants(seed: u64) -> impl Iterator<Item = i64> {
    let mut state = seed;
    (FROM..UNTIL).step_by(14 * 86_400).map(move |start| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        start + i64::try_from((mixed ^ (mixed >> 31)) % (14 * 86_400)).unwrap()
    })
}

#[wasm_bindgen_test]
fn every_zone_reads_in_any_case_and_prints_as_iana_spells_it() {
    let names = reference::names();
    for name in &names {
        for text in [name.clone(), name.to_ascii_lowercase(), name.to_ascii_uppercase()] {
            assert_eq!(zone(&text).to_string(), *name, "{text}");
        }
    }
    assert!(names.len() > 500);
}

#[wasm_bindgen_test]
fn name_that_only_the_runtime_knows_is_refused() {
    SOURCE.install();
    for text in [
        "ACT",
        "IST",
        "PST",
        "SystemV/AST4",
        "systemv/pst8pdt",
        "US/Pacific-New",
        "Canada/East-Saskatchewan",
        "Factory",
        "Etc/Unknown",
        "Mars/Olympus",
        "",
        " ",
        "Asia",
        "UTC ",
        "Asia/Shanghai\0",
        "localtime",
        "Ａsia/Shanghai",
    ] {
        let error = text.parse::<Zone>().unwrap_err().to_string();
        let expected = "expected an IANA name such as Asia/Shanghai or an offset such as +08:00";
        assert_eq!(error, format!("unknown zone {text:?}, {expected}"));
    }
}

#[wasm_bindgen_test]
fn offsets_are_the_database_s() {
    let (mut compared, mut differences) = (0, BTreeMap::new());
    for (index, ZoneChanges { name, rules, changes, .. }) in zones(FROM, UNTIL).enumerate() {
        let around = changes.iter().flat_map(|(change, _)| [change - 1, *change, change + 1]);
        let name = (SOURCE.name_of)(&name).unwrap();
        for at in around.chain(instants(index as u64)) {
            if (SOURCE.offset_at)(&name, at) != Some(reference::offset(&rules, at)) && !may_differ(&name, at) {
                differences.entry(name.clone()).or_insert(at);
            }
            compared += 1;
        }
    }
    assert!(differences.is_empty(), "zones that differ, and the first second at which they do: {differences:#?}");
    assert!(compared > 1_000_000, "{compared}");
}

#[wasm_bindgen_test]
fn days_around_each_change_are_the_database_s() {
    let mut compared = 0;
    for ZoneChanges { name, rules, changes, .. } in different_zones(FROM, UNTIL) {
        let zone = zone(&name);
        for (change, _) in changes {
            let (_, end) = reference::day(&rules, change);
            for at in [change - DAY, change - 1, change, change + 1, end - 1, end] {
                let (date, end) = reference::day(&rules, at);
                let day = zone.day(secs(at));
                assert!(
                    (day.date.as_str(), day.end) == (date.as_str(), secs(end)) || may_differ(&name, at),
                    "{name} at {at}: {day:?} should be {date} until {end}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 50_000, "{compared}");
}

/// Before 1972 the offset of Liberia has seconds.
#[wasm_bindgen_test]
fn offset_with_seconds_is_read() {
    let zone = zone("Africa/Monrovia");
    assert_eq!((SOURCE.offset_at)("Africa/Monrovia", 0), Some(-2_670));
    assert_eq!(zone.day(secs(63_593_070)).end, secs(63_676_800));
    assert_eq!(zone.rfc3339(secs(63_420_270)), "1972-01-04T23:59:30-00:45");
}

#[wasm_bindgen_test]
fn ends_of_time_have_days() {
    let zone = zone("America/New_York");
    assert_eq!(zone.day(Time::default()).date, "1969-12-31");
    assert_eq!(zone.day(Time::default()).end, secs(5 * 3_600));
    assert_eq!(zone.day(Time::MAX).date, "2554-07-21");
    assert_eq!(zone.day(Time::MAX).end, Time::MAX);
    assert_eq!(zone.rfc3339(Time::MAX), "2554-07-21T19:34:34-04:00");
}

#[wasm_bindgen_test]
fn runtime_is_asked_once_a_day() {
    eval(
        "globalThis.formatter = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format');
        globalThis.asked = 0;
        Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
            configurable: true,
            get() {
                const format = formatter.get.call(this);
                return (at) => { asked += 1; return format(at); };
            },
        });",
    )
    .unwrap();
    let asked = || eval("asked").unwrap().as_f64().unwrap();
    let zone = zone("Antarctica/Troll");
    // 2026-03-29, on which the clock goes forward.
    let midnight = 1_774_742_400;
    let end = zone.day(secs(midnight)).end;
    let once = asked();
    assert!((1.0..=30.0).contains(&once), "{once} calls");
    for at in (midnight..midnight + DAY).step_by(60) {
        assert!(zone.day(secs(at)).end >= end);
        assert_eq!(zone.rfc3339(end), "2026-03-30T00:00:00+02:00");
        // As an actor reads it from a question.
        assert_eq!("Antarctica/Troll".parse::<Zone>().unwrap().day(secs(at)), zone.day(secs(at)));
    }
    assert_eq!(asked(), once);
    eval("Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', formatter)").unwrap();
}
