//! One `LIMIT_` table.

use penstock::policy::Mode;
use serde_json::json;

use super::{each_has_one_fault, faults, limit_names, policy};

#[test]
fn limits_are_named_and_numbered_in_the_order_in_which_they_are_met() {
    let policy = policy(json!({ "LIMIT_LOGIN_PAGE": {
        "route": "/x", "key": "bearer",
        "global": ["9/s"], "per_key": "8/s", "per_ip": ["5/s", "6/min", "7/h"],
    } }));
    let binding = &policy.bindings[0];
    assert_eq!(binding.name, "login-page");
    assert_eq!(
        limit_names(binding),
        ["login-page/ip", "login-page/ip-2", "login-page/ip-3", "login-page/key", "login-page/global"]
    );
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
    let found = faults(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/mn", "mode": "off" } }));
    assert!(found[0].starts_with("LIMIT_X.per_ip: \"5/mn\": "), "{found:?}");
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
fn a_binding_without_a_readable_name_is_a_fault() {
    let limit = json!({ "route": "/x", "per_ip": "5/min" });
    each_has_one_fault(&[
        (json!({ "LIMIT_": limit }), "LIMIT_: a limit without a name, expected LIMIT_<NAME>, such as LIMIT_LOGIN"),
        (
            json!({ "LIMIT_A-B": limit }),
            "LIMIT_A-B: \"A-B\" is no name for a limit, expected upper-case letters, digits and underscores, such as LIMIT_LOGIN",
        ),
    ]);
    assert_eq!(
        faults(
            json!({ "LIMIT_API": { "route": "/x", "per_ip": "5/min" }, "LIMIT_api": { "route": "/y", "per_ip": "5/min" } })
        ),
        [
            "LIMIT_api: \"api\" is no name for a limit, expected upper-case letters, digits and underscores, such as LIMIT_LOGIN",
            "LIMIT_api: its limits would have the same names as those of LIMIT_API",
        ]
    );
}

#[test]
fn every_binding_but_base_needs_a_route() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "per_ip": "5/min" } }),
            "LIMIT_X.route: missing, expected a pattern such as \"POST /login\"; only LIMIT_BASE is met by every request",
        ),
        (
            json!({ "LIMIT_BASE": { "route": "/*", "per_ip": "5/min" } }),
            "LIMIT_BASE.route: \"/*\": LIMIT_BASE is met by every request and has no route; a limit for some of them needs another name",
        ),
    ]);
}

#[test]
fn cfg_04_a_binding_without_effect_is_a_fault() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x" } }),
            "LIMIT_X: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, upload, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_BASE": {} }),
            "LIMIT_BASE: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, upload, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "exempt": false } }),
            "LIMIT_X: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, upload, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "exempt": true, "per_ip": "5/min", "global": "5/s" } }),
            "LIMIT_X.exempt: an exempt route meets no limit, so per_ip and global would mean nothing: remove one or the other",
        ),
        (
            json!({ "LIMIT_BASE": { "exempt": true } }),
            "LIMIT_BASE.exempt: LIMIT_BASE cannot be exempt from itself: leave it out to have no base limits",
        ),
    ]);
    // A fault of KEY is reported once, and not again for each limit that counts keys.
    each_has_one_fault(&[(
        json!({ "KEY": "header:", "LIMIT_X": { "route": "/x", "per_key": "5/min" } }),
        "KEY: \"header:\": `header:` names no header: write `header:NAME`",
    )]);
}
