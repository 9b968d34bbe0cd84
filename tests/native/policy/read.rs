//! All vars of one deployment.

use penstock::limit::time::Span;
use penstock::policy::{Capacity, Mode, Policy, Reading, Scope};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::strategies::{any_value, any_var};
use super::{each_has_one_fault, faults, limit_names, policy, vars};

#[test]
fn the_example_of_the_configuration_page_is_understood() {
    let policy = policy(json!({
        "ORIGIN": "https://origin.example.com",
        "KEY": "header:x-api-key, bearer",
        "LIMIT_BASE": { "per_ip": "1200/min", "global": "5000/s" },
        "LIMIT_LOGIN": { "route": "POST /login", "per_ip": "5/min" },
        "LIMIT_API": {
            "route": ["api.example.com/v1/*"],
            "per_key": ["100/s burst 200", "100000/day Asia/Shanghai"],
            "cost": 2,
        },
        "LIMIT_HEALTH": { "route": "GET /healthz", "exempt": true },
    }));
    let base = policy.base.as_ref().unwrap();
    assert_eq!((base.name.as_str(), limit_names(base)), ("base", vec!["base/ip", "base/global"]));
    let [api, health, login] = policy.bindings.as_slice() else { panic!("{:?}", policy.bindings) };
    assert_eq!(limit_names(api), ["api/key", "api/key-2"]);
    assert_eq!(
        api.limits.iter().map(|limit| limit.allowance.to_string()).collect::<Vec<_>>(),
        ["100/s burst 200", "100000/day Asia/Shanghai"]
    );
    assert!(api.limits.iter().all(|limit| limit.cost == 2 && limit.scope == Scope::Key && limit.mode == Mode::Enforce));
    assert_eq!(api.key.to_string(), "header:x-api-key, bearer");
    assert_eq!(api.routes[0].to_string(), "api.example.com/v1/*");
    assert_eq!(limit_names(login), ["login/ip"]);
    assert!(health.exempt && health.limits.is_empty() && !health.off);
}

#[test]
fn without_vars_there_are_no_limits() {
    let policy = policy(json!({}));
    assert!(policy.base.is_none() && policy.bindings.is_empty() && !policy.has_quota());
    assert!(policy.route("GET", "h", "/").is_none());
}

#[test]
fn a_null_is_ignored_as_a_var_and_a_fault_as_a_limit() {
    policy(json!({ "KEY": null, "ORIGIN": null, "SECRET": null, "ALLOW": null, "ORGIN": null, "DB": null }));
    each_has_one_fault(&[(
        json!({ "LIMIT_X": null }),
        "LIMIT_X: null: not a table, expected fields such as per_ip = \"5/min\"",
    )]);
}

#[test]
fn all_faults_are_reported_at_once() {
    let found = faults(json!({
        "KEY": "header:, foo",
        "TRACE": "yes",
        "BUDGET": "10 EUR",
        "ORGIN": "https://origin.example.com",
        "LIMIT_API": { "route": ["/v1/*", "^/api"], "per_key": "100/s burst 200", "cost": 0, "limt": 5 },
        "LIMIT_LOGIN": { "per_ip": "5/minn", "mode": "on" },
        "LIMIT_OTHER": { "route": "//v1/*", "exempt": true },
    }));
    let places: Vec<&str> = found.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "BUDGET",
            "TRACE",
            "KEY",
            "KEY",
            "LIMIT_API.limt",
            "LIMIT_API.route[1]",
            "LIMIT_API.cost",
            "LIMIT_LOGIN.route",
            "LIMIT_LOGIN.per_ip",
            "LIMIT_LOGIN.mode",
            "LIMIT_OTHER.route",
            "ORGIN",
        ]
    );
}

#[test]
fn a_configuration_with_a_fault_gives_no_policy() {
    let json = json!({ "LIMIT_BASE": { "per_ip": "5/min" }, "LIMIT_X": { "route": "/x", "per_ip": "5/mn" } });
    assert!(Policy::read(&vars(json)).is_err());
}

#[test]
fn a_broken_configuration_that_is_open_keeps_all_but_its_limits() {
    let broken = |more: Value| {
        let mut json = json!({
            "MISCONFIGURED": "open",
            "ORIGIN": "https://origin.example.com",
            "BLOCK": ["203.0.113.7", "203.0.113.300"],
            "LIMIT_BASE": { "per_ip": "5/min", "in_flight": 5, "wait": "1s", "timeout": "10s", "block": "203.0.113.8" },
            "LIMIT_X": { "route": "/x", "per_ip": "5/mn", "block": "203.0.113.9", "timeout": "1s" },
            "LIMIT_Y": { "route": "/y", "per_ip": "5/min", "block": "203.0.113.10" },
        });
        json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Reading::new(&vars(json)).into_policy().0
    };
    let policy = broken(json!({})).unwrap();
    assert_eq!(policy.settings.origin.as_deref(), Some("https://origin.example.com"));
    assert_eq!(policy.settings.access.block.to_string(), "203.0.113.7");
    let base = policy.base.as_ref().unwrap();
    assert!(base.limits.is_empty() && policy.caps().next().is_none() && base.capacity.wait == Span::ZERO);
    assert_eq!(base.access.block.to_string(), "203.0.113.8");
    assert_eq!(policy.timeout(None), Some(Span::from_secs(10)));
    // A binding at fault may be meant otherwise in any part.
    let x = policy.route("GET", "h", "/x").unwrap();
    assert!(x.off && x.limits.is_empty() && x.capacity == Capacity::default());
    let y = policy.route("GET", "h", "/y").unwrap();
    assert!(y.limits.is_empty() && y.access.block.to_string() == "203.0.113.10");

    // In front of a zone there is no ORIGIN to read.
    assert!(broken(json!({ "ORIGIN": null })).is_some());
    for closed in [
        json!({ "ORIGIN": "origin.example.com" }),
        json!({ "ORIGIN": 5 }),
        json!({ "MISCONFIGURED": "closed" }),
        json!({ "MISCONFIGURED": "opne" }),
        json!({ "MISCONFIGURED": null }),
    ] {
        assert!(broken(closed.clone()).is_none(), "{closed}");
    }
}

#[test]
fn near_misses_are_no_faults_of_a_worker() {
    let json = json!({ "LIMT_X": { "per_ip": "5/min" }, "LIMIT_BASE": { "per_ip": "5/min" } });
    let reading = Reading::new(&vars(json.clone()));
    assert_eq!((reading.faults.len(), reading.near_misses.len()), (0, 1));
    assert_eq!(Policy::read(&vars(json)).unwrap().bindings.len(), 0);
}

proptest! {
    #[test]
    fn cf_04_reading_never_panics(vars in prop::collection::btree_map(any_var(), any_value(), 0..6)) {
        if let Err(faults) = Policy::read(&vars) {
            prop_assert!(!faults.is_empty());
        }
        if let (Some(policy), _) = Reading::new(&vars).into_policy() {
            let _ = policy.route("GET", "example.com", "/a");
        }
    }
}
