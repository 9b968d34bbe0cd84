//! One refusal in each format.

use super::{NOW, Refused, header, policy, recipient};
use penstock::gate::decision::Reason;
use penstock::http::answer::Answer;
use penstock::http::problem::{Failure, Problem};
use penstock::limit::time::{Span, Time};
use penstock::policy::Settings;

const VARS: &str = r#"{
    "LIMIT_BASE": {"global": "5000/s"},
    "LIMIT_LOGIN": {"route": "/login", "per_ip": "5/min", "message": "Ask for 100% more: \"ops\" <ops@example.com>",
        "docs": "https://example.com/limits?a=1&b='2'"}
}"#;

const LOGIN: Refused =
    Refused { limit: "login/ip", reason: Reason::RateLimited, wait: Span::from_secs(12), until: None };

#[test]
fn message_and_docs_are_members_of_the_json_and_docs_is_a_link_header() {
    let policy = policy(VARS);
    let answer = LOGIN.answer(&policy, "GET", &[]);
    let body: serde_json::Value = serde_json::from_str(answer.body.as_deref().unwrap()).unwrap();
    assert_eq!(body["message"], "Ask for 100% more: \"ops\" <ops@example.com>");
    assert_eq!(body["docs"], "https://example.com/limits?a=1&b='2'");
    assert_eq!(header(&answer, "Link"), Some("<https://example.com/limits?a=1&b='2'>; rel=\"help\""));
    let other = Refused { limit: "base/global", reason: Reason::OverCapacity, ..LOGIN }.answer(&policy, "GET", &[]);
    assert!(
        header(&other, "Link").is_none() && !other.body.unwrap().contains("\"message\":\"Ask"),
        "another binding's refusal"
    );
}

#[test]
fn every_form_of_an_answer_names_the_request() {
    let policy = policy(VARS);
    for accept in ["*/*", "text/html", "text/plain"] {
        let answer = LOGIN.answer(&policy, "GET", &[("accept", accept), ("cf-ray", "8f2a-LAX")]);
        assert!(answer.body.as_deref().unwrap().contains("8f2a-LAX"), "{accept}");
        assert_eq!(header(&answer, "Penstock-Request-Id"), None, "the platform tells its own");
        // Without a ray, and with one that no platform sends, the id is one of Penstock's own.
        for ray in ["", "a b", "<script>", &"a".repeat(65)] {
            let answer = LOGIN.answer(&policy, "GET", &[("accept", accept), ("cf-ray", ray)]);
            assert!(answer.body.as_deref().unwrap().contains("00000000000000ff"), "{accept}");
            assert_eq!(header(&answer, "Penstock-Request-Id"), Some("00000000000000ff"));
        }
    }
}

#[test]
fn sdk_10_refusal_has_the_error_member_that_clients_look_for() {
    let policy = policy(VARS);
    let error = |answer: Answer| -> serde_json::Value {
        let body: serde_json::Value = serde_json::from_str(answer.body.as_deref().unwrap()).unwrap();
        assert_eq!(body["error"]["message"], body["detail"]);
        assert_eq!(body["error"]["code"], body["reason"]);
        body["error"]["type"].clone()
    };
    assert_eq!(error(LOGIN.answer(&policy, "GET", &[])), "rate_limit_error");
    let to = recipient("GET", &[]);
    let blocked = Problem::blocked(policy.bindings[0].operator_message());
    assert_eq!(error(Answer::new(&blocked, &to, &policy.settings)), "permission_error");
    let origins = [Failure::OriginUnreachable, Failure::OriginTimeout, Failure::UploadTimeout];
    for failure in origins.into_iter().chain([Failure::Misconfigured, Failure::Unforeseen]) {
        assert_eq!(error(Answer::new(&Problem::failure(failure), &to, &policy.settings)), "api_error");
    }
}

#[test]
fn message_is_told_in_the_clients_language_and_support_to_all() {
    let policy = policy(
        r#"{"LIMIT_BASE": {"per_ip": "5/min", "support": "Write to ops@example.com.",
            "message": {"de": "Langsamer.", "en": "Slow down.", "zh-Hant": "請稍候。"}}}"#,
    );
    let refused = Refused { limit: "base/ip", ..LOGIN };
    for (accept, message) in [
        ("de", "Langsamer."),
        ("de-AT, en;q=0.9", "Langsamer."),
        ("fr, de;q=0.5, en;q=0.4", "Langsamer."),
        ("zh", "請稍候。"),
        ("zh-Hant-HK", "請稍候。"),
        ("de;q=0, fr", "Slow down."),
        ("", "Slow down."),
    ] {
        let ask = |format: &str| refused.answer(&policy, "GET", &[("accept", format), ("accept-language", accept)]);
        for format in ["*/*", "text/html", "text/plain"] {
            let body = ask(format).body.unwrap();
            assert!(body.contains(message) && body.contains("Write to ops@example.com."), "{accept} {format}: {body}");
        }
    }
}

#[test]
fn text_plain_gets_one_line() {
    let answer = LOGIN.answer(&policy(VARS), "GET", &[("accept", "text/plain")]);
    assert_eq!(header(&answer, "Content-Type"), Some("text/plain; charset=utf-8"));
    assert_eq!(
        answer.body.as_deref(),
        Some(concat!(
            "Too many requests from this address: login/ip allows 5/min. There is room again in 12 seconds. ",
            "Ask for 100% more: \"ops\" <ops@example.com> https://example.com/limits?a=1&b='2' (request 00000000000000ff)\n"
        ))
    );
}

