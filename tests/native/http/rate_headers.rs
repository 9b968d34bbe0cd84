//! The rate headers of each style.

use super::{NOW, policy};
use penstock::gate::decision::LimitUsage;
use penstock::http::rate_headers::{cap_headers, rate_headers};
use penstock::limit::time::{Span, Time};
use penstock::policy::HeaderStyle::{self, Both, Draft6, Draft7, Draft11, Legacy, LegacyEpoch};

/// All headers as one text, `name: value` in a line each.
fn text(headers: Vec<(&'static str, String)>) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

#[test]
fn sdk_12_each_style_has_its_own_headers() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 200"}}"#);
    let limit = &policy.base.as_ref().unwrap().limits[0];
    let usage = LimitUsage { limit, left: 150, more: Span::from_millis(10) };
    let draft_11 = "RateLimit-Policy: \"base/ip\";q=100;w=1\nRateLimit: \"base/ip\";r=150;t=1\n";
    let legacy = "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 150\nX-RateLimit-Reset: 1\n";
    let table: &[(HeaderStyle, &str)] = &[
        (Draft11, draft_11),
        (Draft7, "RateLimit-Policy: 100;w=1\nRateLimit: limit=100, remaining=150, reset=1\n"),
        (Draft6, "RateLimit-Policy: 100;w=1\nRateLimit-Limit: 100\nRateLimit-Remaining: 150\nRateLimit-Reset: 1\n"),
        (Legacy, legacy),
        // 2026-11-29T18:00:00Z and one second.
        (LegacyEpoch, "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 150\nX-RateLimit-Reset: 1795975201\n"),
        (Both, &[draft_11, legacy].concat()),
        (HeaderStyle::None, ""),
    ];
    for (style, expected) in table {
        assert_eq!(text(rate_headers(*style, [limit], Some(usage), NOW)), *expected, "{style:?}");
    }
}

#[test]
fn sdk_12_unix_time_of_a_reset_is_rounded_up() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    let limit = &policy.base.as_ref().unwrap().limits[0];
    for (millis, secs) in [(1_000, "13"), (1_001, "14"), (1_999, "14")] {
        let usage = LimitUsage { limit, left: 0, more: Span::from_secs(12) };
        let headers = rate_headers(LegacyEpoch, [limit], Some(usage), Time::from_millis(millis));
        assert_eq!(headers.last(), Some(&("X-RateLimit-Reset", secs.to_owned())), "{millis} ms");
    }
}

#[test]
fn full_cap_has_no_window() {
    let policy = policy(r#"{"LIMIT_BASE": {"in_flight": "200"}}"#);
    let cap = policy.caps().next().unwrap();
    let table: &[(HeaderStyle, &str)] = &[
        (
            Draft11,
            "RateLimit-Policy: \"base/in-flight\";q=200;qu=\"concurrent-requests\"\nRateLimit: \"base/in-flight\";r=0;t=2\n",
        ),
        (Draft7, "RateLimit: limit=200, remaining=0, reset=2\n"),
        (Draft6, "RateLimit-Limit: 200\nRateLimit-Remaining: 0\nRateLimit-Reset: 2\n"),
        (LegacyEpoch, "X-RateLimit-Limit: 200\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1795975202\n"),
    ];
    for (style, expected) in table {
        assert_eq!(text(cap_headers(*style, cap, 2, NOW)), *expected, "{style:?}");
    }
}
