//! The identity of counters: which edits leave it as it is.

use penstock::policy::counter::counter;
use penstock::policy::{Limit, Policy};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn limits(bindings: Value) -> Vec<Limit> {
    let vars: BTreeMap<String, Value> = serde_json::from_value(bindings).unwrap();
    let policy = Policy::read(&vars).unwrap();
    policy.base.into_iter().chain(policy.bindings).flat_map(|binding| binding.limits).collect()
}

/// The counters of `LIMIT_API` with these fields, each behind the limit's printed name.
fn counters(fields: Value) -> Vec<(String, String)> {
    let mut table = json!({"route": "/v1"});
    table.as_object_mut().unwrap().append(&mut fields.as_object().unwrap().clone());
    limits(json!({"LIMIT_API": table})).into_iter().map(|limit| (limit.name, limit.counter)).collect()
}

/// The counter of the only limit of `LIMIT_API` with these fields.
fn only(fields: Value) -> String {
    let counters = counters(fields);
    assert_eq!(counters.len(), 1);
    counters[0].1.clone()
}

/// Everything that is stored about a limit is stored under these texts.
#[test]
fn cfg_10_counter_format_unchanged() {
    for (fields, expected) in [
        (json!({"per_ip": "5/min"}), "api ip rate 60s"),
        (json!({"per_ip": "5/60s"}), "api ip rate 60s"),
        (json!({"per_key": "100/s burst 200"}), "api key rate 1s"),
        (json!({"global": "1000/30d"}), "api global rate 2592000s"),
        (json!({"per_key": "9/24h"}), "api key rate 86400s"),
        (json!({"per_key": "9/day"}), "api key quota day UTC"),
        (json!({"per_key": "9/day utc"}), "api key quota day UTC"),
        (json!({"per_ip": "9/day asia/shanghai"}), "api ip quota day Asia/Shanghai"),
        (json!({"global": "9/day +08:00"}), "api global quota day +08:00"),
    ] {
        assert_eq!(only(fields.clone()), expected, "{fields}");
    }
    let twice = counters(json!({"per_ip": ["5/min", "9/day", "8/min burst 2", "7/60s", "8/day"]}));
    assert_eq!(
        twice.iter().map(|(name, counter)| (name.as_str(), counter.as_str())).collect::<Vec<_>>(),
        [
            ("api/ip", "api ip rate 60s"),
            ("api/ip-2", "api ip quota day UTC"),
            ("api/ip-3", "api ip rate 60s #2"),
            ("api/ip-4", "api ip rate 60s #3"),
            ("api/ip-5", "api ip quota day UTC #2"),
        ]
    );
    assert_eq!(limits(json!({"LIMIT_A_B": {"route": "/x", "per_ip": "5/min"}}))[0].counter, "a-b ip rate 60s");
    let number = limits(json!({"LIMIT_API": {"route": "/v1", "per_ip": "5/min"}}))[0].number;
    assert_eq!(number, 1_109_446_609_365_768_049);
}

/// Parts that limits may have later fit into the text, and no part can be taken for another field.
#[test]
fn parts_are_sorted_and_escaped() {
    let five = "5/min".parse().unwrap();
    for (parts, expected) in [
        (&[][..], "x global rate 60s"),
        (&["key"], "x key rate 60s"),
        (&["key", "ip"], "x ip+key rate 60s"),
        (&["ip", "key", "ip"], "x ip+key rate 60s"),
        (&["ip/48", ":id"], "x :id+ip/48 rate 60s"),
        (&["jwt:sub", "header:x-tenant"], "x header:x-tenant+jwt:sub rate 60s"),
        (&["query:a b"], "x query:a%20b rate 60s"),
        (&["query:a+b", "query:#2", "query:100%"], "x query:%232+query:100%25+query:a%2Bb rate 60s"),
        (&["query:é"], "x query:%C3%A9 rate 60s"),
    ] {
        assert_eq!(counter("x", parts, &five), expected, "{parts:?}");
    }
}

#[test]
fn cfg_10_count_burst_cost_mode_and_place_are_no_part_of_a_counter() {
    let before = counters(json!({"per_ip": ["5/min", "9/day"]}));
    for (edit, fields) in [
        ("a count", json!({"per_ip": ["50/min", "90/day"]})),
        ("a burst", json!({"per_ip": ["5/min burst 20", "9/day"]})),
        ("a cost", json!({"per_ip": ["5/min", "9/day"], "cost": 3})),
        ("a mode", json!({"per_ip": ["5/min", "9/day"], "mode": "shadow"})),
        ("on_error", json!({"per_ip": ["5/min", "9/day"], "on_error": "open"})),
        ("a route", json!({"route": ["/v1", "/v2"], "per_ip": ["5/min", "9/day"]})),
        ("a neighbour before", json!({"per_ip": ["5/s", "5/min", "9/day"]})),
        ("a neighbour between", json!({"per_ip": ["5/min", "9/day +01:00", "9/day"]})),
        ("another order", json!({"per_ip": ["9/day", "5/min"]})),
        ("limits of another scope", json!({"per_ip": ["5/min", "9/day"], "global": "5/min", "per_key": "9/day"})),
    ] {
        let after: Vec<String> = counters(fields).into_iter().map(|(_, counter)| counter).collect();
        assert!(before.iter().all(|(_, counter)| after.contains(counter)), "{edit}: {before:?} and {after:?}");
    }
}

#[test]
fn cfg_10_binding_scope_period_and_zone_are_parts_of_a_counter() {
    let all = [
        only(json!({"per_ip": "5/min"})),
        only(json!({"per_key": "5/min"})),
        only(json!({"global": "5/min"})),
        only(json!({"per_ip": "5/61s"})),
        only(json!({"per_ip": "5/24h"})),
        only(json!({"per_ip": "5/day"})),
        only(json!({"per_ip": "5/day Asia/Shanghai"})),
        only(json!({"per_ip": "5/day +08:00"})),
        limits(json!({"LIMIT_APIS": {"route": "/v1", "per_ip": "5/min"}}))[0].counter.clone(),
        limits(json!({"LIMIT_BASE": {"per_ip": "5/min"}}))[0].counter.clone(),
    ];
    for (index, counter) in all.iter().enumerate() {
        assert!(!all[..index].contains(counter), "{counter}");
    }
}

#[test]
fn printed_names_stay_as_they_are() {
    let names: Vec<String> =
        counters(json!({"per_key": ["9/day", "5/min", "5/min"]})).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["api/key", "api/key-2", "api/key-3"]);
    let all =
        limits(json!({"LIMIT_A": {"route": "/a", "per_ip": "5/min"}, "LIMIT_B": {"route": "/b", "per_ip": "5/min"}}));
    assert!(all.iter().all(|limit| !limit.name.contains(' ') && limit.counter.contains(' ')), "no name is a counter");
    assert_ne!(all[0].number, all[1].number);
}
