//! Questions to a policy.

use serde_json::json;

use super::policy;

#[test]
fn a_timeout_is_that_of_the_binding_or_else_of_base_and_so_is_upload() {
    let fields = |secs: u64| (format!("{secs}s"), format!("{}s", secs + 1));
    let vars = |[base, a, d]: [(String, String); 3]| {
        json!({
            "LIMIT_BASE": { "timeout": base.0, "upload": base.1 },
            "LIMIT_A": { "route": "/a", "timeout": a.0, "upload": a.1 },
            "LIMIT_B": { "route": "/b", "per_ip": "5/s" },
            "LIMIT_C": { "route": "/c", "exempt": true },
            "LIMIT_D": { "route": "/d", "exempt": true, "timeout": d.0, "upload": d.1 },
        })
    };
    let policy = policy(vars([fields(10), fields(60), fields(2)]));
    let of = |path: &str| {
        let route = policy.route("GET", "h", path);
        (policy.timeout(route).map(|span| span.as_secs_up()), policy.upload(route).map(|span| span.as_secs_up()))
    };
    assert_eq!(of("/a"), (Some(60), Some(61)));
    assert_eq!(of("/b"), (Some(10), Some(11)));
    assert_eq!(of("/other"), (Some(10), Some(11)));
    assert_eq!(of("/c"), (None, None), "an exempt binding does not meet base");
    assert_eq!(of("/d"), (Some(2), Some(3)));
}

#[test]
fn ops_01_requests_beside_an_exempt_route_are_not_exempt() {
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
fn ops_01_a_path_that_may_leave_its_prefix_is_not_exempt() {
    let policy = policy(json!({
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
