//! Problems, word for word: refusals by limits and by caps, and failures.

use super::{NOW, Refused, header, policy, recipient};
use penstock::concurrency::plan::{RequestKind, planned_caps};
use penstock::gate::decision::{CapRefusal, Reason};
use penstock::gate::plan::Plan;
use penstock::gate::usages::Usages;
use penstock::http::answer::Answer;
use penstock::http::problem::{Failure, Problem};
use penstock::http::rate_headers::RateHeaders;
use penstock::limit::time::{Span, Time};
use penstock::policy::{HeaderStyle, Settings};

fn refusal(limit: &'static str, reason: Reason, wait: Span, until: Option<Time>, style: &str) -> Answer {
    let vars = format!(
        r#"{{
            "KEY": "bearer", "HEADERS": "{style}",
            "LIMIT_BASE": {{"per_ip": "1200/min", "global": "5000/s"}},
            "LIMIT_LOGIN": {{"route": "/login", "per_ip": "5/min", "per_key": "100/day Asia/Shanghai"}}
        }}"#
    );
    Refused { limit, reason, wait, until }.answer(&policy(&vars), "GET", &[])
}

fn body(answer: &Answer) -> &str {
    answer.body.as_deref().unwrap()
}

#[test]
fn refusal_by_a_rate_is_worded_exactly_so() {
    let problem = refusal("login/ip", Reason::RateLimited, Span::from_millis(11_001), None, "draft-11");
    assert_eq!(problem.status, 429);
    assert_eq!(header(&problem, "Content-Type"), Some("application/problem+json"));
    assert_eq!(header(&problem, "Cache-Control"), Some("no-store"));
    assert_eq!(header(&problem, "Retry-After"), Some("12"));
    assert_eq!(header(&problem, "RateLimit"), Some(r#""login/ip";r=0;t=12"#));
    assert_eq!(
        header(&problem, "RateLimit-Policy"),
        Some(r#""login/ip";q=5;w=60, "base/ip";q=1200;w=60, "login/key";q=100;w=86400"#)
    );
    assert_eq!(
        body(&problem),
        concat!(
            r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","#,
            r#""status":429,"reason":"rate_limited","limit":"login/ip","scope":"ip","retry_after":12,"#,
            r#""retry_at":"2026-11-29T18:00:12Z","detail":"Too many requests from this address: login/ip allows 5/min. "#,
            r#"There is room again in 12 seconds.","request_id":"00000000000000ff","violated-policies":["login/ip"],"#,
            r#""error":{"message":"Too many requests from this address: login/ip allows 5/min. There is room again in 12 seconds.","#,
            r#""type":"rate_limit_error","code":"rate_limited"}}"#,
        )
    );
}

#[test]
fn refusal_by_a_quota_names_midnight_in_the_quotas_zone() {
    let midnight = Time::from_millis(1_796_054_400_000);
    let problem = refusal("login/key", Reason::QuotaExhausted, midnight.since(NOW), Some(midnight), "draft-11");
    assert!(body(&problem).contains(r#""retry_at":"2026-12-01T00:00:00+08:00""#), "{}", body(&problem));
    assert!(body(&problem).contains(r#""retry_after":79200,"#), "{}", body(&problem));
}

#[test]
fn hdr_01_wait_is_rounded_up_to_whole_seconds_and_is_never_zero() {
    for (nanos, secs) in [(0, "1"), (1, "1"), (999_999_999, "1"), (1_000_000_000, "1"), (1_000_000_001, "2")] {
        let problem = refusal("login/ip", Reason::RateLimited, Span::from_nanos(nanos), None, "both");
        assert_eq!(header(&problem, "Retry-After"), Some(secs));
        assert_eq!(header(&problem, "X-RateLimit-Reset"), Some(secs));
    }
}

#[test]
fn limit_that_cannot_be_checked_is_a_503_without_a_count() {
    let problem = refusal("base/global", Reason::LimiterUnavailable, Span::from_secs(1), None, "draft-11");
    assert_eq!((problem.status, header(&problem, "Retry-After")), (503, Some("1")));
    assert_eq!(header(&problem, "RateLimit"), None);
    assert!(!body(&problem).contains("violated-policies"));
}

#[test]
fn refusal_by_a_global_rate_does_not_blame_the_caller() {
    let problem = refusal("base/global", Reason::OverCapacity, Span::from_secs(1), None, "none");
    assert_eq!(problem.status, 429);
    assert!(body(&problem).contains("#temporary-reduced-capacity"));
    assert!(
        body(&problem).contains("It is crowded: base/global allows 5000/s for everyone together."),
        "{}",
        body(&problem)
    );
    let names: Vec<&str> = problem.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["Content-Type", "Cache-Control", "Vary", "Retry-After", "Penstock-Request-Id"],
        "HEADERS = none leaves this one alone"
    );
}

#[test]
fn wai_10_a_newcomer_to_a_full_actor_is_promised_no_room() {
    let full = |accept: &'static str, language: &'static str| {
        let vars = policy(r#"{"LIMIT_BASE": {"per_ip": "1200/min"}}"#);
        let wait = Span::from_secs(60);
        let refused = Refused { limit: "base/ip", reason: Reason::OverCapacity, wait, until: None };
        let answer = refused.answer(&vars, "GET", &[("accept", accept), ("accept-language", language)]);
        assert_eq!(header(&answer, "Retry-After"), Some("60"));
        body(&answer).to_owned()
    };
    let said = "It is crowded: base/ip counts as many callers as it can. There may be room in 60 seconds.";
    for format in ["*/*", "text/plain"] {
        let body = full(format, "en");
        assert!(body.contains(said) && !body.contains("is room"), "{body}");
    }
    for (language, said) in [
        ("en", "<p id=\"when\">There may be room in 60 seconds.</p>"),
        ("zh", "<p id=\"when\">60 秒后可能会有空位，届时请重试。</p>"),
        ("zh-TW", "<p id=\"when\">60 秒後可能會有空位，屆時請重試。</p>"),
    ] {
        let body = full("text/html", language);
        assert!(body.contains(said), "{body}");
    }
}

#[test]
fn failure_is_a_problem_that_is_never_cached() {
    for (failure, status, reason) in [
        (Failure::Misconfigured, 500, "misconfigured"),
        (Failure::Loop, 500, "misconfigured"),
        (Failure::OriginUnreachable, 502, "origin_unreachable"),
        (Failure::OriginTimeout, 504, "origin_timeout"),
        (Failure::UploadTimeout, 408, "upload_timeout"),
        (Failure::Unforeseen, 503, "limiter_unavailable"),
    ] {
        let problem = Answer::new(&Problem::failure(failure), &recipient("GET", &[]), &Settings::default());
        let body: serde_json::Value = serde_json::from_str(body(&problem)).unwrap();
        assert_eq!((problem.status, &body["status"], &body["reason"]), (status, &status.into(), &reason.into()));
        assert_eq!(header(&problem, "Cache-Control"), Some("no-store"));
    }
}

/// The answer to a request for `/x` that a cap of this binding refuses.
fn cap_refusal(binding: &str, reason: Reason, style: HeaderStyle, headers: &[(&str, &str)]) -> Answer {
    let policy = policy(&format!(r#"{{"LIMIT_X": {{"route": "/x", "message": "Sorry.", {binding}}}}}"#));
    let caps = planned_caps(&policy, policy.route("GET", "h", "/x"), RequestKind::Socket);
    let refusal = CapRefusal { cap: caps[0].cap, binding: caps[0].binding, reason, wait: Span::from_secs(2) };
    let told = RateHeaders { style, plan: &Plan::default(), usages: &Usages::default(), now: NOW };
    Answer::new(&Problem::cap_refused(&refusal, &told), &recipient("GET", headers), &policy.settings)
}

#[test]
fn full_cap_is_a_503_that_states_its_size() {
    let full = cap_refusal(r#""in_flight": "200""#, Reason::OverCapacity, HeaderStyle::Draft11, &[]);
    assert_eq!((full.status, header(&full, "Retry-After")), (503, Some("2")));
    assert_eq!(header(&full, "RateLimit-Policy"), Some(r#""x/in-flight";q=200;qu="concurrent-requests""#));
    assert_eq!(header(&full, "RateLimit"), Some(r#""x/in-flight";r=0;t=2"#));
    assert_eq!(
        body(&full),
        concat!(
            r#"{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Over capacity","status":503,"#,
            r#""reason":"over_capacity","limit":"x/in-flight","scope":"global","retry_after":2,"retry_at":"2026-11-29T18:00:02Z","#,
            r#""detail":"It is full: x/in-flight allows 200 requests at once for everyone together. Try again in 2 seconds.","#,
            r#""message":"Sorry.","request_id":"00000000000000ff","violated-policies":["x/in-flight"],"#,
            r#""error":{"message":"It is full: x/in-flight allows 200 requests at once for everyone together. Try again in 2 seconds.","#,
            r#""type":"api_error","code":"over_capacity"}}"#,
        )
    );
    let sockets = cap_refusal(r#""sockets": "50""#, Reason::OverCapacity, HeaderStyle::Legacy, &[]);
    assert!(body(&sockets).contains("x/sockets allows 50 open WebSockets at once"), "{}", body(&sockets));
    assert_eq!(header(&sockets, "X-RateLimit-Limit"), Some("50"));
    let auto = cap_refusal(r#""in_flight": "auto""#, Reason::OverCapacity, HeaderStyle::Both, &[]);
    assert!(body(&auto).contains("x/in-flight allows as many requests at once as the origin can do with"));
    assert_eq!((header(&auto, "RateLimit"), header(&auto, "X-RateLimit-Limit")), (None, None));
}

#[test]
fn wrd_10_refusals_count_one_in_the_singular() {
    let of = |cap: &str| body(&cap_refusal(cap, Reason::OverCapacity, HeaderStyle::Draft11, &[])).to_owned();
    let (one, socket) = (of(r#""in_flight": "1""#), of(r#""sockets": 1"#));
    assert!(one.contains("x/in-flight allows 1 request at once for everyone together."), "{one}");
    assert!(socket.contains("x/sockets allows 1 open WebSocket at once for everyone together."), "{socket}");
    let rate = refusal("login/ip", Reason::RateLimited, Span::from_millis(1), None, "none");
    assert!(body(&rate).contains("room again in 1 second."), "{}", body(&rate));
}

#[test]
fn cap_that_cannot_be_checked_is_a_503_without_a_size() {
    let unknown = cap_refusal(r#""in_flight": "200""#, Reason::LimiterUnavailable, HeaderStyle::Draft11, &[]);
    assert_eq!((unknown.status, header(&unknown, "RateLimit")), (503, None));
    assert!(body(&unknown).contains(r#""reason":"limiter_unavailable","limit":"x/in-flight""#), "{}", body(&unknown));
    assert!(!body(&unknown).contains("violated-policies"));
}

#[test]
fn page_and_grpc_have_full_caps_and_late_origins() {
    let page =
        cap_refusal(r#""in_flight": "200""#, Reason::OverCapacity, HeaderStyle::None, &[("accept", "text/html")]);
    assert!(body(&page).contains("It is crowded") && body(&page).contains("x/in-flight"), "{}", body(&page));
    let grpc = [("content-type", "application/grpc-web+proto")];
    let full = cap_refusal(r#""in_flight": "200""#, Reason::OverCapacity, HeaderStyle::None, &grpc);
    assert_eq!((full.status, header(&full, "grpc-status")), (200, Some("14")));
    let late = Answer::new(&Problem::failure(Failure::OriginTimeout), &recipient("GET", &grpc), &Settings::default());
    assert_eq!((late.status, header(&late, "grpc-status")), (200, Some("4")));
}
