//! `CORS_ORIGINS`.

use penstock::policy::Readable;
use serde_json::json;

use super::{each_has_one_fault, policy, settings};

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
        ("file://", "no page has an origin of this scheme"),
        ("wss://a.example", "no page has an origin of this scheme"),
        ("capacitor://", "not an origin"),
        ("capacitor://localhost/", "not an origin"),
        ("1app://localhost", "not an origin"),
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

#[test]
fn cor_10_origins_of_apps_are_listed_as_browsers_send_them() {
    for origin in [
        "capacitor://localhost",
        "ionic://localhost",
        "tauri://localhost",
        "app://.",
        "app://my-app:3000",
        "chrome-extension://abcdef",
    ] {
        let cors = settings(json!({ "CORS_ORIGINS": origin })).cors;
        assert_eq!(cors.readable(origin), Readable::WithCredentials(origin));
        assert_eq!(cors.readable("https://localhost"), Readable::No);
    }
    let cors = settings(json!({ "CORS_ORIGINS": "Capacitor://localhost" })).cors;
    assert_eq!(cors.readable("capacitor://localhost"), Readable::WithCredentials("capacitor://localhost"));
}
