//! The origins whose pages may read a refusal.

use super::{Refused, header, policy};
use penstock::gate::decision::Reason;
use penstock::http::answer::Answer;
use penstock::limit::time::Span;

fn answer(vars: &str, origin: Option<&str>) -> Answer {
    let vars = format!(r#"{{{vars} "LIMIT_LOGIN": {{"route": "/login", "per_ip": "5/min"}}}}"#);
    let refused = Refused { limit: "login/ip", reason: Reason::RateLimited, wait: Span::from_secs(12), until: None };
    let headers: Vec<(&str, &str)> = origin.map(|origin| ("origin", origin)).into_iter().collect();
    refused.answer(&policy(&vars), "GET", &headers)
}

fn allowed(vars: &str, origin: &str) -> (Option<String>, bool) {
    let answer = answer(vars, Some(origin));
    let named = header(&answer, "Access-Control-Allow-Origin").map(str::to_owned);
    let credentials = header(&answer, "Access-Control-Allow-Credentials");
    assert!(matches!(credentials, None | Some("true")));
    assert_eq!(header(&answer, "Access-Control-Expose-Headers").is_some(), named.is_some());
    (named, credentials.is_some())
}

#[test]
fn cor_01_without_cors_origins_any_page_may_read_a_refusal() {
    let answer = answer("", Some("https://app.example"));
    assert_eq!(header(&answer, "Access-Control-Allow-Origin"), Some("*"));
    assert_eq!(header(&answer, "Access-Control-Allow-Credentials"), None);
    assert_eq!(
        header(&answer, "Access-Control-Expose-Headers"),
        Some("Retry-After, Link, RateLimit, RateLimit-Policy, Penstock-Request-Id")
    );
    assert!(header(&answer, "Vary").unwrap().contains("Origin"));
}

#[test]
fn cor_01_every_rate_header_that_is_sent_is_exposed() {
    let exposed = |style| {
        let answer = answer(&format!(r#""HEADERS": "{style}","#), Some("https://app.example"));
        let exposed = header(&answer, "Access-Control-Expose-Headers").unwrap().to_owned();
        for (name, _) in answer.headers.iter().filter(|(name, _)| name.contains("RateLimit")) {
            assert!(exposed.split(", ").any(|known| known == *name), "{name} in {exposed}");
        }
        exposed
    };
    assert_eq!(exposed("none"), "Retry-After, Link, Penstock-Request-Id");
    assert_eq!(
        exposed("legacy"),
        "Retry-After, Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Penstock-Request-Id"
    );
    for (style, count) in [("both", 5), ("draft-7", 2), ("draft-6", 4), ("legacy-epoch", 3)] {
        assert_eq!(exposed(style).matches("RateLimit").count(), count, "{style}");
    }
}

#[test]
fn only_a_listed_origin_may_read_with_credentials() {
    let list = r#""CORS_ORIGINS": ["https://app.example", "HTTP://Localhost:3000", "https://b.example:443"],"#;
    let named = |origin: &str| (Some(origin.to_owned()), true);
    for origin in ["https://app.example", "http://localhost:3000", "https://b.example"] {
        assert_eq!(allowed(list, origin), named(origin));
    }
    for other in [
        "https://evil.example",
        "http://app.example",
        "https://app.example:8443",
        "https://app.example.evil.example",
        "https://xapp.example",
        "https://APP.example",
        "null",
        "",
        "https://app.example, https://evil.example",
        "*",
    ] {
        assert_eq!(allowed(list, other), (None, false), "{other}");
    }
    let and_all = r#""CORS_ORIGINS": "*, https://app.example","#;
    assert_eq!(allowed(and_all, "https://app.example"), named("https://app.example"));
    assert_eq!(allowed(and_all, "https://evil.example"), (Some("*".into()), false), "never with credentials");
    assert_eq!(allowed(r#""CORS_ORIGINS": "none","#, "https://app.example"), (None, false));
}

#[test]
fn request_without_an_origin_gets_no_cors_headers() {
    let answer = answer("", None);
    assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("Access-Control")));
}
