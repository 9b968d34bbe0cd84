//! Log lines.

use penstock::concurrency::plan::{RequestKind, planned_caps};
use penstock::gate::decision::{CapRefusal, Reason, Refusal, Unchecked};
use penstock::gate::plan::{Plan, PlannedLimit};
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::log::refusal_sampler::{LogAction, RefusalKey, RefusalSampler};
use penstock::log::{Effect, RecentWarnings, blocked_line, cap_refusal_line, counted_line, refusal_line};
use penstock::policy::{Block, Policy};
use penstock::protocol::rates::CallError;
use std::collections::BTreeMap;

fn with_limit(check: impl FnOnce(PlannedLimit<'_>)) {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": "5/min"}))]);
    let policy = Policy::read(&vars).unwrap();
    let plan = Plan::new(&policy, None, Subject::from_bytes([1; 16]), |_| None);
    check(plan.limits().next().unwrap());
}

fn refusal(met: PlannedLimit<'_>) -> Refusal<'_> {
    Refusal {
        planned: met,
        reason: Reason::RateLimited,
        wait: Span::from_millis(11_500),
        until: None,
        left: 0,
        subject: Some(Subject::from_bytes([0xab; 16])),
    }
}

#[test]
fn a_refusal_is_one_json_line() {
    with_limit(|met| {
        assert_eq!(
            refusal_line(&refusal(met), Effect::Refused, Some("8f2a-LAX")),
            concat!(
                r#"{"event":"refused","limit":"base/ip","scope":"ip","reason":"rate_limited","binding":"base","wait":12,"#,
                r#""caller":"abababababababababababababababab","ray":"8f2a-LAX"}"#,
            )
        );
    });
}

#[test]
fn a_blocked_address_is_one_json_line_too_and_is_not_in_it() {
    let caller = Subject::from_bytes([0xab; 16]);
    assert_eq!(
        blocked_line(Block { binding: None }, caller, Effect::Refused, Some("8f2a-LAX")),
        r#"{"event":"refused","reason":"blocked","caller":"abababababababababababababababab","ray":"8f2a-LAX"}"#
    );
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": "5/min"}))]);
    let policy = Policy::read(&vars).unwrap();
    assert_eq!(
        blocked_line(Block { binding: policy.base.as_ref() }, caller, Effect::Shadow, None),
        r#"{"event":"refused","reason":"blocked","binding":"base","caller":"abababababababababababababababab","shadow":true}"#
    );
}

#[test]
fn in_a_flood_a_hundred_are_told_of_one_by_one_and_the_rest_counted() {
    let mut flood = RefusalSampler::default();
    let of = |number| move || RefusalKey::Limit(number, Reason::RateLimited, Effect::Refused);
    let at = |millis| Time::from_millis(1_000_000).plus(Span::from_millis(millis));
    let lines = (0..100).filter(|n| flood.refused(of(0), at(n * 5)) == LogAction::Line).count();
    assert_eq!(lines, 100);
    assert_eq!(flood.refused(of(1), at(600)), LogAction::First);
    assert_eq!(flood.refused(of(1), at(999)), LogAction::Nothing);
    assert_eq!(flood.refused(of(0), at(999)), LogAction::Nothing);
    assert!(flood.take(at(999)).is_empty(), "the second is not over");
    let counted = flood.take(at(1_000));
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), [(of(0)(), 1), (of(1)(), 2)]);
    assert!(flood.take(at(1_000)).is_empty(), "it is told of once");
    assert_eq!(flood.refused(of(0), at(1_000)), LogAction::Line, "another second");
    assert_eq!(flood.refused(of(0), at(10)), LogAction::Line, "a clock that steps back");
}

#[test]
fn what_was_counted_is_one_json_line_for_each_limit() {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": ["5/min", "9/h"]}))]);
    let policy = Policy::read(&vars).unwrap();
    assert_eq!(
        counted_line(&RefusalKey::Limit(1, Reason::RateLimited, Effect::Shadow), 7, &policy),
        r#"{"event":"refused","limit":"base/ip-2","scope":"ip","reason":"rate_limited","binding":"base","count":7,"shadow":true}"#
    );
    assert_eq!(
        counted_line(&RefusalKey::Block(None, Effect::Refused), 2, &policy),
        r#"{"event":"refused","reason":"blocked","count":2}"#
    );
}

#[test]
fn a_full_cap_is_one_json_line_too() {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"in_flight": 5}))]);
    let policy = Policy::read(&vars).unwrap();
    let met = planned_caps(&policy, None, RequestKind::Plain);
    let crowded =
        CapRefusal { cap: met[0].cap, binding: met[0].binding, reason: Reason::OverCapacity, wait: Span::from_secs(2) };
    assert_eq!(
        cap_refusal_line(&crowded, Subject::from_bytes([0xab; 16]), Effect::Shadow, None),
        concat!(
            r#"{"event":"refused","limit":"base/in-flight","scope":"global","reason":"over_capacity","binding":"base","wait":2,"#,
            r#""caller":"abababababababababababababababab","shadow":true}"#,
        )
    );
}

#[test]
fn what_a_caller_puts_into_a_line_is_escaped_and_cut() {
    with_limit(|met| {
        let ray = "\n\"\u{1b}[31m".repeat(10_000);
        let line = refusal_line(&refusal(met), Effect::Shadow, Some(&ray));
        assert!(line.len() < 1_500 && !line.contains(['\n', '\u{1b}']), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["shadow"], true);
    });
}

#[test]
fn sto_04_one_warning_per_limit_and_interval() {
    with_limit(|met| {
        let mut warned = RecentWarnings::default();
        let unchecked = Unchecked { planned: met, error: Some(CallError::Overloaded) };
        let at = |secs| Time::from_millis(1_000_000).plus(Span::from_secs(secs));
        let line = warned.unchecked(&unchecked, at(0)).unwrap();
        assert!(line.contains(r#""place":"base/ip""#) && line.contains("overloaded"), "{line}");
        assert!((0..10_000).all(|_| warned.unchecked(&unchecked, at(9)).is_none()));
        assert!(warned.unchecked(&unchecked, at(10)).is_some());
    });
}
