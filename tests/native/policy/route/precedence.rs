//! The order of patterns that match the same request.

use serde_json::{Value, json};

use crate::policy::policy;

/// Expects each of `routes` to win against all routes after it for `request`, in each rotation of
/// their order and names.
#[track_caller]
fn expect_order(request: &str, routes: &[&str]) {
    let (method, url) = request.split_once(' ').unwrap();
    let (host, path) = url.split_at(url.find('/').unwrap());
    for left in 0..routes.len() {
        let mut candidates = routes[left..].to_vec();
        for _ in 0..candidates.len() {
            candidates.rotate_left(1);
            let vars = candidates
                .iter()
                .enumerate()
                .map(|(number, route)| (format!("LIMIT_N{number}"), json!({ "route": route, "per_ip": "5/min" })));
            let policy = policy(Value::Object(vars.collect()));
            let winner = policy.route(method, host, path).unwrap();
            let expected = penstock::policy::route::Pattern::parse(routes[left]).unwrap();
            assert_eq!(winner.routes, [expected], "{request} among {candidates:?}");
        }
    }
}

#[test]
fn exact_beats_name_beats_prefix() {
    expect_order("GET h/users/me", &["/users/me", "/users/:id", "/:all/me", "/:all/:id", "/users/*", "/:all/*", "/*"]);
    expect_order("GET h/api", &["/api", "/:x", "/api/*", "/:x/*", "/*"]);
    expect_order("GET h/a/b/c", &["/a/:x/c", "/a/b/*", "/a/*"]);
    expect_order("GET h/", &["/", "/*"]);
}

#[test]
fn longer_beats_shorter() {
    expect_order("GET h/a/b/c", &["/a/b/c", "/a/b/c/*", "/a/b/*", "/a/*", "/*"]);
}

#[test]
fn host_beats_no_host_and_a_longer_host_a_shorter_one() {
    expect_order(
        "GET a.b.example.com/",
        &["a.b.example.com/*", "*.b.example.com/*", "*.example.com/*", "*.com/*", "/*"],
    );
}

#[test]
fn segments_are_compared_from_the_left() {
    expect_order("GET h/a/b/c", &["/a/:x/c", "/a/:x/:y", "/:w/b/c", "/a/b/*", "/a/:x/*", "/:w/b/*"]);
}

#[test]
fn method_beats_no_method_on_the_same_path_alone() {
    expect_order("POST h/x/y", &["POST /x/y", "/x/y", "POST /x/:z", "/x/:z", "GET,POST /x/*", "/x/*", "POST /*", "/*"]);
    expect_order("HEAD h/x", &["GET /x", "/x"]);
}

#[test]
fn the_path_counts_before_the_host_and_the_host_before_the_method() {
    expect_order(
        "GET api.example.com/v1/x",
        &["api.example.com/v1/x", "*.example.com/v1/x", "GET /v1/x", "/v1/x", "api.example.com/*", "GET /*", "/*"],
    );
}
