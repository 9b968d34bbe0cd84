//! `CORS_ORIGINS`.

use serde_json::json;

use super::{each_has_one_fault, policy};

#[test]
fn cors_origins_accepts_origins_alone() {
    let expected = "expected an origin such as \"https://app.example.com\", or \"*\"";
    for (origin, what) in [
        ("", "not an origin"),
        ("null", "not an origin"),
        ("app.example.com", "not an origin"),
        ("https://app.example.com/", "an origin ends with its host or port"),
        ("https://app.example.com/x", "an origin ends with its host or port"),
        ("https://*.example.com", "its host cannot be read"),
        ("https://", "its host cannot be read"),
        ("https://a:99999", "its host cannot be read"),
        ("capacitor://localhost", "neither http nor https"),
    ] {
        let fault = format!("CORS_ORIGINS: {origin:?}: {what}, {expected}");
        each_has_one_fault(&[(json!({ "CORS_ORIGINS": origin }), &fault)]);
    }
    each_has_one_fault(&[
        (
            json!({ "CORS_ORIGINS": ["https://a.example", "none"] }),
            &format!("CORS_ORIGINS[1]: \"none\": not an origin, {expected}"),
        ),
        (
            json!({ "CORS_ORIGINS": true }),
            "CORS_ORIGINS: true: not a text, expected an origin such as \"https://app.example.com\", \"*\", a list of them, or \"none\"",
        ),
    ]);
    for good in [
        json!("*"),
        json!("none"),
        json!("https://a.example, http://b.example:8080"),
        json!(["*", "https://a.example"]),
    ] {
        policy(json!({ "CORS_ORIGINS": good }));
    }
}
