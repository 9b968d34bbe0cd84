//! Refusals as errors of the Connect protocol, byte for byte.

use super::{Refused, header, policy, recipient};
use penstock::gate::decision::Reason::{self, LimiterUnavailable, OverCapacity, QuotaExhausted, RateLimited};
use penstock::http::answer::Answer;
use penstock::http::negotiate::{AnswerFormat, Recipient};
use penstock::http::problem::{Failure, Problem};
use penstock::http::problem_kind::ProblemKind;
use penstock::http::rpc::RpcStatus;
use penstock::limit::time::Span;
use penstock::log::request_id::RequestId;
use penstock::policy::Settings;

const VARS: &str = r#"{"LIMIT_LOGIN": {"route": "/login", "per_ip": "5/min", "message": "Ask \"ops\" – 水."}}"#;

const UNARY: &[(&str, &str)] = &[("content-type", "application/proto"), ("connect-protocol-version", "1")];

const STREAM: &[(&str, &str)] = &[("content-type", "application/connect+proto"), ("connect-protocol-version", "1")];

/// A request: its method, query and headers, and the format of the answer.
type Request<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, &'a str)], AnswerFormat);

fn refused(method: &str, headers: &[(&str, &str)]) -> Answer {
    let login = Refused { limit: "login/ip", reason: RateLimited, wait: Span::from_secs(12), until: None };
    login.answer(&policy(VARS), method, headers)
}

#[test]
fn sdk_13_refused_unary_call_gets_a_connect_error() {
    let answer = refused("POST", UNARY);
    assert_eq!((answer.status, header(&answer, "Content-Type")), (429, Some("application/json")));
    assert_eq!(header(&answer, "Retry-After"), Some("12"));
    assert_eq!(
        std::str::from_utf8(&answer.bytes().unwrap()).unwrap(),
        concat!(
            r#"{"code":"resource_exhausted","message":"Too many requests from this address: login/ip allows 5/min. "#,
            r#"There is room again in 12 seconds. Ask \"ops\" – 水. (request 00000000000000ff)"}"#
        )
    );
}

#[test]
fn sdk_13_refused_stream_ends_with_an_error_in_its_envelope() {
    let answer = refused("POST", STREAM);
    assert_eq!((answer.status, header(&answer, "Content-Type")), (200, Some("application/connect+proto")));
    let message = concat!(
        r#"{"error":{"code":"resource_exhausted","message":"Too many requests from this address: login/ip allows "#,
        r#"5/min. There is room again in 12 seconds. Ask \"ops\" – 水. (request 00000000000000ff)"}}"#
    );
    assert_eq!((message.len(), header(&answer, "Retry-After")), (194, Some("12")));
    assert_eq!(*answer.bytes().unwrap(), *[b"\x02\x00\x00\x00\xc2", message.as_bytes()].concat());
}

#[test]
fn sdk_13_each_problem_has_its_code_and_status() {
    let refused = |reason: Reason| ProblemKind::Limit(reason);
    let table = [
        (refused(RateLimited), "resource_exhausted", 429, 8),
        (refused(QuotaExhausted), "resource_exhausted", 429, 8),
        (refused(OverCapacity), "resource_exhausted", 429, 8),
        (refused(LimiterUnavailable), "unavailable", 503, 14),
        (ProblemKind::Full, "unavailable", 503, 14),
        (ProblemKind::OriginUnreachable, "unavailable", 503, 14),
        (ProblemKind::OriginTimeout, "deadline_exceeded", 504, 4),
        (ProblemKind::Blocked, "permission_denied", 403, 7),
        (ProblemKind::Misconfigured, "internal", 500, 13),
    ];
    for (kind, code, status, number) in table {
        let rpc = RpcStatus::of(kind);
        assert_eq!((rpc.code(), rpc.http_status(), rpc.number()), (code, status, number), "{kind:?}");
    }
    let late = Problem::failure(Failure::OriginTimeout);
    let unary = Answer::new(&late, &recipient("POST", UNARY), &Settings::default());
    assert_eq!(unary.status, 504);
    assert!(unary.body.unwrap().starts_with(r#"{"code":"deadline_exceeded","message":"The origin did not answer"#));
    let stream = Answer::new(&late, &recipient("POST", STREAM), &Settings::default());
    assert!(stream.body.unwrap().starts_with(r#"{"error":{"code":"deadline_exceeded","#));
}

#[test]
fn sdk_13_only_connect_calls_get_connect_errors() {
    use AnswerFormat::{Connect, ConnectStream, GrpcWeb, Json};
    let version = ("connect-protocol-version", "1");
    let of_type = |content_type| ("content-type", content_type);
    let message = Some("connect=v1&encoding=json&message=%7B%7D");
    let table: &[Request<'_>] = &[
        ("POST", None, &[of_type("application/json"), version], Connect),
        ("POST", None, &[of_type("application/json; charset=utf-8"), version, ("accept", "text/html")], Connect),
        ("POST", None, &[version], Connect),
        ("POST", None, &[of_type("application/connect+json")], ConnectStream("application/connect+json")),
        (
            "POST",
            None,
            &[of_type("Application/Connect+Proto ;x=y"), version],
            ConnectStream("application/connect+proto"),
        ),
        ("POST", None, &[of_type("application/connect+thrift")], ConnectStream("application/connect+proto")),
        ("GET", message, &[], Connect),
        ("GET", Some("base64=1&message=&connect=v1&encoding=proto"), &[("accept", "text/html")], Connect),
        // Requests that only look alike.
        ("POST", None, &[of_type("application/json")], Json),
        ("POST", None, &[of_type("application/proto")], Json),
        ("POST", None, &[of_type("application/json"), ("connect-protocol-version", "2")], Json),
        ("POST", None, &[of_type("application/connect+")], Json),
        ("POST", None, &[of_type("application/grpc-web+proto"), version], GrpcWeb("application/grpc-web+proto")),
        ("POST", message, &[of_type("application/json")], Json),
        ("GET", Some("connect=v1"), &[], Json),
        ("GET", Some("connect=v1&message=x"), &[], Json),
        ("GET", Some("xconnect=v1&message=x&encoding=json"), &[], Json),
        ("GET", None, &[version, of_type("application/json")], Json),
        ("PUT", None, &[version, of_type("application/proto")], Json),
        ("HEAD", message, UNARY, Json),
    ];
    for (method, query, headers, format) in table {
        let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        let read = Recipient::read(method, *query, find, RequestId::new(None, 1)).format;
        assert_eq!(read, *format, "{method} {query:?} {headers:?}");
    }
}
