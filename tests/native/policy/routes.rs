use penstock::policy::Policy;
use serde_json::json;

use super::policy;

/// Every name is the binding with that route, `b`.
fn one(route: &str) -> Policy {
    policy(json!({ "LIMIT_B": { "route": route, "per_ip": "5/min" } }))
}

#[track_caller]
fn check(route: &str, matching: &[&str], others: &[&str]) {
    let policy = one(route);
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
    check(
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
    check(
        "/api/*",
        &["GET h/api", "GET h/api/", "GET h/api/v1", "GET h/api/v1/x", "GET h/api?x=1", "GET h/api//"],
        &["GET h/apikeys", "GET h/", "GET h/ap", "GET h/x/api/v1", "GET h/api%2Fv1"],
    );
    check("/*", &["GET h/", "GET h", "GET h/a/b/c"], &[]);
}

#[test]
fn a_name_stands_for_one_segment() {
    check(
        "/users/:id",
        &["GET h/users/7", "GET h/users/a%2Fb", "GET h/users/7/"],
        &["GET h/users", "GET h/users/", "GET h/users/7/x"],
    );
    check("/users/:id/*", &["GET h/users/7", "GET h/users/7/x/y"], &["GET h/users"]);
    check("/:a/:b", &["GET h/1/2"], &["GET h/1", "GET h/1/2/3"]);
}

#[test]
fn what_means_something_in_a_pattern_can_be_meant_as_it_is() {
    check("/%3Aid", &["GET h/:id", "GET h/%3aid"], &["GET h/7"]);
    check("/api/%2A", &["GET h/api/*", "GET h/api/%2a"], &["GET h/api", "GET h/api/x"]);
    check("/v1/items:batch", &["GET h/v1/items:batch", "GET h/v1/items%3Abatch"], &["GET h/v1/items"]);
}

#[test]
fn path_10_every_tail_and_every_query_is_the_same_route() {
    let policy = one("/rc/*");
    for number in 0..50 {
        for path in [format!("/rc/{number}"), format!("/rc/x?{number}")] {
            assert_eq!(policy.route("GET", "h", &path).unwrap().name, "b");
        }
    }
}

#[test]
fn mth_04_a_list_of_methods_is_for_each_of_them() {
    check("GET,POST /x", &["GET h/x", "POST h/x", "HEAD h/x"], &["PUT h/x", "get h/x", "GETPOST h/x", "OPTIONS h/x"]);
    check("POST /x", &["POST h/x"], &["GET h/x", "HEAD h/x", "post h/x", "Post h/x"]);
    check("/x", &["GET h/x", "OPTIONS h/x", "odd h/x"], &[]);
}

#[test]
fn a_host_is_read_without_case_port_and_final_dot() {
    check(
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
fn a_starred_host_is_one_label_or_more() {
    check(
        "*.example.com/*",
        &["GET a.example.com/x", "GET a.b.example.com/x", "GET A.EXAMPLE.com:80/x"],
        &["GET example.com/x", "GET .example.com/x", "GET badexample.com/x", "GET a.example.com.evil/x"],
    );
}

#[test]
fn ops_01_an_exempt_route_lends_nobody_its_exemption() {
    let policy = policy(json!({
        "LIMIT_BASE": { "per_ip": "5/min" },
        "LIMIT_HEALTH": { "route": "GET /healthz", "exempt": true },
        "LIMIT_LOGIN": { "route": "/login", "per_ip": "5/min" },
    }));
    let route = |method, path| policy.route(method, "h", path).map(|binding| (binding.name.as_str(), binding.exempt));
    assert_eq!(route("GET", "/healthz"), Some(("health", true)));
    assert_eq!(route("HEAD", "/healthz/"), Some(("health", true)));
    assert_eq!(route("POST", "/healthz"), None);
    assert_eq!(route("GET", "/healthz/../login"), Some(("login", false)));
    assert_eq!(route("GET", "/healthzz"), None);
    assert_eq!(route("GET", "/healthz/x"), None);
    assert_eq!(route("GET", "/healthz%2F..%2Flogin"), None);
}

#[test]
fn a_long_path_is_matched_in_linear_time() {
    let routes: Vec<String> = (0..200).map(|number| format!("{}/{number}", "/:x".repeat(40))).collect();
    let policy = policy(json!({ "LIMIT_B": { "route": routes, "per_ip": "5/min" } }));
    for path in [
        "/a".repeat(8192),
        "/..".repeat(5461),
        "/a/..".repeat(3276),
        "%2e%2e/".repeat(2340),
        "/".repeat(16384),
        "%".repeat(16384),
    ] {
        // A matcher that goes back and forth would not come to an end here.
        assert!(policy.route("GET", "h", &path).is_none());
    }
}

#[test]
fn ops_01_no_path_that_may_lead_elsewhere_is_exempt() {
    let policy = super::policy(serde_json::json!({
        "LIMIT_STATIC": { "route": ["/static/*", "/s/:name"], "exempt": true },
        "LIMIT_ALL": { "route": "/*", "per_ip": "5/min" },
    }));
    let name = |path: &str| policy.route("GET", "h", path).map(|binding| binding.name.as_str());
    for path in [
        "/static",
        "/static/x",
        "/static/a..b",
        "/static/...",
        "/static/a%2Fb",
        "/static/x;v=..",
        "/s/..x",
        "/static/%252e%252e",
        "/static/x/../y",
    ] {
        assert_eq!(name(path), Some("static"), "{path}");
    }
    for path in [
        "/static/..%2flogin",
        "/static/%2e%2e%2Flogin",
        "/static/x%2f..%2f..%2flogin",
        "/static/..;/login",
        "/static/.%2e;x=1/login",
        "/static/..%5clogin",
        "/static/%2e.%3b/login",
        "/static/x/..%2f",
        "/s/..%2flogin",
        "/s/..;",
        "/s/x%2f..",
    ] {
        assert_eq!(name(path), Some("all"), "{path}");
    }
}
