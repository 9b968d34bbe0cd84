//! The requests that a pattern matches.

mod precedence;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use penstock::policy::Policy;
use penstock::policy::path::Path;
use proptest::prelude::*;
use serde_json::json;

use super::policy;
use super::strategies::any_path;

/// A policy with one binding `b` for this route.
fn policy_with(route: &str) -> Policy {
    policy(json!({ "LIMIT_B": { "route": route, "per_ip": "5/min" } }))
}

/// Expects a pattern to match these requests (`METHOD HOST/PATH`), and not the others.
#[track_caller]
fn expect_matches(route: &str, matching: &[&str], others: &[&str]) {
    let policy = policy_with(route);
    let matches = |request: &str| {
        let (method, url) = request.split_once(' ').unwrap();
        let (host, path) = url.find('/').map_or((url, ""), |slash| url.split_at(slash));
        policy.route(method, host, path).is_some()
    };
    for request in matching {
        assert!(matches(request), "{route:?} is for {request:?}");
    }
    for request in others {
        assert!(!matches(request), "{route:?} is not for {request:?}");
    }
}

#[test]
fn path_01_to_04_odd_spellings_meet_the_same_limit() {
    expect_matches(
        "/login",
        &[
            "GET h/login",
            "GET h//login",
            "GET h/login/",
            "GET h/./login",
            "GET h/x/../login",
            "GET h/%2e/login",
            "GET h/%6Cogin",
            "GET h/login?x=1",
        ],
        &["GET h/LOGIN", "GET h/login/x", "GET h/loginx", "GET h/%256Cogin", "GET h/", "GET h"],
    );
}

#[test]
fn path_08_a_prefix_ends_at_a_segment() {
    expect_matches(
        "/api/*",
        &["GET h/api", "GET h/api/", "GET h/api/v1", "GET h/api/v1/x", "GET h/api?x=1", "GET h/api//"],
        &["GET h/apikeys", "GET h/", "GET h/ap", "GET h/x/api/v1", "GET h/api%2Fv1"],
    );
    expect_matches("/*", &["GET h/", "GET h", "GET h/a/b/c"], &[]);
}

#[test]
fn a_name_stands_for_one_segment() {
    expect_matches(
        "/users/:id",
        &["GET h/users/7", "GET h/users/a%2Fb", "GET h/users/7/"],
        &["GET h/users", "GET h/users/", "GET h/users/7/x"],
    );
    expect_matches("/users/:id/*", &["GET h/users/7", "GET h/users/7/x/y"], &["GET h/users"]);
    expect_matches("/:a/:b", &["GET h/1/2"], &["GET h/1", "GET h/1/2/3"]);
}

#[test]
fn escaped_colons_and_stars_in_a_pattern_are_literal() {
    expect_matches("/%3Aid", &["GET h/:id", "GET h/%3aid"], &["GET h/7"]);
    expect_matches("/api/%2A", &["GET h/api/*", "GET h/api/%2a"], &["GET h/api", "GET h/api/x"]);
    expect_matches("/v1/items:batch", &["GET h/v1/items:batch", "GET h/v1/items%3Abatch"], &["GET h/v1/items"]);
}

#[test]
fn path_10_every_tail_and_every_query_is_the_same_route() {
    let policy = policy_with("/rc/*");
    for number in 0..50 {
        for path in [format!("/rc/{number}"), format!("/rc/x?{number}")] {
            assert_eq!(policy.route("GET", "h", &path).unwrap().name, "b");
        }
    }
}

#[test]
fn mth_04_a_list_of_methods_is_for_each_of_them() {
    expect_matches(
        "GET,POST /x",
        &["GET h/x", "POST h/x", "HEAD h/x"],
        &["PUT h/x", "get h/x", "GETPOST h/x", "OPTIONS h/x"],
    );
    expect_matches("POST /x", &["POST h/x"], &["GET h/x", "HEAD h/x", "post h/x", "Post h/x"]);
    expect_matches("/x", &["GET h/x", "OPTIONS h/x", "odd h/x"], &[]);
}

#[test]
fn a_host_is_read_without_case_port_and_final_dot() {
    expect_matches(
        "API.example.com/*",
        &[
            "GET api.example.com/x",
            "GET API.EXAMPLE.COM/x",
            "GET api.example.com:8443/x",
            "GET api.example.com./x",
            "GET api.example.com.:443/x",
        ],
        &["GET example.com/x", "GET a.api.example.com/x", "GET api.example.com.evil/x", "GET /x", "GET [::1]:8787/x"],
    );
}

#[test]
fn a_star_in_a_host_stands_for_one_label_or_more() {
    expect_matches(
        "*.example.com/*",
        &["GET a.example.com/x", "GET a.b.example.com/x", "GET A.EXAMPLE.com:80/x"],
        &["GET example.com/x", "GET .example.com/x", "GET badexample.com/x", "GET a.example.com.evil/x"],
    );
}

/// The length of a long path in bytes. Linear work on it takes less than a second. Quadratic work
/// takes minutes: if each of a million segments scans half of the path at 10 GB/s, that is 100 s.
const LONG_PATH: usize = 2 << 20;

/// More than linear work takes on a busy machine, and less than quadratic work takes on a fast one.
const TIME_LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_long_path_is_matched_in_linear_time() {
    for (piece, is_exempt) in [
        ("/a", true),
        ("/..", true),
        ("/a/..", true),
        ("%2e%2e/", true),
        ("/", true),
        ("\\", true),
        ("%", true),
        ("/..;", false),
        ("/a%2F", true),
    ] {
        let (done, finished) = mpsc::channel();
        thread::spawn(move || {
            let routes: Vec<String> = (0..200).map(|number| format!("{}/{number}", "/:x".repeat(40))).collect();
            let policy = policy(json!({
                "LIMIT_B": { "route": routes, "per_ip": "5/min" },
                "LIMIT_ALL": { "route": "/*", "exempt": true },
            }));
            let path = piece.repeat(LONG_PATH / piece.len());
            done.send(policy.route("GET", "h", &path).is_some()).unwrap();
        });
        assert_eq!(finished.recv_timeout(TIME_LIMIT), Ok(is_exempt), "{piece:?} again and again");
    }
}

proptest! {
    #[test]
    fn cf_04_routing_never_panics(method in any::<String>(), host in any::<String>(), bytes in any::<Vec<u8>>()) {
        let policy = policy(json!({
            "LIMIT_A": { "route": ["/a/:b/*", "*.example.com/x", "GET /"], "per_ip": "5/min" },
            "LIMIT_B": { "route": "/*", "per_ip": "5/min" },
        }));
        prop_assert!(policy.route(&method, &host, &String::from_utf8_lossy(&bytes)).is_some());
    }

    #[test]
    fn a_path_is_matched_by_the_pattern_that_spells_it(path in any_path()) {
        // In a pattern these two characters are syntax. A path may also have them encoded.
        let path = path.replace(['*', ':'], "x");
        let read = Path::read(&path);
        prop_assume!(!read.as_str().contains(['*', ':']));
        let policy = policy(json!({ "LIMIT_A": { "route": read.as_str(), "per_ip": "5/min" } }));
        prop_assert!(policy.route("GET", "h", &path).is_some());
    }
}