#[test]
fn headers_are_the_same_in_every_format_but_for_those_of_the_format() {
    let policy = policy(VARS);
    let common = |accept| {
        let answer = LOGIN.answer(&policy, "GET", &[("accept", accept)]);
        assert_eq!(answer.status, 429);
        ["Retry-After", "RateLimit", "RateLimit-Policy", "Cache-Control", "Vary", "Link"]
            .map(|name| header(&answer, name).unwrap().to_owned())
    };
    let json = common("*/*");
    assert_eq!(json[4], "Accept, Accept-Language, Origin");
    assert_eq!([common("text/html"), common("text/plain")], [json.clone(), json]);
}

#[test]
fn head_gets_the_same_headers_and_no_body() {
    for accept in ["*/*", "text/html", "text/plain"] {
        let [get, head] = ["GET", "HEAD"].map(|method| LOGIN.answer(&policy(VARS), method, &[("accept", accept)]));
        assert_eq!((head.status, head.headers, head.body), (get.status, get.headers, None));
    }
}

#[test]
fn grpc_web_call_gets_its_status_in_the_headers() {
    let policy = policy(VARS);
    let headers =
        [("content-type", "application/grpc-web-text"), ("accept", "text/html"), ("origin", "https://a.example")];
    let answer = LOGIN.answer(&policy, "POST", &headers);
    assert_eq!((answer.status, &answer.body), (200, &None));
    assert_eq!(header(&answer, "Content-Type"), Some("application/grpc-web-text+proto"));
    assert_eq!(header(&answer, "grpc-status"), Some("8"));
    assert_eq!(header(&answer, "Retry-After"), Some("12"));
    let message = header(&answer, "grpc-message").unwrap();
    assert!(message.contains("100%25 more: \"ops\""), "{message}");
    assert!(header(&answer, "Access-Control-Expose-Headers").unwrap().contains(", Grpc-Status, Grpc-Message"));
    assert_eq!(LOGIN.answer(&policy, "HEAD", &headers).status, 429, "a HEAD request is never a call");
    let unavailable = Refused { reason: Reason::LimiterUnavailable, ..LOGIN }.answer(&policy, "POST", &headers);
    assert_eq!((unavailable.status, header(&unavailable, "grpc-status")), (200, Some("14")));
}

#[test]
fn grpc_message_in_any_language_is_printable_ascii() {
    let policy = policy(r#"{"LIMIT_BASE": {"per_ip": "5/min", "message": "太多了 🚰"}}"#);
    let refused = Refused { limit: "base/ip", ..LOGIN };
    let answer = refused.answer(&policy, "POST", &[("content-type", "application/grpc-web")]);
    let message = header(&answer, "grpc-message").unwrap();
    assert!(message.contains("%E5%A4%AA%E5%A4%9A%E4%BA%86 %F0%9F%9A%B0 (request "), "{message}");
    assert!(message.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
}

#[test]
fn blocked_client_is_not_told_to_wait() {
    let policy = policy(VARS);
    let problem = Problem::blocked(policy.bindings[0].operator_message());
    let answer = Answer::new(&problem, &recipient("GET", &[]), &policy.settings);
    assert_eq!((answer.status, header(&answer, "Retry-After")), (403, None));
    let body: serde_json::Value = serde_json::from_str(answer.body.as_deref().unwrap()).unwrap();
    assert_eq!((&body["reason"], &body["status"]), (&"blocked".into(), &403.into()));
    assert!(body.get("retry_after").is_none() && body.get("limit").is_none() && body.get("message").is_some());
    let page = Answer::new(&problem, &recipient("GET", &[("accept", "text/html")]), &policy.settings).body.unwrap();
    assert!(!page.contains("<script") && !page.contains("class=\"again\""), "trying again does not help");
}

#[test]
fn every_failure_has_every_format() {
    for failure in [Failure::Misconfigured, Failure::Loop, Failure::OriginUnreachable, Failure::Unforeseen] {
        let problem = Problem::failure(failure);
        for (accept, begins) in
            [("*/*", "{\"type\":\"about:blank\""), ("text/html", "<!doctype html>"), ("text/plain", "The ")]
        {
            let answer = Answer::new(&problem, &recipient("GET", &[("accept", accept)]), &Settings::default());
            assert!(answer.body.as_deref().unwrap().starts_with(begins), "{answer:?}");
        }
    }
}

#[test]
fn sdk_14_used_up_day_says_in_each_form_why_and_until_when() {
    let policy = policy(
        r#"{"LIMIT_BASE": {"per_ip": "3/day", "message": "More on the paid plan.", "docs": "https://example.com/plans"}}"#,
    );
    let midnight = Time::from_millis(1_795_996_800_000);
    let refused =
        Refused { limit: "base/ip", reason: Reason::QuotaExhausted, wait: midnight.since(NOW), until: Some(midnight) };
    let stream: &[(&str, &str)] = &[("content-type", "application/connect+json")];
    for headers in [&[("accept", "*/*")], &[("accept", "text/plain")], &[("accept", "text/html")], stream] {
        let answer = refused.answer(&policy, "POST", headers);
        assert_eq!(header(&answer, "Retry-After"), Some("21600"), "six hours");
        assert_eq!(header(&answer, "Link"), Some(r#"<https://example.com/plans>; rel="help""#));
        let body = answer.body.unwrap();
        for words in ["More on the paid plan.", "https://example.com/plans", "2026-11-30"] {
            assert!(body.contains(words), "{headers:?}: {words} in {body}");
        }
    }
    let grpc = refused.answer(&policy, "POST", &[("content-type", "application/grpc-web")]);
    let message = header(&grpc, "grpc-message").unwrap();
    assert!(message.contains("The next day begins at 2026-11-30T00:00:00Z."), "{message}");
}
