//! The rate headers of each style.

use super::policy;
use penstock::gate::decision::LimitUsage;
use penstock::http::rate_headers::rate_headers;
use penstock::limit::time::Span;
use penstock::policy::HeaderStyle;

#[test]
fn each_header_style_has_its_own_headers() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 200"}}"#);
    let limit = &policy.base.as_ref().unwrap().limits[0];
    let usage = LimitUsage { limit, left: 150, more: Span::from_millis(10) };
    let names =
        |style| -> Vec<&str> { rate_headers(style, [limit], Some(usage)).into_iter().map(|(name, _)| name).collect() };
    assert_eq!(names(HeaderStyle::Draft11), ["RateLimit-Policy", "RateLimit"]);
    assert_eq!(names(HeaderStyle::Legacy), ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]);
    assert_eq!(names(HeaderStyle::Both).len(), 5);
    assert!(names(HeaderStyle::None).is_empty());
    let draft = rate_headers(HeaderStyle::Draft11, [limit], Some(usage));
    assert_eq!(draft[0].1, r#""base/ip";q=100;w=1"#);
    assert_eq!(draft[1].1, r#""base/ip";r=150;t=1"#);
}
