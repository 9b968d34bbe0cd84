//! When those whom a shared limit has refused come back.

use penstock::gate::decision::Reason;
use penstock::gate::plan::Plan;
use penstock::gate::state::retry_spread::{RetrySpread, wait_while_unchecked};
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::support::EVENING;

/// A crowd that one limit refuses, and what each of it was told.
struct ContendedRate {
    policy: Policy,
    returns: RetrySpread,
}

impl ContendedRate {
    fn at(field: &str, rate: &str) -> ContendedRate {
        let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({ field: rate, "per_ip": "9/s" }))]);
        ContendedRate { policy: Policy::read(&vars).unwrap(), returns: RetrySpread::default() }
    }

    /// Whole seconds that the caller number `who` is told to wait, where `truly` is true.
    fn wait(&mut self, who: u32, at: Time, truly: Span) -> u64 {
        self.wait_for(Reason::OverCapacity, who, at, truly)
    }

    fn wait_for(&mut self, reason: Reason, who: u32, at: Time, truly: Span) -> u64 {
        let subject = subject(who);
        let plan = Plan::new(&self.policy, None, subject, |_| Some(subject));
        let met =
            plan.limits().find(|limit| limit.name != "base/ip" || self.policy.base.as_ref().unwrap().limits.len() == 1);
        let wait = match reason {
            Reason::LimiterUnavailable => wait_while_unchecked(truly, subject),
            _ => self.returns.wait_for_turn(met.unwrap(), truly, subject, at),
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

/// The most of `times` that lie in any half-open second.
fn most_in_a_second(mut times: Vec<Time>) -> usize {
    times.sort();
    let within =
        |start: &Time| times.iter().filter(|time| (*start..start.plus(Span::from_secs(1))).contains(time)).count();
    times.iter().map(within).max().unwrap_or(0)
}

#[test]
fn ops_04_of_a_hundred_refused_in_one_instant_no_more_come_back_in_a_second_than_the_limit_admits() {
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
        let mut crowd = ContendedRate::at("global", rate);
        let times: Vec<Time> = (0..100)
            .map(|who| EVENING.plus(Span::from_secs(crowd.wait(who, EVENING, Span::from_millis(90)))))
            .collect();
        assert_eq!(most_in_a_second(times.clone()), most, "{rate}");
        assert_eq!(times[0], EVENING.plus(Span::from_secs(1)), "{rate}: the first waits no longer than is true");
    }
}

#[test]
fn ops_04_half_of_the_limit_is_for_those_who_come_back() {
    let mut crowd = ContendedRate::at("global", "10/s");
    let waits: Vec<u64> = (0..100).map(|who| crowd.wait(who, EVENING, Span::from_millis(90))).collect();
    assert_eq!(waits, (1..=20).flat_map(|second| [second; 5]).take(100).collect::<Vec<_>>());
    let mut slow = ContendedRate::at("global", "6/min");
    let waits: Vec<u64> = (0..4).map(|who| slow.wait(who, EVENING, Span::from_millis(9_500))).collect();
    assert_eq!(waits, [10, 20, 30, 40]);
}

#[test]
fn a_caller_who_asks_again_keeps_its_place_and_pushes_nobody_back() {
    let mut crowd = ContendedRate::at("global", "1/s");
    assert_eq!([0, 1, 2].map(|who| crowd.wait(who, EVENING, Span::from_secs(1))), [1, 2, 3]);
    for _ in 0..10_000 {
        assert_eq!(crowd.wait(2, EVENING, Span::from_secs(1)), 3);
    }
    let later = EVENING.plus(Span::from_millis(1_500));
    assert_eq!(crowd.wait(2, later, Span::from_secs(1)), 2, "what is left of it");
    assert_eq!(crowd.wait(3, later, Span::from_secs(1)), 3, "the next in line, at 4.5 s");
}

#[test]
fn the_line_is_forgotten_when_it_has_passed() {
    let mut crowd = ContendedRate::at("global", "1/s");
    for who in 0..50 {
        crowd.wait(who, EVENING, Span::from_secs(1));
    }
    assert_eq!(crowd.wait(7, EVENING.plus(Span::from_secs(60)), Span::from_secs(1)), 1);
}

#[test]
fn only_a_shared_rate_is_spread() {
    for (field, rate) in [("per_key", "1/s"), ("global", "100/day")] {
        let mut crowd = ContendedRate::at(field, rate);
        let waits: Vec<u64> = (0..20).map(|who| crowd.wait(who, EVENING, Span::from_secs(5))).collect();
        assert_eq!(waits, [5; 20], "{field} = {rate}");
    }
}

#[test]
fn ops_04_those_for_whom_a_limit_cannot_be_checked_come_back_over_five_seconds() {
    for field in ["global", "per_key", "per_ip"] {
        let mut crowd = ContendedRate::at(field, "10/s");
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
    let mut crowd = ContendedRate::at("global", "10/s");
    assert!((0..1000).all(|who| {
        let wait = crowd.wait_for(Reason::LimiterUnavailable, who, EVENING, Span::from_millis(2_300));
        (3..=7).contains(&wait)
    }));
}

#[test]
fn a_flood_of_callers_is_spread_in_bounded_memory() {
    let mut crowd = ContendedRate::at("global", "100/s");
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
    /// Callers come one after the other within some seconds, each refused with some true wait.
    #[test]
    fn ops_04_no_second_is_promised_to_more_than_the_limit_admits(
        per_second in 1_u64..40,
        steps in prop::collection::vec((0_u64..300, 1_u64..3_000_000_000), 1..200),
    ) {
        let mut crowd = ContendedRate::at("global", &format!("{per_second}/s"));
        let mut at = EVENING;
        let mut times = Vec::new();
        for (who, (step, truly)) in (0..).zip(steps) {
            at = at.plus(Span::from_millis(step));
            let truly = Span::from_nanos(truly);
            let wait = Span::from_secs(crowd.wait(who, at, truly));
            prop_assert!(wait >= truly, "never shorter than true");
            times.push(at.plus(wait));
        }
        // Intervals are rounded up to whole nanoseconds, so a second may hold part of one more.
        prop_assert!(most_in_a_second(times) as u64 <= per_second + 1);
    }

    #[test]
    fn a_clock_that_steps_back_makes_nobody_wait_for_it(back in 0_u64..100_000) {
        let mut crowd = ContendedRate::at("global", "10/s");
        crowd.wait(0, EVENING, Span::from_secs(1));
        prop_assert!(crowd.wait(1, EVENING.minus(Span::from_secs(back)), Span::from_secs(1)) <= 2);
    }
}
