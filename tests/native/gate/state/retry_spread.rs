//! Turns of the callers that a shared limit has refused.

use penstock::gate::decision::Reason;
use penstock::gate::plan::Plan;
use penstock::gate::state::retry_spread::{RetrySpread, wait_while_unchecked};
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::support::EVENING;

/// A crowd that one limit refuses, and the turns of its callers.
struct Crowd {
    policy: Policy,
    spread: RetrySpread,
}

impl Crowd {
    fn at(field: &str, rate: &str) -> Crowd {
        let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({ field: rate, "per_ip": "9/s" }))]);
        Crowd { policy: Policy::read(&vars).unwrap(), spread: RetrySpread::default() }
    }

    /// Returns the whole seconds that the caller of number `who` is told to wait, where `real_wait`
    /// is true.
    fn wait(&mut self, who: u32, at: Time, real_wait: Span) -> u64 {
        self.wait_for(Reason::OverCapacity, who, at, real_wait)
    }

    fn wait_for(&mut self, reason: Reason, who: u32, at: Time, real_wait: Span) -> u64 {
        let subject = subject(who);
        let plan = Plan::new(&self.policy, None, subject, |_| Some(subject));
        let limit =
            plan.limits().find(|limit| limit.name != "base/ip" || self.policy.base.as_ref().unwrap().limits.len() == 1);
        let wait = match reason {
            Reason::LimiterUnavailable => wait_while_unchecked(real_wait, subject),
            _ => self.spread.wait_for_turn(limit.unwrap(), real_wait, subject, at),
        };
        wait.as_secs_up().max(1)
    }
}

fn subject(who: u32) -> Subject {
    let mut bytes = [0x5a; 16];
    bytes[..4].copy_from_slice(&who.wrapping_mul(0x9e37_79b9).to_be_bytes());
    bytes[4..8].copy_from_slice(&who.to_be_bytes());
    Subject::from_bytes(bytes)
}

/// Returns the most of `times` that lie in any half-open second.
fn most_in_a_second(mut times: Vec<Time>) -> usize {
    times.sort();
    let within =
        |start: &Time| times.iter().filter(|time| (*start..start.plus(Span::from_secs(1))).contains(time)).count();
    times.iter().map(within).max().unwrap_or(0)
}

#[test]
fn ops_04_crowd_refused_at_once_returns_within_the_limit() {
    let table = [
        ("10/s", 5),
        ("1/s", 1),
        ("25/s burst 5", 2),
        ("90/min", 1),
        ("6/min", 1),
        ("7/s burst 1000", 3),
        ("1000/s", 100),
    ];
    for (rate, most) in table {
        let mut crowd = Crowd::at("global", rate);
        let times: Vec<Time> = (0..100)
            .map(|who| EVENING.plus(Span::from_secs(crowd.wait(who, EVENING, Span::from_millis(90)))))
            .collect();
        assert_eq!(most_in_a_second(times.clone()), most, "{rate}");
        assert_eq!(times[0], EVENING.plus(Span::from_secs(1)), "{rate}: the first waits no longer than is true");
    }
}

#[test]
fn ops_04_returning_callers_get_half_of_the_limit() {
    let mut crowd = Crowd::at("global", "10/s");
    let waits: Vec<u64> = (0..100).map(|who| crowd.wait(who, EVENING, Span::from_millis(90))).collect();
    assert_eq!(waits, (1..=20).flat_map(|second| [second; 5]).take(100).collect::<Vec<_>>());
    let mut slow = Crowd::at("global", "6/min");
    let waits: Vec<u64> = (0..4).map(|who| slow.wait(who, EVENING, Span::from_millis(9_500))).collect();
    assert_eq!(waits, [10, 20, 30, 40]);
}

#[test]
fn caller_that_asks_again_keeps_its_turn() {
    let mut crowd = Crowd::at("global", "1/s");
    assert_eq!([0, 1, 2].map(|who| crowd.wait(who, EVENING, Span::from_secs(1))), [1, 2, 3]);
    for _ in 0..10_000 {
        assert_eq!(crowd.wait(2, EVENING, Span::from_secs(1)), 3);
    }
    let later = EVENING.plus(Span::from_millis(1_500));
    assert_eq!(crowd.wait(2, later, Span::from_secs(1)), 2, "what is left of it");
    assert_eq!(crowd.wait(3, later, Span::from_secs(1)), 3, "the next in line, at 4.5 s");
}

