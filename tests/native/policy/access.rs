//! Reading `ALLOW`, `BLOCK`, `allow` and `block`.

use serde_json::json;

use super::{each_has_one_fault, faults, policy};

#[test]
fn a_binding_may_block_and_limit_nothing() {
    policy(json!({ "LIMIT_X": { "route": "/x", "block": "203.0.113.7" } }));
    policy(json!({ "LIMIT_X": { "route": "/x", "allow": "203.0.113.7" } }));
    policy(json!({ "LIMIT_X": { "route": "/x", "block": "203.0.113.7", "exempt": true } }));
    each_has_one_fault(&[(
        json!({ "LIMIT_X": { "route": "/x", "allow": "203.0.113.7", "exempt": true } }),
        "LIMIT_X.exempt: an exempt route meets no limit, so allow would mean nothing: remove one or the other",
    )]);
}

#[test]
fn each_wrong_item_is_a_fault_with_its_location() {
    let example = "expected an address such as \"203.0.113.7\", a network such as \"2001:db8::/32\", or a list of them";
    let no_net = "not an address or a network, expected one such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32";
    each_has_one_fault(&[
        (json!({ "ALLOW": 10 }), &format!("ALLOW: 10: not a text, {example}")),
        (json!({ "BLOCK": [] }), &format!("BLOCK: []: an empty list, {example}")),
        (json!({ "BLOCK": "" }), &format!("BLOCK: \"\": {no_net}")),
        (json!({ "BLOCK": "203.0.113.7," }), &format!("BLOCK: \"\": {no_net}")),
        (
            json!({ "BLOCK": ["203.0.113.7, 203.0.113.8"] }),
            &format!("BLOCK[0]: \"203.0.113.7, 203.0.113.8\": {no_net}"),
        ),
        (
            json!({ "BLOCK": ["203.0.113.7", "203.0.113.7/24"] }),
            "BLOCK[1]: \"203.0.113.7/24\": bits past the prefix are set, expected 203.0.113.0/24 or another prefix",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "allow": "all" } }),
            &format!("LIMIT_X.allow: \"all\": {no_net}"),
        ),
    ]);
    assert_eq!(faults(json!({ "ALLOW": "a, b, 10.0.0.0/8, c" })).len(), 3);
}
