//! The rate headers of each style.

use super::{NOW, policy};
use penstock::gate::plan::Plan;
use penstock::gate::usages::{LimitUsage, Usages};
use penstock::http::rate_headers::{Header, RateHeaders};
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::HeaderStyle::{self, Both, Draft6, Draft7, Draft11, Legacy, LegacyEpoch};
use penstock::policy::{Limit, Policy};

/// All headers as one text, `name: value` in a line each.
fn text(headers: Vec<Header>) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// The limits that a request for `/x` meets.
fn plan(policy: &Policy) -> Plan<'_> {
    let me = Subject::from_bytes([1; 16]);
    Plan::new(policy, policy.route("GET", "h", "/x"), me, |_| Some(me))
}

/// The usage of a limit: its name, the tokens left, and the milliseconds until there is one more.
type Known = (&'static str, u64, u64);

fn usages<'p>(policy: &'p Policy, known: &[Known]) -> Usages<'p> {
    let mut usages = Usages::default();
    for (name, left, millis) in known {
        usages.push(LimitUsage { limit: limit(policy, name), left: *left, more: Span::from_millis(*millis) });
    }
    usages
}

fn limit<'p>(policy: &'p Policy, name: &str) -> &'p Limit {
    plan(policy).limits().find(|limit| limit.name == name).unwrap()
}

/// The headers of a request that passed.
fn passed(policy: &Policy, style: HeaderStyle, known: &[Known], now: Time) -> String {
    text(RateHeaders { style, plan: &plan(policy), usages: &usages(policy, known), now }.passed())
}

const SEVERAL: &str = r#"{
    "LIMIT_BASE": {"per_ip": "1200/min", "global": "5000/s"},
    "LIMIT_X": {"route": "/x", "per_ip": ["5/s", "60/min"], "per_key": "100/day", "global": "20/s", "cost": 2,
                "in_flight": "200"}
}"#;

#[test]
fn sdk_12_each_style_has_its_own_headers() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 200"}}"#);
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
        assert_eq!(passed(&policy, *style, &[("base/ip", 150, 10)], NOW), *expected, "{style:?}");
    }
}

#[test]
fn sdk_12_unix_time_of_a_reset_is_rounded_up() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "5/min"}}"#);
    for (millis, secs) in [(1_000, 13), (1_001, 14), (1_999, 14)] {
        let headers = passed(&policy, LegacyEpoch, &[("base/ip", 0, 12_000)], Time::from_millis(millis));
        assert!(headers.ends_with(&format!("X-RateLimit-Reset: {secs}\n")), "{millis} ms: {headers}");
    }
}

#[test]
fn passed_answer_lists_all_own_limits_and_the_tightest_first() {
    let policy = policy(SEVERAL);
    let table: &[(&[Known], &str)] = &[
        (
            &[("base/ip", 1_199, 50), ("x/ip", 3, 200), ("x/ip-2", 58, 1_000), ("x/key", 98, 3_600_000)],
            concat!(
                "RateLimit-Policy: \"x/ip\";q=5;w=1, \"base/ip\";q=1200;w=60, \"x/ip-2\";q=60;w=60, \"x/key\";q=100;w=86400\n",
                "RateLimit: \"x/ip\";r=3;t=1, \"base/ip\";r=1199;t=1, \"x/ip-2\";r=58;t=1, \"x/key\";r=98;t=3600\n",
            ),
        ),
        // Six tokens are three requests, and so many are left of neither: the longer wait decides.
        (
            &[("base/ip", 6, 50), ("x/key", 6, 3_600_000)],
            concat!(
                "RateLimit-Policy: \"x/key\";q=100;w=86400, \"base/ip\";q=1200;w=60, \"x/ip\";q=5;w=1, \"x/ip-2\";q=60;w=60\n",
                "RateLimit: \"x/key\";r=6;t=3600, \"base/ip\";r=6;t=1\n",
            ),
        ),
        (
            &[],
            "RateLimit-Policy: \"base/ip\";q=1200;w=60, \"x/ip\";q=5;w=1, \"x/ip-2\";q=60;w=60, \"x/key\";q=100;w=86400\n",
        ),
    ];
    for (known, expected) in table {
        assert_eq!(passed(&policy, Draft11, known, NOW), *expected);
    }
}

#[test]
fn refused_answer_lists_the_limit_that_refused_first_and_the_known_others() {
    let policy = policy(SEVERAL);
    let plan = plan(&policy);
    let usages = usages(&policy, &[("base/ip", 1_199, 50), ("x/ip", 0, 200), ("x/key", 98, 3_600_000)]);
    let told = |style| RateHeaders { style, plan: &plan, usages: &usages, now: NOW };
    let own = "\"base/ip\";q=1200;w=60, \"x/ip\";q=5;w=1, \"x/ip-2\";q=60;w=60, \"x/key\";q=100;w=86400";
    let table = [
        (
            told(Draft11).refused(limit(&policy, "x/ip"), Some(1), 12),
            concat!(
                "RateLimit-Policy: \"x/ip\";q=5;w=1, \"base/ip\";q=1200;w=60, \"x/ip-2\";q=60;w=60, \"x/key\";q=100;w=86400\n",
                "RateLimit: \"x/ip\";r=1;t=12, \"base/ip\";r=1199;t=1, \"x/key\";r=98;t=3600\n",
            )
            .to_owned(),
        ),
        (
            told(Draft11).refused(limit(&policy, "x/global"), Some(0), 3),
            format!(
                "RateLimit-Policy: \"x/global\";q=20;w=1, {own}\nRateLimit: \"x/global\";r=0;t=3, \"base/ip\";r=1199;t=1, \"x/ip\";r=0;t=1, \"x/key\";r=98;t=3600\n",
            ),
        ),
        (
            told(Draft11).full(policy.caps().next().unwrap(), 2),
            format!(
                "RateLimit-Policy: \"x/in-flight\";q=200;qu=\"concurrent-requests\", {own}\nRateLimit: \"x/in-flight\";r=0;t=2, \"base/ip\";r=1199;t=1, \"x/ip\";r=0;t=1, \"x/key\";r=98;t=3600\n",
            ),
        ),
        // The state of this one is unknown, and no other stands in its place.
        (told(Both).refused(limit(&policy, "base/ip"), None, 1), format!("RateLimit-Policy: {own}\n")),
        (
            told(Draft7).refused(limit(&policy, "x/ip"), Some(1), 12),
            "RateLimit-Policy: 5;w=1\nRateLimit: limit=5, remaining=1, reset=12\n".to_owned(),
        ),
    ];
    for (headers, expected) in table {
        assert_eq!(text(headers), expected);
    }
}

#[test]
fn limits_in_shadow_are_not_listed() {
    let policy =
        policy(r#"{"LIMIT_BASE": {"per_ip": "9/s", "mode": "shadow"}, "LIMIT_X": {"route": "/x", "per_ip": "5/s"}}"#);
    let expected = "RateLimit-Policy: \"x/ip\";q=5;w=1\nRateLimit: \"x/ip\";r=4;t=1\n";
    assert_eq!(passed(&policy, Draft11, &[("x/ip", 4, 200)], NOW), expected);
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
        let told = RateHeaders { style: *style, plan: &Plan::default(), usages: &Usages::default(), now: NOW };
        assert_eq!(text(told.full(cap, 2)), *expected, "{style:?}");
    }
}
