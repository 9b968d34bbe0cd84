//! The text of a limit: the limits that it reads as, and the errors of other texts.

use super::rate;
use penstock::limit::calendar::Zone;
use penstock::limit::rate::{Allowance, Quota};
use penstock::limit::time::Span;

#[test]
fn rate_text_reads_as_written() {
    for (text, count, secs, burst, nanos) in [
        ("5/s", 5, 1, 5, 200_000_000),
        ("5/min", 5, 60, 5, 12_000_000_000),
        ("5/h", 5, 3_600, 5, 720_000_000_000),
        ("5/30s", 5, 30, 5, 6_000_000_000),
        ("5/5min", 5, 300, 5, 60_000_000_000),
        ("5/24h", 5, 86_400, 5, 17_280_000_000_000),
        ("1/30d", 1, 2_592_000, 1, 2_592_000_000_000_000),
        ("1/366d", 1, 31_622_400, 1, 31_622_400_000_000_000),
        ("100/s burst 200", 100, 1, 200, 10_000_000),
        ("100/s burst 1", 100, 1, 1, 10_000_000),
        ("3/s", 3, 1, 3, 333_333_334),
        ("7/min", 7, 60, 7, 8_571_428_572),
        ("1000000000/s", 1_000_000_000, 1, 1_000_000_000, 1),
        ("600000000/s", 600_000_000, 1, 600_000_000, 2),
        ("  5/min  ", 5, 60, 5, 12_000_000_000),
        ("5/min   burst\t 9 ", 5, 60, 9, 12_000_000_000),
        ("005/060s burst 05", 5, 60, 5, 12_000_000_000),
    ] {
        let rate = rate(text);
        let seen = (rate.count(), rate.period(), rate.gcra().burst(), rate.gcra().interval());
        assert_eq!(seen, (count, Span::from_secs(secs), burst, Span::from_nanos(nanos)), "{text:?}");
    }
}

#[test]
fn quota_text_reads_as_written() {
    for (text, count, zone) in [
        ("100/day", 100, "UTC"),
        ("100/day UTC", 100, "UTC"),
        ("100/day +00:00", 100, "UTC"),
        ("100000/day Asia/Shanghai", 100_000, "Asia/Shanghai"),
        (" 1/day   asia/shanghai ", 1, "Asia/Shanghai"),
        ("1000000000/day -03:30", 1_000_000_000, "-03:30"),
    ] {
        let zone: Zone = zone.parse().unwrap();
        assert_eq!(text.parse(), Ok(Allowance::Quota(Quota::new(count, zone).unwrap())), "{text:?}");
    }
}

fn error(text: &str) -> String {
    match text.parse::<Allowance>() {
        Err(error) => error.to_string(),
        Ok(allowance) => panic!("{text:?} reads as {allowance}"),
    }
}