#[test]
fn passed_turns_are_forgotten() {
    let mut crowd = Crowd::at("global", "1/s");
    for who in 0..50 {
        crowd.wait(who, EVENING, Span::from_secs(1));
    }
    assert_eq!(crowd.wait(7, EVENING.plus(Span::from_secs(60)), Span::from_secs(1)), 1);
}

#[test]
fn other_limits_than_shared_rates_keep_their_wait() {
    for (field, rate) in [("per_key", "1/s"), ("global", "100/day")] {
        let mut crowd = Crowd::at(field, rate);
        let waits: Vec<u64> = (0..20).map(|who| crowd.wait(who, EVENING, Span::from_secs(5))).collect();
        assert_eq!(waits, [5; 20], "{field} = {rate}");
    }
}

#[test]
fn ops_04_callers_of_an_unchecked_limit_return_over_five_seconds() {
    for field in ["global", "per_key", "per_ip"] {
        let mut crowd = Crowd::at(field, "10/s");
        let mut told = |who, at| crowd.wait_for(Reason::LimiterUnavailable, who, at, Span::from_secs(1));
        let waits: Vec<u64> = (0..1000).map(|who| told(who, EVENING)).collect();
        for second in 1..=5 {
            let count = waits.iter().filter(|secs| **secs == second).count();
            assert!((150..=250).contains(&count), "{count} of a thousand at {second}");
        }
        assert!(waits.iter().all(|secs| (1..=5).contains(secs)));
        let again: Vec<u64> = (0..1000).map(|who| told(who, EVENING.plus(Span::from_millis(700)))).collect();
        assert_eq!(again, waits, "whoever asks again does not draw anew");
    }
    let mut crowd = Crowd::at("global", "10/s");
    assert!((0..1000).all(|who| {
        let wait = crowd.wait_for(Reason::LimiterUnavailable, who, EVENING, Span::from_millis(2_300));
        (3..=7).contains(&wait)
    }));
}

#[test]
fn flood_is_spread_in_bounded_memory() {
    let mut crowd = Crowd::at("global", "100/s");
    for who in 0..10_000 {
        crowd.wait(who, EVENING, Span::from_millis(10));
    }
    let waits: Vec<u64> = (10_000..110_000).map(|who| crowd.wait(who, EVENING, Span::from_millis(10))).collect();
    assert!(waits.iter().all(|secs| (1..=200).contains(secs)), "no later than the line is long");
    for second in 1..=198 {
        let count = waits.iter().filter(|secs| **secs == second).count();
        assert!((380..640).contains(&count), "evenly: {count} at {second}");
    }
}

proptest! {
    /// Callers come one after the other within some seconds, each refused for a real wait.
    #[test]
    fn ops_04_no_second_brings_more_callers_back_than_the_limit_admits(
        per_second in 1_u64..40,
        steps in prop::collection::vec((0_u64..300, 1_u64..3_000_000_000), 1..200),
    ) {
        let mut crowd = Crowd::at("global", &format!("{per_second}/s"));
        let mut at = EVENING;
        let mut times = Vec::new();
        for (who, (step, real_wait)) in (0..).zip(steps) {
            at = at.plus(Span::from_millis(step));
            let real_wait = Span::from_nanos(real_wait);
            let wait = Span::from_secs(crowd.wait(who, at, real_wait));
            prop_assert!(wait >= real_wait, "never shorter than true");
            times.push(at.plus(wait));
        }
        // Intervals are rounded up to whole nanoseconds, so a second may hold part of one more.
        prop_assert!(most_in_a_second(times) as u64 <= per_second + 1);
    }

    #[test]
    fn clock_step_back_lengthens_no_wait(back in 0_u64..100_000) {
        let mut crowd = Crowd::at("global", "10/s");
        crowd.wait(0, EVENING, Span::from_secs(1));
        prop_assert!(crowd.wait(1, EVENING.minus(Span::from_secs(back)), Span::from_secs(1)) <= 2);
    }
}
