//! The circuit breaker: it opens after failures, pauses, and probes whether the callee has
//! recovered.

use penstock::limit::time::{Span, Time};
use penstock::protocol::circuit_breaker::{CallPermission, CallResult, CircuitBreaker};

const NOW: Time = Time::from_millis(1_795_975_200_000);
const PATIENCE: Span = Span::from_millis(250);

const fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A breaker that opened at [`NOW`], for exactly its first pause.
fn open_breaker() -> CircuitBreaker {
    let mut breaker = CircuitBreaker::default();
    breaker.record(CallPermission::Usual, CallResult::Overload, NOW, 128);
    breaker
}

#[test]
fn two_failures_in_a_row_open_it_and_single_ones_do_not() {
    let mut breaker = CircuitBreaker::default();
    for _ in 0..10 {
        breaker.record(CallPermission::Usual, CallResult::Failure, NOW, 0);
        assert!(!breaker.is_open());
        breaker.record(CallPermission::Usual, CallResult::Answer, NOW, 0);
    }
    breaker.record(CallPermission::Usual, CallResult::Failure, NOW, 0);
    breaker.record(CallPermission::Usual, CallResult::Nothing, NOW, 0);
    assert!(!breaker.is_open(), "a call that had too little time has not failed");
    breaker.record(CallPermission::Usual, CallResult::Failure, NOW, 0);
    assert!(breaker.is_open());
}

#[test]
fn overload_opens_it_at_once() {
    assert!(open_breaker().is_open());
}

#[test]
fn open_breaker_admits_one_probe_after_the_pause_and_closes_on_its_answer() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.permission(NOW.plus(ms(249)), PATIENCE), None);
    assert_eq!(breaker.permission(NOW.plus(ms(250)), PATIENCE), Some(CallPermission::Probe));
    assert_eq!(breaker.permission(NOW.plus(ms(250)), PATIENCE), None, "no other call during the probe");
    breaker.record(CallPermission::Probe, CallResult::Answer, NOW.plus(ms(260)), 0);
    assert_eq!(breaker.permission(NOW.plus(ms(260)), PATIENCE), Some(CallPermission::Usual));
}

#[test]
fn probe_without_a_result_makes_room_for_the_next_after_its_patience() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.permission(NOW.plus(ms(400)), PATIENCE), Some(CallPermission::Probe));
    assert_eq!(breaker.permission(NOW.plus(ms(649)), PATIENCE), None);
    assert_eq!(breaker.permission(NOW.plus(ms(650)), PATIENCE), Some(CallPermission::Probe));
}

#[test]
fn pauses_double_up_to_ten_seconds_and_start_again_after_an_answer() {
    let mut breaker = open_breaker();
    let mut now = NOW;
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let begun = now;
        while breaker.permission(now, PATIENCE).is_none() {
            now = now.plus(ms(1));
        }
        pauses.push(now.since(begun).as_millis());
        breaker.record(CallPermission::Probe, CallResult::Failure, now, 128);
    }
    assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    while breaker.permission(now, PATIENCE).is_none() {
        now = now.plus(ms(1));
    }
    breaker.record(CallPermission::Probe, CallResult::Answer, now, 128);
    breaker.record(CallPermission::Usual, CallResult::Overload, now, 128);
    assert_eq!(breaker.permission(now.plus(ms(250)), PATIENCE), Some(CallPermission::Probe));
}

#[test]
fn result_of_a_call_made_before_it_opened_changes_nothing() {
    let mut breaker = open_breaker();
    for result in [CallResult::Failure, CallResult::Overload, CallResult::Answer] {
        breaker.record(CallPermission::Usual, result, NOW.plus(ms(10)), 255);
        assert!(breaker.is_open());
    }
    assert_eq!(breaker.permission(NOW.plus(ms(250)), PATIENCE), Some(CallPermission::Probe));
}
