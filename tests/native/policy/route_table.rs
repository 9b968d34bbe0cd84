//! All patterns of a configuration together.

use serde_json::json;

use super::{each_has_one_fault, faults, policy};

#[test]
fn cfg_03_the_same_route_twice_is_refused_however_it_is_spelt() {
    let two = |first: &str, second: &str| json!({ "LIMIT_A": { "route": first, "per_ip": "5/min" }, "LIMIT_B": { "route": ["/b", second], "per_ip": "6/min" } });
    for (first, second) in [
        ("/login", "/login"),
        ("/login", "//login/"),
        ("/login", "/%6cogin"),
        ("/a%2fb", "/a%2Fb"),
        ("/x/../login", "/./login"),
        ("/users/:id", "/users/:name"),
        ("/api/*", "/api/*/"),
        ("API.example.com/x", "api.example.com./x"),
        ("GET,POST /x", "POST,GET /x"),
        ("GET,HEAD /x", "GET /x"),
        ("GET,POST /x", "POST /x"),
        ("/", "//"),
    ] {
        let fault = format!("LIMIT_B.route[1]: {second:?}: the same route as {first:?} in LIMIT_A.route");
        assert_eq!(faults(two(first, second)), [fault]);
    }
    for (first, second) in [
        ("/login", "POST /login"),
        ("/login", "/LOGIN"),
        ("GET /x", "POST /x"),
        ("a.example/x", "/x"),
        ("*.example.com/x", "example.com/x"),
        ("/x", "/x/*"),
        ("/:a", "/*"),
    ] {
        assert_eq!(policy(two(first, second)).bindings.len(), 2);
    }
    each_has_one_fault(&[(
        json!({ "LIMIT_A": { "route": ["/a", "/b", "/a/"], "exempt": true } }),
        "LIMIT_A.route[2]: \"/a/\": the same route as \"/a\" in LIMIT_A.route[0]",
    )]);
}
