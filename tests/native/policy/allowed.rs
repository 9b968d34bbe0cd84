//! `per_ip`, `per_key` and `global`.

use penstock::policy::OnError;
use serde_json::json;

use super::{each_has_one_fault, faults, policy};

#[test]
fn on_error_is_local_but_closed_for_global_limits() {
    let limits = |on_error: Option<&str>| {
        let mut fields = json!({ "route": "/x", "key": "bearer", "per_ip": "5/s", "per_key": "5/s", "global": "5/s" });
        if let Some(on_error) = on_error {
            fields["on_error"] = json!(on_error);
        }
        policy(json!({ "LIMIT_X": fields })).bindings[0].limits.iter().map(|limit| limit.on_error).collect::<Vec<_>>()
    };
    assert_eq!(limits(None), [OnError::Local, OnError::Local, OnError::Closed]);
    assert_eq!(limits(Some("open")), [OnError::Open; 3]);
    assert_eq!(limits(Some("local")), [OnError::Local; 3]);
    assert_eq!(limits(Some("closed")), [OnError::Closed; 3]);
}

#[test]
fn gcr_02_zeros_and_unreadable_rates_are_faults_with_their_location() {
    for rate in [
        "0/min",
        "5/0s",
        "5/min burst 0",
        "-5/min",
        "NaN/min",
        "5/minn",
        "5",
        "",
        "unlimited",
        "0/day",
        "5/day Mars/Base",
    ] {
        let found = faults(json!({ "LIMIT_LOGIN": { "route": "/login", "per_ip": ["5/min", rate] } }));
        assert_eq!(found.len(), 1, "{rate}");
        assert!(found[0].starts_with(&format!("LIMIT_LOGIN.per_ip[1]: {rate:?}: ")), "{found:?}");
    }
    each_has_one_fault(&[(
        json!({ "LIMIT_LOGIN": { "route": "/login", "per_ip": "5/minn" } }),
        "LIMIT_LOGIN.per_ip: \"5/minn\": unknown period \"minn\", expected s, min, h, day, or a count such as 30s",
    )]);
}

#[test]
fn gcr_03_a_cost_above_the_burst_or_the_days_count_is_a_fault() {
    let cost = |cost: u64| json!({ "LIMIT_X": { "route": "/x", "per_ip": "60/min burst 10", "cost": cost } });
    assert_eq!(policy(cost(10)).bindings[0].limits[0].cost, 10);
    each_has_one_fault(&[
        (
            cost(11),
            "LIMIT_X.cost: 11: above the burst of per_ip \"60/min burst 10\", so that no request could ever pass, expected at most 10",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "global": ["100/s", "3/day"], "cost": 4 } }),
            "LIMIT_X.cost: 4: above the day's count of global \"3/day\", so that no request could ever pass, expected at most 3",
        ),
    ]);
}
