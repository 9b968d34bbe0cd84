//! `message`, `docs` and `support`.

use serde_json::{Value, json};

use super::{each_has_one_fault, policy};

fn with(field: &str, value: impl Into<Value>) -> Value {
    json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", field: value.into() } })
}

#[test]
fn message_and_docs_are_kept_as_written() {
    for text in ["Ask <ops@example.com>", "太多了，请稍后再试 🚰", " spaced ", &"x".repeat(500), &"水".repeat(500)]
    {
        let policy = [policy(with("message", text)), policy(with("support", text))];
        assert_eq!(policy[0].bindings[0].operator_message().messages, [(String::new(), text.to_owned())]);
        assert_eq!(policy[1].bindings[0].operator_message().support, Some(text));
    }
    for url in [
        "https://example.com",
        "HTTP://localhost:8080/a%20b?c=d&e='f'#g",
        "https://[2001:db8::1]/x",
        "https://xn--fsq.example/",
    ] {
        assert_eq!(policy(with("docs", url)).bindings[0].operator_message().docs, Some(url));
    }
}

#[test]
fn a_message_is_one_line_of_bounded_length() {
    each_has_one_fault(&[
        (with("message", ""), "LIMIT_X.message: empty, expected a sentence or two"),
        (with("message", " \u{3000}"), "LIMIT_X.message: empty, expected a sentence or two"),
        (with("message", 5), "LIMIT_X.message: 5: not a text, expected a sentence or two"),
        (with("message", "水".repeat(501)), "LIMIT_X.message: 501 characters, expected at most 500"),
        (with("message", "a\nb"), "LIMIT_X.message: has the control character '\\n', expected text on one line"),
        (with("message", "a\0"), "LIMIT_X.message: has the control character '\\0', expected text on one line"),
        (
            with("message", "a\u{2028}b"),
            "LIMIT_X.message: has the control character '\\u{2028}', expected text on one line",
        ),
        (
            with("message", "a\u{85}b"),
            "LIMIT_X.message: has the control character '\\u{85}', expected text on one line",
        ),
    ]);
}

#[test]
fn message_by_language_has_a_text_for_each_tag() {
    let table = json!({ "en": "Slow down.", "zh-Hant": "請稍候。" });
    let policy = policy(with("message", table));
    let texts = policy.bindings[0].operator_message().messages;
    assert_eq!(texts, [("en".to_owned(), "Slow down.".to_owned()), ("zh-Hant".to_owned(), "請稍候。".to_owned())]);
    each_has_one_fault(&[
        (with("message", json!({})), "LIMIT_X.message: {}: an empty table, expected texts such as en = \"…\""),
        (
            with("message", json!({ "e n": "x" })),
            "LIMIT_X.message: \"e n\": not a language tag, expected one such as \"en\" or \"zh-Hant\"",
        ),
        (with("message", json!({ "en": "" })), "LIMIT_X.message: en: empty, expected a sentence or two"),
    ]);
}

#[test]
fn docs_are_a_url_that_is_safe_in_a_header_and_in_a_page() {
    for (url, what) in [
        ("example.com/docs", "not a URL"),
        ("javascript:alert(1)", "not a URL"),
        ("javascript://example.com/%0aalert(1)", "neither http nor https"),
        ("ftp://example.com", "neither http nor https"),
        ("https://", "its host cannot be read"),
        ("https://user:pw@example.com/", "its host cannot be read"),
        ("https://exa mple.com/", "its host cannot be read"),
        ("https://example.com/a b", "has characters that cannot stand in a URL as they are"),
        ("https://example.com/>; rel=\"x\"", "has characters that cannot stand in a URL as they are"),
        ("https://example.com/\r\nSet-Cookie: a=b", "has characters that cannot stand in a URL as they are"),
        ("https://example.com/水", "has characters that cannot stand in a URL as they are"),
    ] {
        let fault =
            format!("LIMIT_X.docs: {url:?}: {what}, expected a URL such as \"https://example.com/docs/limits\"");
        each_has_one_fault(&[(with("docs", url), &fault)]);
    }
    let long = format!("https://example.com/{}", "x".repeat(500));
    each_has_one_fault(&[(with("docs", long), "LIMIT_X.docs: 520 characters, expected at most 500")]);
}
