//! The effect of `priority` on the caps.

use penstock::policy::Priority;
use serde_json::{Value, json};

use super::policy;

#[test]
fn a_cap_knows_the_highest_priority_that_meets_it() {
    let highest = |bindings: Value| {
        let policy = policy(bindings);
        policy.base.unwrap().capacity.in_flight.unwrap().highest
    };
    assert_eq!(highest(json!({ "LIMIT_BASE": { "in_flight": 5 } })), Priority::Normal);
    assert_eq!(highest(json!({ "LIMIT_BASE": { "in_flight": 5, "priority": "low" } })), Priority::Low);
    let with = |x: Value| json!({ "LIMIT_BASE": { "in_flight": 5, "priority": "low" }, "LIMIT_X": x });
    assert_eq!(highest(with(json!({ "route": "/x", "per_ip": "5/s" }))), Priority::Normal);
    assert_eq!(highest(with(json!({ "route": "/x", "priority": "high" }))), Priority::High);
    assert_eq!(highest(with(json!({ "route": "/x", "exempt": true }))), Priority::Low);
    assert_eq!(highest(with(json!({ "route": "/x", "per_ip": "1/s", "mode": "off" }))), Priority::Normal);
}

#[test]
fn a_priority_beside_a_base_that_is_off_is_no_fault() {
    for shared in ["in_flight", "global"] {
        let value = if shared == "global" { "5/s" } else { "5" };
        let x = json!({ "route": "/x", "priority": "high" });
        policy(json!({ "LIMIT_BASE": { shared: value, "mode": "off" }, "LIMIT_X": x }));
    }
}
