//! The limits that a request meets, and their order.

use super::support::Deployment;
use penstock::gate::plan::Plan;
use penstock::identity::Subject;

const VARS: &str = r#"{
    "KEY": "bearer",
    "LIMIT_BASE": {"per_ip": "100/min", "per_key": "100/min", "global": ["1000/day", "50/s"]},
    "LIMIT_API": {"route": "/api/*", "global": "10/s", "per_key": "5/s", "per_ip": ["5/s", "50/min"]},
    "LIMIT_OWN": {"route": "/own", "key": "header:x-own", "per_key": "5/s"},
    "LIMIT_OFF": {"route": "/off", "per_ip": "1/min", "mode": "off"},
    "LIMIT_HEALTH": {"route": "/healthz", "exempt": true}
}"#;

fn names(path: &str, keyed: bool) -> Vec<Vec<String>> {
    let deployment = Deployment::new(VARS);
    let route = deployment.policy.route("GET", "example.com", path);
    let plan = Plan::new(&deployment.policy, route, Subject::from_bytes([1; 16]), |sources| {
        let number = if sources.to_string() == "bearer" { 2 } else { 3 };
        keyed.then(|| Subject::from_bytes([number; 16]))
    });
    let groups = plan.caller_limits.iter().chain(&plan.shared_limits);
    groups.map(|group| group.limits.iter().map(|limit| limit.name.clone()).collect()).collect()
}

#[test]
fn groups_are_address_then_keys_then_shared_limits_with_quotas_last() {
    assert_eq!(
        names("/api/x", true),
        [
            vec!["base/ip", "api/ip", "api/ip-2"],
            vec!["base/key", "api/key"],
            vec!["api/global"],
            vec!["base/global-2", "base/global"],
        ]
    );
}

#[test]
fn request_without_a_key_meets_all_other_limits() {
    assert_eq!(
        names("/api/x", false),
        [vec!["base/ip", "api/ip", "api/ip-2"], vec!["api/global"], vec!["base/global-2", "base/global"]]
    );
}

#[test]
fn binding_with_its_own_key_has_its_own_group() {
    assert_eq!(names("/own", true)[1..3], [vec!["base/key"], vec!["own/key"]]);
}

#[test]
fn unmatched_request_and_binding_in_mode_off_meet_base() {
    assert_eq!(names("/elsewhere", false), names("/off", false));
    assert_eq!(names("/off", false)[0], ["base/ip"]);
}

#[test]
fn ops_01_exempt_route_meets_nothing_and_its_neighbours_do() {
    assert_eq!(names("/healthz", true), Vec::<Vec<String>>::new());
    assert_eq!(names("/healthzz", false)[0], ["base/ip"]);
}
