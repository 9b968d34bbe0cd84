//! The usage of limits that a decision knows.

use super::support::Deployment;
use penstock::gate::decision::Decision;
use penstock::limit::time::Span;
use penstock::policy::Limit;
use penstock::protocol::rates::CallError;

/// The limits that are known, with the tokens left and the whole seconds until there is one more.
fn known<'p>(decision: &Decision<'p>) -> Vec<(&'p str, u64, u64)> {
    let tell = |limit: &'p Limit, left, more: Span| (limit.name.as_str(), left, more.as_secs_up());
    decision.usages.iter().map(|usage| tell(usage.limit, usage.left, usage.more)).collect()
}

const TWO: &str = r#"{"LIMIT_BASE": {"per_ip": "20/min", "global": "50/min"},
    "LIMIT_X": {"route": "/x", "per_ip": "3/min", "per_key": "9/min"}}"#;

#[test]
fn passed_request_knows_all_own_limits_in_the_order_of_the_plan() {
    let deployment = Deployment::new(TWO);
    assert_eq!(known(&deployment.request("/x", 1, Some(1))), [("base/ip", 19, 3), ("x/ip", 2, 20), ("x/key", 8, 7)]);
    assert_eq!(known(&deployment.request("/x", 1, None)), [("base/ip", 18, 3), ("x/ip", 1, 20)], "it has no key");
    assert_eq!(known(&deployment.request("/", 1, None)), [("base/ip", 17, 3)]);
}

#[test]
fn tightest_is_the_one_with_the_fewest_requests_left() {
    let deployment = Deployment::new(TWO);
    let tightest = |path| deployment.request(path, 1, Some(1)).usages.tightest().map(|usage| usage.limit.name.as_str());
    assert_eq!([tightest("/x"), tightest("/")], [Some("x/ip"), Some("base/ip")]);
    let free = Deployment::new(r#"{"LIMIT_X": {"route": "/x", "per_ip": "3/min"}}"#);
    assert!(free.request("/", 1, None).usages.tightest().is_none());
}

#[test]
fn refused_request_knows_what_its_isolate_has_heard() {
    let deployment = Deployment::new(TWO);
    assert_eq!(deployment.passing(3, "/x", 1, Some(1)), 3);
    let refused = deployment.request("/x", 1, Some(1));
    assert_eq!(refused.refusal.as_ref().map(|refusal| refusal.limit.name.as_str()), Some("x/ip"));
    assert_eq!(known(&refused), [("base/ip", 17, 3), ("x/ip", 0, 20), ("x/key", 6, 7)]);
    let other = deployment.request("/x", 1, Some(2));
    assert_eq!(known(&other), [("base/ip", 17, 3), ("x/ip", 0, 20)], "nothing was heard of this key");
    deployment.forward(Span::from_secs(6));
    assert_eq!(known(&deployment.request("/x", 1, Some(1))), [("base/ip", 19, 3), ("x/ip", 0, 14), ("x/key", 6, 1)]);
}

#[test]
fn word_of_an_actor_is_told_for_ten_minutes() {
    let vars = r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/h", "per_key": "9/30d"}}"#;
    let deployment = Deployment::new(vars);
    assert!(deployment.passes("/x", 1, Some(1)));
    // The second request is the last one for which an actor is asked: then the denial is remembered.
    for (secs, expected) in [(1, 2), (599, 2), (1, 0)] {
        deployment.forward(Span::from_secs(secs));
        let refused = deployment.request("/x", 1, Some(1));
        assert!(refused.refusal.is_some());
        assert_eq!(known(&refused).len(), expected, "{secs} s later");
    }
}

#[test]
fn quota_is_known_until_its_day_ends() {
    let vars = r#"{"LIMIT_X": {"route": "/x", "per_ip": "1/30d", "per_key": "9/day"}}"#;
    let deployment = Deployment::new(vars);
    assert!(deployment.passes("/x", 1, Some(1)));
    let refused = deployment.request("/x", 1, Some(1));
    let (limit, left, until_midnight) = known(&refused)[1];
    assert_eq!((limit, left), ("x/key", 8));
    deployment.forward(Span::from_secs(until_midnight));
    assert!(!known(&deployment.request("/x", 1, Some(1))).iter().any(|(limit, ..)| *limit == "x/key"));
}

#[test]
fn limit_that_passes_uncounted_is_not_known() {
    let vars = r#"{"LIMIT_BASE": {"per_ip": "20/min", "on_error": "open"}}"#;
    let deployment = Deployment::new(vars);
    deployment.error.replace(Some(CallError::Failed("down".to_owned())));
    let decision = deployment.request("/", 1, None);
    assert!(decision.is_allowed() && known(&decision).is_empty());
}

#[test]
fn more_limits_than_most_requests_meet_are_all_known() {
    let rates: Vec<String> = (1..=12).map(|count| format!("\"{count}/s burst {}\"", count + 5)).collect();
    let deployment = Deployment::new(&format!(r#"{{"LIMIT_BASE": {{"per_ip": [{}]}}}}"#, rates.join(", ")));
    let decision = deployment.request("/", 1, None);
    let left: Vec<u64> = known(&decision).iter().map(|(_, left, _)| *left).collect();
    assert_eq!(left, (5..=16).collect::<Vec<u64>>());
}
