//! The effect of the address lists on a request.

use penstock::identity::{Address, HeadersAndQuery};
use penstock::policy::Block;
use serde_json::{Value, json};

use super::policy;

/// A request from this address.
struct From(&'static str);

impl HeadersAndQuery for From {
    fn header(&self, name: &str) -> Option<String> {
        (name == "cf-connecting-ip").then(|| self.0.to_owned())
    }

    fn query(&self) -> Option<&str> {
        None
    }
}

/// Expects the verdict on each path and address: `blocked by LIST`, `shadow of LIST` and `free`.
#[track_caller]
fn expect_verdicts(vars: Value, table: &[(&str, &'static str, &str)]) {
    let policy = policy(vars);
    for (path, ip, expected) in table {
        let verdict = policy.access_of(policy.route("GET", "h", path), &Address::read(&From(ip), 64));
        let list = |block: Block<'_>| block.binding.map_or("BLOCK", |by| by.name.as_str()).to_owned();
        let blocked = verdict.blocked.map(list).map(|by| format!("blocked by {by}"));
        let shadow = verdict.shadow.map(list).map(|by| format!("shadow of {by}"));
        let free = verdict.allow_listed.then(|| "free".to_owned());
        let parts: Vec<String> = [blocked, shadow, free].into_iter().flatten().collect();
        assert_eq!(parts.join(", "), *expected, "{ip} at {path}");
    }
}

#[test]
fn lists_of_the_deployment_apply_to_every_request() {
    let vars = json!({
        "ALLOW": "10.0.0.0/8, 203.0.113.7", "BLOCK": ["10.6.6.6", "2001:db8::/32"],
        "LIMIT_X": { "route": "/x", "per_ip": "5/min" }, "LIMIT_HEALTH": { "route": "/healthz", "exempt": true },
    });
    expect_verdicts(
        vars,
        &[
            ("/x", "198.51.100.1", ""),
            ("/x", "10.1.2.3", "free"),
            ("/elsewhere", "203.0.113.7", "free"),
            ("/x", "2001:db8::1", "blocked by BLOCK"),
            ("/healthz", "2001:db8::1", "blocked by BLOCK"),
            // BLOCK beats ALLOW, also if ALLOW has the narrower network.
            ("/x", "10.6.6.6", "blocked by BLOCK, free"),
        ],
    );
}

#[test]
fn lists_of_a_binding_apply_to_its_own_requests_alone() {
    let vars = json!({
        "ALLOW": "203.0.113.1",
        "LIMIT_BASE": { "per_ip": "5/min", "block": "198.51.100.66" },
        "LIMIT_ADMIN": { "route": "/admin/*", "block": ["203.0.113.0/24"], "allow": "192.0.2.1" },
    });
    expect_verdicts(
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
fn lists_in_shadow_block_nobody_and_lists_of_a_binding_that_is_off_do_not_count() {
    let binding = |route, mode| json!({ "route": route, "per_ip": "5/min", "block": "203.0.113.7", "allow": "192.0.2.1", "mode": mode });
    expect_verdicts(
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
fn a_request_without_an_address_is_on_no_list() {
    let vars = json!({ "ALLOW": ["0.0.0.0/0", "::/0"], "BLOCK": ["0.0.0.0/0", "::/0"] });
    expect_verdicts(vars, &[("/", "", ""), ("/", "unknown", "")]);
}
