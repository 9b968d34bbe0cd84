//! `ALLOW` and `BLOCK`, of a deployment and of a binding.

use penstock::identity::{Address, HeadersAndQuery};
use penstock::policy::{AddressVerdict, Policy};
use serde_json::{Value, json};

use super::{each_has_one_fault, faults, policy};

struct From(&'static str);

impl HeadersAndQuery for From {
    fn header(&self, name: &str) -> Option<String> {
        (name == "cf-connecting-ip").then(|| self.0.to_owned())
    }

    fn query(&self) -> Option<&str> {
        None
    }
}

fn received(policy: &Policy, path: &str, ip: &'static str, check: impl FnOnce(AddressVerdict<'_>)) {
    check(policy.access_of(policy.route("GET", "h", path), &Address::read(&From(ip), 64)));
}

fn expect(vars: Value, table: &[(&str, &'static str, &str)]) {
    let policy = policy(vars);
    for (path, ip, expected) in table {
        received(&policy, path, ip, |reception| {
            let list =
                |block: penstock::policy::Block<'_>| block.binding.map_or("BLOCK", |by| by.name.as_str()).to_owned();
            let blocked = reception.blocked.map(list).map(|by| format!("blocked by {by}"));
            let shadow = reception.shadow.map(list).map(|by| format!("shadow of {by}"));
            let free = reception.allow_listed.then(|| "free".to_owned());
            let said: Vec<String> = [blocked, shadow, free].into_iter().flatten().collect();
            assert_eq!(said.join(", "), *expected, "{ip} at {path}");
        });
    }
}

#[test]
fn a_deployments_lists_are_for_every_request() {
    let vars = json!({
        "ALLOW": "10.0.0.0/8, 203.0.113.7", "BLOCK": ["10.6.6.6", "2001:db8::/32"],
        "LIMIT_X": { "route": "/x", "per_ip": "5/min" }, "LIMIT_HEALTH": { "route": "/healthz", "exempt": true },
    });
    expect(
        vars,
        &[
            ("/x", "198.51.100.1", ""),
            ("/x", "10.1.2.3", "free"),
            ("/elsewhere", "203.0.113.7", "free"),
            ("/x", "2001:db8::1", "blocked by BLOCK"),
            ("/healthz", "2001:db8::1", "blocked by BLOCK"),
            // BLOCK beats ALLOW, whichever is the narrower.
            ("/x", "10.6.6.6", "blocked by BLOCK, free"),
        ],
    );
}

#[test]
fn a_bindings_lists_are_for_its_own_requests() {
    let vars = json!({
        "ALLOW": "203.0.113.1",
        "LIMIT_BASE": { "per_ip": "5/min", "block": "198.51.100.66" },
        "LIMIT_ADMIN": { "route": "/admin/*", "block": ["203.0.113.0/24"], "allow": "192.0.2.1" },
    });
    expect(
        vars,
        &[
            ("/admin/x", "203.0.113.9", "blocked by admin"),
            ("/admin/x", "203.0.113.1", "blocked by admin, free"),
            ("/", "203.0.113.9", ""),
            ("/admin/x", "192.0.2.1", "free"),
            ("/", "192.0.2.1", ""),
            ("/admin/x", "198.51.100.66", "blocked by base"),
            ("/", "198.51.100.66", "blocked by base"),
        ],
    );
}

#[test]
fn shadow_blocks_nobody_and_off_lists_nobody() {
    let binding = |route, mode| json!({ "route": route, "per_ip": "5/min", "block": "203.0.113.7", "allow": "192.0.2.1", "mode": mode });
    expect(
        json!({ "LIMIT_S": binding("/s", "shadow"), "LIMIT_O": binding("/o", "off") }),
        &[
            ("/s", "203.0.113.7", "shadow of s"),
            ("/s", "192.0.2.1", "free"),
            ("/o", "203.0.113.7", ""),
            ("/o", "192.0.2.1", ""),
        ],
    );
}

#[test]
fn whoever_has_no_address_is_on_no_list() {
    let vars = json!({ "ALLOW": ["0.0.0.0/0", "::/0"], "BLOCK": ["0.0.0.0/0", "::/0"] });
    expect(vars, &[("/", "", ""), ("/", "unknown", "")]);
}

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
fn each_wrong_item_is_a_fault_with_its_place() {
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
