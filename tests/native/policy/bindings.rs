use penstock::policy::{Binding, Mode, OnError, Scope};
use serde_json::json;

use super::policy;

fn names(binding: &Binding) -> Vec<&str> {
    binding.limits.iter().map(|limit| limit.name.as_str()).collect()
}

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
    assert_eq!((base.name.as_str(), names(base)), ("base", vec!["base/ip", "base/global"]));
    let [api, health, login] = policy.bindings.as_slice() else { panic!("{:?}", policy.bindings) };
    assert_eq!(names(api), ["api/key", "api/key-2"]);
    assert_eq!(
        api.limits.iter().map(|limit| limit.allowance.to_string()).collect::<Vec<_>>(),
        ["100/s burst 200", "100000/day Asia/Shanghai"]
    );
    assert!(api.limits.iter().all(|limit| limit.cost == 2 && limit.scope == Scope::Key && limit.mode == Mode::Enforce));
    assert_eq!(api.key.to_string(), "header:x-api-key, bearer");
    assert_eq!(api.routes[0].to_string(), "api.example.com/v1/*");
    assert_eq!(names(login), ["login/ip"]);
    assert!(health.exempt && health.limits.is_empty() && !health.off);
}

#[test]
fn limits_are_named_and_numbered_in_the_order_in_which_they_are_met() {
    let policy = policy(json!({ "LIMIT_LOGIN_PAGE": {
        "route": "/x", "key": "bearer",
        "global": ["9/s"], "per_key": "8/s", "per_ip": ["5/s", "6/min", "7/h"],
    } }));
    let binding = &policy.bindings[0];
    assert_eq!(binding.name, "login-page");
    assert_eq!(
        names(binding),
        ["login-page/ip", "login-page/ip-2", "login-page/ip-3", "login-page/key", "login-page/global"]
    );
}

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
fn a_binding_that_is_off_has_no_limits_and_keeps_its_route() {
    let policy = policy(json!({
        "LIMIT_BASE": { "per_ip": "5/min" },
        "LIMIT_ALL": { "route": "/*", "per_ip": "5/min" },
        "LIMIT_X": { "route": "/x", "per_ip": "5/min", "mode": "off" },
        "LIMIT_Y": { "route": "/y", "per_ip": "5/min", "mode": "shadow" },
    }));
    let x = policy.route("GET", "h", "/x").unwrap();
    assert_eq!((x.name.as_str(), x.off, x.exempt, x.limits.len()), ("x", true, false, 0));
    assert_eq!(policy.route("GET", "h", "/y").unwrap().limits[0].mode, Mode::Shadow);
}

#[test]
fn a_binding_that_is_off_is_validated_all_the_same() {
    let found = super::faults(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/mn", "mode": "off" } }));
    assert!(found[0].starts_with("LIMIT_X.per_ip: \"5/mn\": "), "{found:?}");
}

#[test]
fn a_json_text_reads_as_the_table_would() {
    let table = json!({ "route": ["/x", "/y"], "per_ip": "5/min", "cost": 2 });
    let read = |value| format!("{:?}", policy(json!({ "LIMIT_X": value })).bindings);
    assert_eq!(read(json!(table.to_string())), read(table));
}

#[test]
fn a_binding_has_its_own_key_or_the_shared_one() {
    let policy = policy(json!({
        "KEY": "bearer",
        "LIMIT_A": { "route": "/a", "per_key": "5/min" },
        "LIMIT_B": { "route": "/b", "per_key": "5/min", "key": "query:k, cookie:Session" },
    }));
    let keys: Vec<String> = policy.bindings.iter().map(|binding| binding.key.to_string()).collect();
    assert_eq!(keys, ["bearer", "query:k, cookie:Session"]);
}

#[test]
fn no_vars_are_no_limits() {
    let policy = policy(json!({}));
    assert!(policy.base.is_none() && policy.bindings.is_empty() && !policy.has_quota());
    assert!(policy.route("GET", "h", "/").is_none());
}