#[test]
fn wrong_text_is_quoted_and_corrected() {
    let period = "expected s, min, h, day, or a count such as 30s";
    let count = "expected 1 to 1000000000";
    let whole = "expected a count and a period, such as 5/min, 100/s burst 200 or 1000/day";
    let zone = "expected an IANA name such as Asia/Shanghai or an offset such as +08:00";
    for (text, problem) in [
        ("5/minn", format!("unknown period \"minn\", {period}")),
        ("5/m", "unknown period \"m\"; did you mean min?".into()),
        ("5/sec", "unknown period \"sec\"; did you mean s?".into()),
        ("5/days", "unknown period \"days\"; did you mean day?".into()),
        ("5/1day", "unknown period \"1day\"; did you mean 1d?".into()),
        ("5/month", "unknown period \"month\"; did you mean 30d?".into()),
        ("5/1.5h", format!("unknown period \"1.5h\", {period}")),
        ("5/-30s", format!("unknown period \"-30s\", {period}")),
        ("5/30", format!("unknown period \"30\", {period}")),
        ("5/1h30min", format!("unknown period \"1h30min\", {period}")),
        ("5/３０s", format!("unknown period \"３０s\", {period}")),
        ("5/min/", format!("unknown period \"min/\", {period}")),
        ("5/", format!("unknown period \"\", {period}")),
        ("5/ min", format!("unknown period \"\", {period}")),
        ("5/Min", "unknown period \"Min\", expected min in lower case".into()),
        ("5/30S", "unknown period \"30S\", expected 30s in lower case".into()),
        ("5/Day", "unknown period \"Day\", expected day in lower case".into()),
        ("5/d", "unknown period \"d\", expected day for a calendar quota, or 24h or 1d for a rolling rate".into()),
        ("5/0s", "period \"0s\" is out of bounds, expected 1s to 366d".into()),
        ("5/367d", "period \"367d\" is out of bounds, expected 1s to 366d".into()),
        ("5/99999999999999999999d", "period \"99999999999999999999d\" is out of bounds, expected 1s to 366d".into()),
        ("5/18446744073709551615d", "period \"18446744073709551615d\" is out of bounds, expected 1s to 366d".into()),
        ("0/min", format!("count 0 is out of bounds, {count}")),
        ("0/day", format!("count 0 is out of bounds, {count}")),
        ("1000000001/s", format!("count 1000000001 is out of bounds, {count}")),
        ("99999999999999999999/s", format!("count 99999999999999999999 is out of bounds, {count}")),
        ("-5/min", format!("count \"-5\" is not a whole number, {count}")),
        ("+5/min", format!("count \"+5\" is not a whole number, {count}")),
        ("5.5/min", format!("count \"5.5\" is not a whole number, {count}")),
        ("1e3/min", format!("count \"1e3\" is not a whole number, {count}")),
        ("1_000/min", format!("count \"1_000\" is not a whole number, {count}")),
        ("NaN/min", format!("count \"NaN\" is not a whole number, {count}")),
        ("inf/min", format!("count \"inf\" is not a whole number, {count}")),
        ("５/min", format!("count \"５\" is not a whole number, {count}")),
        ("\u{a0}5/min", format!("count \"\\u{{a0}}5\" is not a whole number, {count}")),
        ("/min", "count is missing, expected a whole number from 1 to 1000000000".into()),
        ("", whole.into()),
        ("   ", whole.into()),
        ("5", whole.into()),
        ("5 / min", whole.into()),
        ("5 per min", whole.into()),
        ("unlimited", whole.into()),
        ("5/min burst 0", format!("burst 0 is out of bounds, {count}")),
        ("5/min burst -1", format!("burst \"-1\" is not a whole number, {count}")),
        ("5/min burst 1.0", format!("burst \"1.0\" is not a whole number, {count}")),
        ("5/min burst", "burst is missing, expected a whole number from 1 to 1000000000".into()),
        ("5/min burst 9 9", "unexpected \"9\", expected nothing more".into()),
        ("5/min burst=9", "unexpected \"burst=9\", expected nothing more or burst and a number".into()),
        ("5/min BURST 9", "unexpected \"BURST\", expected nothing more or burst and a number".into()),
        ("5/min 9", "unexpected \"9\", expected nothing more or burst and a number".into()),
        (
            "5/min Asia/Shanghai",
            "zone \"Asia/Shanghai\" goes with a calendar quota alone, such as 5/day Asia/Shanghai".into(),
        ),
        ("1/366d burst 10", "burst 10 takes more than ten years to fill up at this rate, expected at most 9".into()),
        (
            "5/day burst 9",
            "a calendar quota has no burst, expected 5/day, or a rolling rate such as 5/24h burst 5".into(),
        ),
        (
            "5/day UTC burst 9",
            "a calendar quota has no burst, expected 5/day, or a rolling rate such as 5/24h burst 5".into(),
        ),
        ("5/day UTC UTC", "unexpected \"UTC\", expected nothing more".into()),
        ("5/day Asia/Atlantis", format!("unknown zone \"Asia/Atlantis\", {zone}")),
    ] {
        assert_eq!(error(text), format!("{text:?}: {problem}"));
    }
}

#[test]
fn the_period_that_was_meant_is_suggested() {
    for (written, meant) in [
        ("minute", "min"),
        ("30seconds", "30s"),
        ("hr", "h"),
        ("2hours", "2h"),
        ("week", "7d"),
        ("7days", "7d"),
        ("Minutes", "min"),
    ] {
        let error = format!("5/{written}").parse::<Allowance>().unwrap_err().to_string();
        assert!(error.ends_with(&format!("did you mean {meant}?")), "{error}");
        assert!(format!("5/{meant}").parse::<Allowance>().is_ok());
    }
}

#[test]
fn the_zone_that_was_meant_is_suggested() {
    for (written, meant) in [
        ("Asia/Peking", "Asia/Shanghai"),
        ("Asia/Shanghia", "Asia/Shanghai"),
        ("Shanghai", "Asia/Shanghai"),
        ("Europe/Shanghai", "Asia/Shanghai"),
        ("America/New York", "America/New_York"),
        ("America/new-york", "America/New_York"),
        ("Europe/Frankfurt", "Europe/Berlin"),
        ("PST", "America/Los_Angeles"),
        ("UTC+8", "+08:00"),
        ("GMT-0330", "-03:30"),
        ("Z", "UTC"),
    ] {
        let error = format!("5/day {written}").parse::<Allowance>().unwrap_err().to_string();
        assert!(error.ends_with(&format!("unknown zone {written:?}; did you mean {meant}?")), "{error}");
        assert!(format!("5/day {meant}").parse::<Allowance>().is_ok());
    }
    for far in ["Europe/Atlantis", "Moon", "UTC+", "UTC+x", "é", "UTC+é"] {
        let error = format!("5/day {far}").parse::<Allowance>().unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }
}
