//! Paths, hosts and methods.

use penstock::policy::Policy;
use penstock::policy::path::Path;
use std::collections::BTreeMap;

mod paths {
    super::super::tables! { paths, super::a_path_is_read:
        path_01_slashes_do_not_make_another_path = "slashes",
        path_02_dot_segments_are_resolved = "dots",
        path_03_escapes_are_decoded_once = "escapes",
        path_04_an_encoded_slash_in_either_case_is_no_slash = "encoded-slashes",
        other_bytes_have_one_spelling_too = "bytes",
        a_percent_sign_that_begins_no_escape_is_a_percent_sign = "malformed",
        matrix_parameters_are_part_of_their_segment = "parameters",
        red_10_a_format_suffix_is_part_of_its_segment = "suffixes",
        path_06_case_counts = "case",
        path_08_a_query_is_no_part_of_the_path = "queries",
    }
}

mod forwarded {
    super::super::tables! { forwarded, super::a_path_is_read_alike_before_and_after_the_platform:
        red_11_a_path_that_the_platform_changes = "changed",
        red_11_a_path_that_the_platform_leaves_alone = "kept",
    }
}

mod hosts {
    super::super::tables! { hosts, super::a_host_is_read: a_host_has_one_spelling = "hosts" }
}

mod methods {
    super::super::tables! { methods, super::a_method_is_read: mth_01_a_method_is_what_was_sent_and_head_is_get = "methods" }
}

fn a_path_is_read(sent: &str, read: Option<&str>, _: Option<&str>) {
    assert_eq!(Path::read(sent).as_str(), read.unwrap(), "{sent:?}");
    // The path of a pattern is read in the same way.
    if !sent.contains(|c: char| c == '?' || c == '#' || c == '\\' || c.is_ascii_whitespace() || "^|".contains(c)) {
        let route = format!("/{}", sent.trim_start_matches('/'));
        assert!(is_for(&route, "GET", "h", sent), "the route {route:?}");
        assert!(is_for(&route, "GET", "h", read.unwrap()), "the route {route:?}");
    }
}

/// Expects the limits of the path `sent` to be those of the path that the origin receives. The
/// tests at the edge compare `forwarded` with the runtime's.
fn a_path_is_read_alike_before_and_after_the_platform(sent: &str, forwarded: Option<&str>, _: Option<&str>) {
    assert_eq!(Path::read(sent), Path::read(forwarded.unwrap()), "{sent:?}");
}

#[test]
fn red_10_a_route_names_a_path_with_and_without_its_format_suffix() {
    let routes = serde_json::json!(["POST /login", "POST /login.json"]);
    let binding = serde_json::json!({ "route": routes, "per_ip": "5/min" });
    let policy = Policy::read(&BTreeMap::from([("LIMIT_LOGIN".to_owned(), binding)])).unwrap();
    let bound = |path: &str| policy.route("POST", "h", path).map(|binding| binding.name.as_str());
    assert_eq!(["/login", "/login.json", "/login.xml"].map(bound), [Some("login"), Some("login"), None]);
}

fn a_host_is_read(sent: &str, read: Option<&str>, _: Option<&str>) {
    let read = read.unwrap();
    assert!(is_for(&format!("{read}/x"), "GET", sent, "/x"), "{sent:?} is {read:?}");
    assert!(!is_for(&format!("other.{read}/x"), "GET", sent, "/x"));
}

fn a_method_is_read(sent: &str, read: Option<&str>, _: Option<&str>) {
    for method in ["GET", "POST", "PUT", "OPTIONS"] {
        assert_eq!(is_for(&format!("{method} /x"), sent, "h", "/x"), read == Some(method), "{sent:?}");
    }
}

/// Whether a binding with this route matches the request.
fn is_for(route: &str, method: &str, host: &str, path: &str) -> bool {
    let binding = serde_json::json!({ "route": route, "per_ip": "5/min" });
    let policy = Policy::read(&BTreeMap::from([("LIMIT_B".to_owned(), binding)])).unwrap();
    policy.route(method, host, path).is_some()
}
