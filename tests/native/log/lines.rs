//! The log lines, word for word.

use super::with_limit;
use penstock::concurrency::plan::{RequestKind, planned_caps};
use penstock::gate::decision::{CapRefusal, Reason, Refusal};

use penstock::identity::Subject;
use penstock::limit::time::Span;
use penstock::log::lines::{
    Effect, LoggedRequest, RefusalKey, blocked_line, cap_refusal_line, counted_line, misconfigured_line,
    origin_failed_line, refusal_line, upload_line,
};
use penstock::log::request_id::RequestId;
use penstock::policy::{Block, Fault, Limit, Policy};
use std::collections::BTreeMap;

/// A refusal by `limit` with a wait of 11.5 s.
fn refusal(limit: &Limit) -> Refusal<'_> {
    Refusal {
        limit,
        reason: Reason::RateLimited,
        wait: Span::from_millis(11_500),
        until: None,
        left: 0,
        subject: Some(Subject::from_bytes([0xab; 16])),
    }
}

/// The id of a request that came through the platform.
fn ray() -> RequestId {
    RequestId::new(Some("8f2a-LAX"), 0xff)
}

/// The id of a request that the platform gave none.
fn drawn() -> RequestId {
    RequestId::new(None, 0xff)
}

fn request(id: &RequestId) -> LoggedRequest<'_> {
    LoggedRequest { method: "GET", path: "/v1/items", id }
}

#[test]
fn refusal_is_one_json_line() {
    with_limit(|limit| {
        assert_eq!(
            refusal_line(&refusal(limit), Effect::Refused, request(&ray())),
            concat!(
                r#"{"event":"refused","limit":"base/ip","scope":"ip","reason":"rate_limited","binding":"base","wait":12,"#,
                r#""caller":"abababababababababababababababab","method":"GET","path":"/v1/items","ray":"8f2a-LAX"}"#,
            )
        );
    });
}

#[test]
fn blocked_address_is_one_json_line_without_the_address() {
    let caller = Subject::from_bytes([0xab; 16]);
    assert_eq!(
        blocked_line(Block { binding: None }, caller, Effect::Refused, request(&ray())),
        r#"{"event":"refused","reason":"blocked","caller":"abababababababababababababababab","method":"GET","path":"/v1/items","ray":"8f2a-LAX"}"#
    );
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": "5/min"}))]);
    let policy = Policy::read(&vars).unwrap();
    assert_eq!(
        blocked_line(Block { binding: policy.base.as_ref() }, caller, Effect::Shadow, request(&drawn())),
        concat!(
            r#"{"event":"would_refuse","reason":"blocked","binding":"base","caller":"abababababababababababababababab","#,
            r#""method":"GET","path":"/v1/items","request_id":"00000000000000ff","shadow":true}"#,
        )
    );
}

#[test]
fn slow_upload_is_one_json_line_and_so_is_the_count_of_many() {
    assert_eq!(
        upload_line("upload_timeout", Subject::from_bytes([0xab; 16]), request(&ray())),
        r#"{"event":"refused","reason":"upload_timeout","caller":"abababababababababababababababab","method":"GET","path":"/v1/items","ray":"8f2a-LAX"}"#
    );
    let policy = Policy::read(&BTreeMap::new()).unwrap();
    assert_eq!(
        counted_line(&RefusalKey::Upload("upload_timeout"), 7, &policy),
        r#"{"event":"refused","reason":"upload_timeout","count":7}"#
    );
}

#[test]
fn count_of_refusals_is_one_json_line() {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": ["5/min", "9/h"]}))]);
    let policy = Policy::read(&vars).unwrap();
    let second = policy.base.as_ref().unwrap().limits[1].number;
    assert_eq!(
        counted_line(&RefusalKey::Limit(second, Reason::RateLimited, Effect::Shadow), 7, &policy),
        r#"{"event":"would_refuse","limit":"base/ip-2","scope":"ip","reason":"rate_limited","binding":"base","count":7,"shadow":true}"#
    );
    assert_eq!(
        counted_line(&RefusalKey::Block(None, Effect::Refused), 2, &policy),
        r#"{"event":"refused","reason":"blocked","count":2}"#
    );
}

#[test]
fn refusal_by_a_full_cap_is_one_json_line() {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"in_flight": 5}))]);
    let policy = Policy::read(&vars).unwrap();
    let met = planned_caps(&policy, None, RequestKind::Plain);
    let refused =
        CapRefusal { cap: met[0].cap, binding: met[0].binding, reason: Reason::OverCapacity, wait: Span::from_secs(2) };
    assert_eq!(
        cap_refusal_line(&refused, Subject::from_bytes([0xab; 16]), Effect::Shadow, request(&drawn())),
        concat!(
            r#"{"event":"would_refuse","limit":"base/in-flight","scope":"global","reason":"over_capacity","binding":"base","#,
            r#""wait":2,"caller":"abababababababababababababababab","method":"GET","path":"/v1/items","#,
            r#""request_id":"00000000000000ff","shadow":true}"#,
        )
    );
}

#[test]
fn origin_that_does_not_answer_is_one_json_line_without_urls() {
    let problem = "The connection failed: no route to http://h/secret?key=1.";
    assert_eq!(
        origin_failed_line("origin_unreachable", "origin.example.com", problem, request(&ray())),
        concat!(
            r#"{"event":"origin_failed","reason":"origin_unreachable","host":"origin.example.com","#,
            r#""problem":"The connection failed: no route to (a URL)","method":"GET","path":"/v1/items","ray":"8f2a-LAX"}"#,
        )
    );
}

#[test]
fn clients_text_in_a_line_is_escaped_and_cut() {
    with_limit(|limit| {
        let hostile = "\n\"\u{1b}[31m".repeat(10_000);
        let id = RequestId::new(Some(&hostile), 0xff);
        let line =
            refusal_line(&refusal(limit), Effect::Shadow, LoggedRequest { method: &hostile, path: &hostile, id: &id });
        assert!(line.len() < 3_000 && !line.contains(['\n', '\u{1b}']), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["shadow"], true);
        assert_eq!(value["request_id"], "00000000000000ff");
        assert_eq!(value["path"].as_str().unwrap().chars().count(), 300);
    });
}

#[test]
fn faults_are_one_json_line_of_bounded_length() {
    let fault = |place: &str| Fault { location: place.to_string(), problem: "x".repeat(1_000) };
    let line = misconfigured_line(&[Fault { location: "KEY".into(), problem: "is wrong".into() }], false);
    assert_eq!(line, r#"{"event":"misconfigured","place":"vars","problem":"every request is refused; KEY: is wrong"}"#);
    let many: Vec<Fault> = (0..500).map(|number| fault(&format!("LIMIT_{number}"))).collect();
    let line = misconfigured_line(&many, true);
    assert!(line.contains(r#""problem":"requests pass without limits; LIMIT_0: xxx"#), "{line}");
    assert!(line.len() < 8_000, "{}", line.len());
}
