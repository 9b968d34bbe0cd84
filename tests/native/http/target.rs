//! Splitting URLs, byte for byte.

use penstock::http::target::Target;

#[test]
fn every_spelling_of_a_dot_segment_is_found() {
    for path in ["/../x", "/a/..", "/./x", "/%2e%2e/x", "/a/.%2E/x", "/a\\..\\x", "/%2E"] {
        assert!(Target::parse(&format!("https://h{path}")).may_have_dot_segments(), "{path}");
    }
    for path in ["/", "/a.html", "/a..b/c", "/%2F", "/a?../x"] {
        assert!(!Target::parse(&format!("https://h{path}")).may_have_dot_segments(), "{path}");
    }
}

#[test]
fn parts_are_the_urls_own_bytes() {
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
        let target = Target::parse(url);
        assert_eq!(
            (target.authority, target.path_and_query, target.path(), target.query()),
            (authority, path_and_query, path, query),
            "{url}"
        );
    }
}

#[test]
fn host_that_parsers_spell_otherwise_is_not_plain() {
    for host in [
        "example.com",
        "EXAMPLE.com.",
        "example.com:8443",
        "example.com:",
        "a_b.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        "7up.example",
    ] {
        for after in ["", "/", "/%61\\@", "?*", "#@"] {
            assert!(Target::has_plain_host(&format!("https://{host}{after}")), "{host}{after}");
        }
    }
    for host in [
        "%61dmin.example",
        "admin%2eexample",
        "admin\u{3002}example",
        "\u{ff41}dmin.example",
        "ad\u{ad}min.example",
        "admin.example\\x",
        "admin.example*",
        "user@admin.example",
        "a, b",
        "",
        ":80",
        "[::1]",
        "0x7f.0.0.1",
        "127.1",
        "2130706433",
        "127.0.0.01",
        "1.2.3.0x4.",
    ] {
        assert!(!Target::has_plain_host(&format!("https://{host}/x")), "{host}");
    }
    assert!(!Target::has_plain_host(""));
}
