//! URLs, taken apart byte for byte.

use penstock::http::target::Target;

#[test]
fn every_spelling_of_a_dot_segment_is_seen() {
    for path in ["/../x", "/a/..", "/./x", "/%2e%2e/x", "/a/.%2E/x", "/a\\..\\x", "/%2E"] {
        assert!(Target::of(&format!("https://h{path}")).may_climb(), "{path}");
    }
    for path in ["/", "/a.html", "/a..b/c", "/%2F", "/a?../x"] {
        assert!(!Target::of(&format!("https://h{path}")).may_climb(), "{path}");
    }
}

#[test]
fn the_parts_are_the_urls_own_bytes() {
    let table = [
        ("https://example.com/a?b=c", "example.com", "/a?b=c", "/a", Some("b=c")),
        ("http://example.com:8443/", "example.com:8443", "/", "/", None),
        ("http://example.com", "example.com", "", "", None),
        ("http://example.com?x", "example.com", "?x", "", Some("x")),
        ("https://[2001:db8::1]:8/a//b/?", "[2001:db8::1]:8", "/a//b/?", "/a//b/", Some("")),
        (
            "https://h/%2Fa%20;p=1/?q=http://x/?y#z",
            "h",
            "/%2Fa%20;p=1/?q=http://x/?y",
            "/%2Fa%20;p=1/",
            Some("q=http://x/?y"),
        ),
        ("https://user:pw@h/a@b", "h", "/a@b", "/a@b", None),
        ("", "", "", "", None),
    ];
    for (url, authority, path_and_query, path, query) in table {
        let target = Target::of(url);
        assert_eq!(
            (target.authority, target.path_and_query, target.path(), target.query()),
            (authority, path_and_query, path, query),
            "{url}"
        );
    }
}
