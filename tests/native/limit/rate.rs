//! Rates and quotas: their bounds, and their canonical text.

use super::{any_rate, at, rate};
use penstock::limit::calendar::Zone;
use penstock::limit::rate::{Allowance, MAX_COUNT, MAX_PERIOD, Quota, Rate};
use penstock::limit::time::Span;
use proptest::prelude::*;

#[test]
fn limit_prints_in_one_canonical_form() {
    for (text, canonical) in [
        ("5/1s", "5/s"),
        ("5/60s", "5/min"),
        ("5/90s", "5/90s"),
        ("5/120s", "5/2min"),
        ("5/60min", "5/h"),
        ("5/90min", "5/90min"),
        ("5/1d", "5/24h"),
        ("5/24h", "5/24h"),
        ("5/1440min", "5/24h"),
        ("5/48h", "5/2d"),
        ("5/36h", "5/36h"),
        ("5/30d", "5/30d"),
        ("  5/min   burst 5", "5/min"),
        ("5/min burst  10", "5/min burst 10"),
        ("07/day", "7/day"),
        ("7/day UTC", "7/day"),
        ("7/day -00:00", "7/day"),
        ("7/day europe/LONDON", "7/day Europe/London"),
        ("7/day +05:45", "7/day +05:45"),
    ] {
        let read: Allowance = text.parse().unwrap();
        assert_eq!(read.to_string(), canonical, "{text:?}");
        assert_eq!(canonical.parse(), Ok(read), "{text:?}");
    }
}

#[test]
fn gcr_02_rate_or_quota_with_zeros_cannot_be_made() {
    let minute = Span::from_secs(60);
    assert!(Rate::new(0, minute, 5).is_err());
    assert!(Rate::new(5, Span::ZERO, 5).is_err());
    assert!(Rate::new(5, minute, 0).is_err());
    assert!(Rate::new(5, Span::from_millis(1_500), 5).is_err());
    assert!(Rate::new(5, MAX_PERIOD.plus(Span::from_secs(1)), 5).is_err());
    assert!(Rate::new(MAX_COUNT + 1, minute, 5).is_err());
    assert!(Rate::new(5, minute, MAX_COUNT + 1).is_err());
    assert!(Rate::new(u64::MAX, Span::from_nanos(u64::MAX), u64::MAX).is_err());
    assert!(Quota::new(0, Zone::utc()).is_err());
    assert!(Quota::new(MAX_COUNT + 1, Zone::utc()).is_err());
}

#[test]
fn new_bucket_of_any_rate_admits_exactly_its_burst() {
    for text in
        ["1/s", "3/s", "7/min", "1/366d", "999999999/s burst 2", "600000000/s burst 1000000000", "1/h burst 87600"]
    {
        let gcra = rate(text).gcra();
        let now = at(0);
        let full = gcra.take(Default::default(), now, gcra.burst());
        assert!(full.is_ok(), "{text}");
        assert!(gcra.take(full.unwrap(), now, 1).is_err(), "{text}");
    }
}

/// Texts of the words that limits consist of, so that many are nearly right.
fn any_words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "5",
        "0",
        "-1",
        "100",
        "1000000001",
        "/",
        "s",
        "min",
        "h",
        "d",
        "day",
        "30",
        " ",
        "  ",
        "burst",
        "UTC",
        "Asia/Shanghai",
        "+08:00",
        "-14:00",
        "+",
        ":",
        ".",
        "\u{a0}",
        "５",
    ]);
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

fn any_allowance() -> impl Strategy<Value = Allowance> {
    let zone = prop_oneof![
        prop::sample::select(vec!["UTC", "Asia/Shanghai", "America/New_York", "Etc/GMT+8", "Europe/London"])
            .prop_map(String::from),
        (0_u32..=840, any::<bool>()).prop_map(|(minutes, west)| {
            format!("{}{:02}:{:02}", if west { '-' } else { '+' }, minutes / 60, minutes % 60)
        }),
    ];
    prop_oneof![
        any_rate().prop_map(Allowance::Rate),
        (1..=MAX_COUNT, zone)
            .prop_map(|(count, zone)| Allowance::Quota(Quota::new(count, zone.parse().unwrap()).unwrap())),
    ]
}

proptest! {
    #[test]
    fn printed_limit_reads_back_as_the_same(allowance in any_allowance()) {
        prop_assert_eq!(allowance.to_string().parse(), Ok(allowance));
    }

    #[test]
    fn text_that_reads_prints_canonically(text in prop_oneof![any_words(), any::<String>()]) {
        match text.parse::<Allowance>() {
            Ok(read) => {
                let printed = read.to_string();
                let again: Allowance = printed.parse().unwrap();
                prop_assert_eq!(again.to_string(), printed);
                prop_assert_eq!(again, read);
            }
            Err(invalid) => {
                let quoted = format!("{:?}: ", text);
                prop_assert!(invalid.to_string().starts_with(&quoted));
            }
        }
    }
}
