//! `MODE`, beside the modes of bindings.

use penstock::limit::time::Span;
use penstock::policy::{Mode, Policy};
use serde_json::json;

use super::{each_value_is_refused, policy};

/// A policy with a limit, two caps and all else that is no limit, under this `MODE`.
fn under(mode: &str) -> Policy {
    policy(json!({
        "MODE": mode,
        "BLOCK": "203.0.113.7",
        "LIMIT_BASE": { "per_ip": "5/min", "global": ["50/s", "9/day"], "warmup": "1min", "timeout": "5s", "upload": "6s" },
        "LIMIT_CAPS": { "route": "/caps", "in_flight": "auto", "sockets": 5, "wait": "1s", "priority": "high" },
        "LIMIT_SHADOW": { "route": "/shadow", "per_ip": "5/min", "mode": "shadow" },
        "LIMIT_OFF": { "route": "/off", "per_ip": "5/min", "block": "203.0.113.8", "mode": "off" },
    }))
}

/// The modes of all limits of base and of the bindings, and of all caps.
fn modes(policy: &Policy) -> (Vec<Mode>, Vec<Mode>) {
    let bindings = policy.base.iter().chain(&policy.bindings);
    let limits = bindings.flat_map(|binding| &binding.limits).map(|limit| limit.mode);
    (limits.collect(), policy.caps().map(|cap| cap.mode).collect())
}

#[test]
fn every_limit_and_cap_has_the_stricter_of_two_modes() {
    use Mode::{Enforce, Shadow};
    assert_eq!(modes(&under("enforce")), (vec![Enforce, Enforce, Enforce, Shadow], vec![Enforce, Enforce]));
    assert_eq!(modes(&under("shadow")), (vec![Shadow; 4], vec![Shadow; 2]));
    assert_eq!(modes(&under("off")), (vec![], vec![]));
}

#[test]
fn what_is_no_limit_holds_in_every_mode() {
    for mode in ["enforce", "shadow", "off"] {
        let policy = under(mode);
        assert_eq!(policy.settings.access.block.to_string(), "203.0.113.7", "{mode}");
        assert_eq!(policy.timeout(None), Some(Span::from_secs(5)), "{mode}");
        assert_eq!(policy.upload(None), Some(Span::from_secs(6)), "{mode}");
        let off = policy.binding("off").unwrap();
        assert!(off.off && off.limits.is_empty(), "{mode}");
        let caps = policy.binding("caps").unwrap();
        assert_eq!(caps.capacity.wait, if mode == "off" { Span::ZERO } else { Span::from_secs(1) });
        assert_eq!(caps.mode, Mode::Enforce, "its block list refuses");
    }
}

#[test]
fn a_mode_without_limits_needs_no_database() {
    assert!(under("shadow").has_quota());
    assert!(!under("off").has_quota());
}

#[test]
fn other_modes_are_faults() {
    let expected = "expected \"enforce\", \"shadow\" or \"off\"";
    each_value_is_refused(
        "MODE",
        &[(json!("on"), &format!("\"on\": {expected}")), (json!(false), &format!("false: {expected}"))],
    );
    let expected = "expected \"closed\" or \"open\"";
    each_value_is_refused("MISCONFIGURED", &[(json!("local"), &format!("\"local\": {expected}"))]);
}
