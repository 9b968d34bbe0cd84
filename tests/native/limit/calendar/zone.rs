//! Time zones: reading and printing them, and printing instants in them.

use super::{secs, zone};
use penstock::limit::calendar::Zone;
use penstock::limit::time::{Span, Time};

#[test]
fn zone_prints_as_iana_spells_it() {
    for (text, printed) in [
        ("Asia/Shanghai", "Asia/Shanghai"),
        ("asia/SHANGHAI", "Asia/Shanghai"),
        ("america/port-au-prince", "America/Port-au-Prince"),
        ("utc", "UTC"),
        ("+00:00", "UTC"),
        ("-00:00", "UTC"),
        ("+08:00", "+08:00"),
        ("-03:30", "-03:30"),
        ("-00:30", "-00:30"),
        ("+14:00", "+14:00"),
        ("-14:00", "-14:00"),
        ("Etc/GMT+8", "Etc/GMT+8"),
    ] {
        assert_eq!(zone(text).to_string(), printed, "{text:?}");
        assert_eq!(zone(printed), zone(text), "{text:?}");
    }
}

#[test]
fn every_zone_of_the_database_reads_and_prints() {
    let mut zones = 0;
    for name in jiff::tz::db().available().filter(|name| name.as_str() != "Factory") {
        assert_eq!(zone(name.as_str()).to_string(), name.as_str());
        zones += 1;
    }
    assert!(zones > 500);
}

#[test]
fn unknown_zone_is_quoted_in_the_error() {
    for text in ["Mars/Olympus", "", " ", "Asia", "Etc/Unknown", "Factory", "localtime", "../UTC", "UTC ", "８"] {
        let error = text.parse::<Zone>().unwrap_err().to_string();
        let expected = "expected an IANA name such as Asia/Shanghai or an offset such as +08:00";
        assert_eq!(error, format!("unknown zone {text:?}, {expected}"));
    }
    for text in [
        "+8",
        "+08",
        "+0800",
        "+8:00",
        "+08:0",
        "+08:60",
        "+14:01",
        "-14:01",
        "+99:99",
        "+",
        "-",
        "+:",
        "++8:00",
        "+08:00:00",
        "+-8:00",
        "+０８:００",
        "+08:00 ",
    ] {
        let error = text.parse::<Zone>().unwrap_err().to_string();
        let expected = "expected hours and minutes such as +08:00 or -03:30, at most 14:00";
        assert_eq!(error, format!("unknown offset {text:?}, {expected}"));
    }
}

/// Checked with Python's `datetime.isoformat`.
#[test]
fn instant_prints_with_the_offset_of_its_zone() {
    for (text, at, printed) in [
        ("UTC", 1_795_975_212, "2026-11-29T18:00:12Z"),
        ("Asia/Shanghai", 1_795_968_000, "2026-11-30T00:00:00+08:00"),
        ("+08:00", 1_795_968_000, "2026-11-30T00:00:00+08:00"),
        ("-03:30", 1_795_968_000, "2026-11-29T12:30:00-03:30"),
        ("Europe/London", 1_730_073_600, "2024-10-28T00:00:00+00:00"),
        ("Europe/London", 1_711_926_000, "2024-04-01T00:00:00+01:00"),
        ("America/Sao_Paulo", 1_541_300_400, "2018-11-04T01:00:00-02:00"),
        ("Asia/Kathmandu", 504_901_800, "1986-01-01T00:15:00+05:45"),
        ("Pacific/Apia", 1_325_239_200, "2011-12-31T00:00:00+14:00"),
        ("America/New_York", 0, "1969-12-31T19:00:00-05:00"),
    ] {
        assert_eq!(zone(text).rfc3339(secs(at)), printed, "{text}");
    }
}

#[test]
fn fraction_of_a_second_is_rounded_up() {
    let at = secs(1_795_975_211);
    assert_eq!(Zone::utc().rfc3339(at), "2026-11-29T18:00:11Z");
    assert_eq!(Zone::utc().rfc3339(at.plus(Span::from_nanos(1))), "2026-11-29T18:00:12Z");
    assert_eq!(Zone::utc().rfc3339(at.plus(Span::from_nanos(999_999_999))), "2026-11-29T18:00:12Z");
}

/// RFC 3339 cannot express the offset -00:44:30. The same instant is printed in -00:45.
#[test]
fn offset_with_seconds_still_gives_the_right_instant() {
    let text = zone("Africa/Monrovia").rfc3339(secs(63_420_270));
    assert_eq!(text, "1972-01-04T23:59:30-00:45");
    assert_eq!(text.parse::<jiff::Timestamp>().unwrap().as_second(), 63_420_270);
}

#[test]
fn end_of_time_prints() {
    assert_eq!(Zone::utc().rfc3339(Time::MAX), "2554-07-21T23:34:34Z");
    assert_eq!(zone("+14:00").rfc3339(Time::MAX), "2554-07-22T13:34:34+14:00");
}
