//! Background work: several isolates lease from one shared limit.

use super::support::Deployment;
use crate::support::run;
use penstock::gate::plan::Plan;
use penstock::gate::state::lease_cache::LeaseCache;
use penstock::identity::Subject;
use penstock::limit::time::Span;
use std::cell::RefCell;

/// Lets each of `isolates` send `offered` requests a second for `secs` seconds. Returns the
/// requests that pass in each second, and the calls that it took.
fn spend(vars: &str, isolates: usize, offered: u64, secs: u64) -> (Vec<u64>, u32) {
    let deployment = Deployment::new(vars);
    let lease_caches: Vec<RefCell<LeaseCache>> = (0..isolates).map(|_| RefCell::default()).collect();
    let mut passed = Vec::new();
    let step = Span::from_nanos(1_000_000_000 / offered);
    for _ in 0..secs {
        let mut this_second = 0;
        for _ in 0..offered {
            for lease_cache in &lease_caches {
                deployment.state.lease_cache.swap(lease_cache);
                let route = deployment.policy.route("GET", "h", "/");
                let plan = Plan::new(&deployment.policy, route, Subject::from_bytes([1; 16]), |_| None);
                let gate = deployment.gate();
                let decision = run(gate.decide(&plan));
                if decision.refusal.is_none() {
                    this_second += 1;
                    for task in gate.refill_tasks(&plan) {
                        run(gate.refill(task));
                    }
                }
                deployment.state.lease_cache.swap(lease_cache);
            }
            deployment.forward(step);
        }
        passed.push(this_second);
    }
    (passed, deployment.calls.get())
}

#[test]
fn isolates_over_the_limit_use_all_of_it_and_never_more() {
    for (isolates, offered) in [(1, 800), (2, 400), (8, 100), (40, 20)] {
        let (passed, calls) = spend(r#"{"LIMIT_BASE": {"global": "400/s"}}"#, isolates, offered, 8);
        let case = format!("{isolates} isolates: {passed:?}, {calls} calls");
        let mut most = 400;
        for (sum, _) in passed.iter().scan(0, |sum, passed| {
            *sum += passed;
            Some((*sum, passed))
        }) {
            most += 400;
            assert!(sum <= most, "{case}");
        }
        assert!(passed[1..].iter().sum::<u64>() >= 7 * 400 * 97 / 100, "{case}");
        assert!(u64::from(calls) <= 6_400 * 150 / 1_000, "{case}");
    }
}

#[test]
fn caller_within_its_limit_is_never_refused_and_costs_few_calls() {
    let (passed, calls) = spend(r#"{"LIMIT_BASE": {"per_ip": "400/s"}}"#, 1, 200, 8);
    assert_eq!(passed, [200; 8]);
    assert!(calls <= 1_600 * 30 / 1_000, "{calls} calls for 1,600 requests");
}

#[test]
fn bucket_too_small_for_leases_is_asked_each_time() {
    let (passed, calls) = spend(r#"{"LIMIT_BASE": {"per_ip": "1000/s burst 1"}}"#, 1, 100, 1);
    assert_eq!((passed, calls), (vec![100], 100));
}

#[test]
fn quota_is_shared_exactly_between_isolates_with_few_calls() {
    let (passed, calls) = spend(r#"{"LIMIT_BASE": {"per_ip": "1000/day"}}"#, 2, 200, 4);
    let sum: u64 = passed.iter().sum();
    assert!((980..=1_000).contains(&sum), "{passed:?}");
    assert!(calls <= 160, "{calls} calls for 1,600 requests");
}
