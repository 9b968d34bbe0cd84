//! `ORIGIN`.

use serde_json::json;

use super::{each_value_is_refused, settings};

#[test]
fn an_origin_is_an_http_url_without_query_or_password() {
    for (text, origin) in [
        ("https://origin.example.com", "https://origin.example.com"),
        ("HTTPS://Origin.Example.com/", "https://origin.example.com"),
        ("http://127.0.0.1:9090", "http://127.0.0.1:9090"),
        ("http://[::1]:9090/a%20b//", "http://[::1]:9090/a%20b"),
        ("http://localhost/V2/", "http://localhost/V2"),
    ] {
        assert_eq!(settings(json!({ "ORIGIN": text })).origin.as_deref(), Some(origin));
    }
    let example = "expected one such as \"https://origin.example.com\"";
    each_value_is_refused(
        "ORIGIN",
        &[
            (json!(""), &format!("not a URL, {example}")),
            (json!("origin.example.com"), &format!("not a URL, {example}")),
            (json!("ftp://origin.example.com"), &format!("the scheme \"ftp\" is neither http nor https, {example}")),
            (
                json!("https://origin.example.com/?x"),
                &format!("a query or a fragment: they belong to each request, {example}"),
            ),
            (
                json!("https://origin.example.com#x"),
                &format!("a query or a fragment: they belong to each request, {example}"),
            ),
            (json!("https://"), &format!("the host \"\" cannot be read, {example}")),
            (json!("https://a b"), &format!("the host \"a b\" cannot be read, {example}")),
            (json!("https://a:0"), &format!("the host \"a:0\" cannot be read, {example}")),
            (json!("https://a:+80"), &format!("the host \"a:+80\" cannot be read, {example}")),
            (json!("https://a:99999"), &format!("the host \"a:99999\" cannot be read, {example}")),
            (json!("https://[::1"), &format!("the host \"[::1\" cannot be read, {example}")),
            (
                json!("https://a/b c"),
                "the path \"/b c\" cannot stand in a URL as it is: escape what is no letter or digit",
            ),
            (json!(["https://a"]), "not a text, expected a URL such as \"https://origin.example.com\""),
        ],
    );
}
