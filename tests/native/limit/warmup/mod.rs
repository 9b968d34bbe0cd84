//! Warm-up: never more than the ramp, the whole rate in the end, and exact waits.

mod saved;

use crate::support::{World, ask, met, rate};
use penstock::limit::lease::Wish;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{Ask, Demand, Outcome, Terms};
use proptest::prelude::*;

/// The length of a ramp, in seconds.
const WARMUP: f64 = 30.0;

/// A question about a `global` rate of `per_second` tokens that opens within [`WARMUP`].
fn opening(per_second: u64, burst: u64) -> Ask {
    let demand = rate("base/global", Span::from_nanos(1_000_000_000_u64.div_ceil(per_second)), burst);
    let shared = ask(0, vec![Demand { warmup: Span::from_secs(30), ..demand }]);
    Ask { subject: None, durable_after: Span::ZERO, ..shared }
}

/// The tokens that the ramp has let in by `second`, in seconds of the full rate.
fn integral(second: f64) -> f64 {
    let slow = second.min(WARMUP);
    slow * (0.1 + 0.9 * slow / WARMUP / 2.0) + (second - slow)
}

fn seconds(world: &World, start: Time) -> f64 {
    world.now.get().since(start).as_nanos() as f64 / 1e9
}

/// Asks at every `step` until second `until`, and checks the sum against the ramp each time.
/// Returns `before` and the requests admitted since.
fn admitted(world: &World, ask: &Ask, step: Span, from: f64, until: f64, start: Time, mut before: f64) -> f64 {
    let Demand { terms: Terms::Rate(gcra), .. } = ask.demands[0].clone() else { panic!() };
    let per_second = 1e9 / gcra.interval().as_nanos() as f64;
    let most = |second: f64| 1.0 + (gcra.burst() as f64 / 10.0).max(1.0) + per_second * integral(second);
    assert!(seconds(world, start) >= from);
    while seconds(world, start) < until {
        while world.passes(ask) {
            before += 1.0;
        }
        let second = seconds(world, start);
        assert!(before <= most(second), "{before} admitted by {second} s, {} allowed", most(second));
        world.forward(step);
    }
    before
}

#[test]
fn cold_rate_opens_linearly_and_is_then_whole() {
    let (world, ask) = (World::default(), opening(100, 100));
    let start = world.now.get();
    let step = Span::from_millis(7);
    let mut sum = 0.0;
    for (from, until) in [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0), (30.0, 40.0)] {
        let before = sum;
        sum = admitted(&world, &ask, step, from, until, start, sum);
        println!("{from:>3} s to {until} s: {:.1} a second", (sum - before) / 10.0);
        let expected = 100.0 * (integral(until) - integral(from)) + if from == 0.0 { 10.0 } else { 0.0 };
        assert!((sum - before) / expected > 0.97, "{} of {expected}", sum - before);
    }
}

#[test]
fn tokens_saved_up_while_idle_are_not_let_in_at_once() {
    // A bucket that fills up in ten minutes, beside which the ramp is short.
    let (world, ask) = (World::default(), opening(100, 60_000));
    let start = world.now.get();
    assert!(world.passes(&ask));
    world.forward(Span::from_secs(15));
    admitted(&world, &ask, Span::from_millis(500), 15.0, 40.0, start, 1.0);
}

#[test]
fn wait_during_the_ramp_is_exact() {
    for (per_second, burst) in [(100, 100), (3, 3), (1_000, 50)] {
        let (world, ask) = (World::default(), opening(per_second, burst));
        for _ in 0..300 {
            while world.passes(&ask) {}
            let [Outcome::Refused { wait, .. }] = world.ask(&ask).outcomes[..] else { panic!() };
            world.forward(wait.saturating_sub(Span::from_nanos(200_000)));
            if wait > Span::from_millis(1) {
                assert!(!world.passes(&ask), "{wait} is too long");
            }
            world.forward(Span::from_nanos(200_000));
            assert!(world.passes(&ask), "{wait} is too short");
        }
    }
}

#[test]
fn minute_without_requests_is_a_cold_start_and_less_is_not() {
    let (world, ask) = (World::default(), opening(100, 100));
    assert!(world.passes(&ask));
    world.forward(Span::from_secs(40));
    let passing = || (0..1_000).filter(|_| world.passes(&ask)).count();
    assert_eq!(passing(), 100, "warm");
    world.forward(Span::from_secs(50));
    assert_eq!(passing(), 100, "still warm");
    world.forward(Span::from_secs(61));
    assert_eq!(passing(), 10, "cold");
}

#[test]
fn eviction_or_crash_does_not_start_the_ramp_again() {
    let (world, ask) = (World::default(), opening(100, 100));
    let start = world.now.get();
    let mut sum = admitted(&world, &ask, Span::from_millis(10), 0.0, 15.0, start, 0.0);
    world.evict();
    sum = admitted(&world, &ask, Span::from_millis(10), 15.0, 32.0, start, sum);
    assert!(sum > 0.9 * 100.0 * integral(32.0), "{sum}");
    let rows = world.disk.warm.borrow().len();
    assert_eq!(rows, 1);
    world.evict();
    world.forward(Span::from_secs(20));
    assert_eq!((0..1_000).filter(|_| world.passes(&ask)).count(), 100);
    world.evict();
    world.forward(Span::from_secs(100));
    assert_eq!((0..1_000).filter(|_| world.passes(&ask)).count(), 10, "too long ago");
}

#[test]
fn raised_rate_goes_on_from_the_old_one_even_across_a_deploy() {
    let (old, new) = (opening(50, 50), opening(200, 200));
    let world = World::default();
    assert!(world.passes(&old));
    for _ in 0..8 {
        world.forward(Span::from_secs(10));
        while world.passes(&old) {}
    }
    world.evict();
    let mut first = 0;
    for _ in 0..500 {
        world.forward(Span::from_millis(10));
        // For some seconds, isolates of both versions ask.
        first += (0..100).filter(|_| world.passes(&new)).count();
        first += (0..100).filter(|_| world.passes(&old)).count();
    }
    // Five seconds from a quarter of the new rate, which grows in that time.
    let ramp = 200.0 * 5.0 * (0.25 + 0.75 * 5.0 / WARMUP / 2.0);
    assert!(f64::from(u32::try_from(first).unwrap()) <= ramp + 2.0 + 50.0, "{first} of {ramp}");
    assert!(first > 250, "{first}");
    for _ in 0..3_000 {
        world.forward(Span::from_millis(10));
        while world.passes(&new) {}
    }
    let late = (0..1_000).map(|_| {
        world.forward(Span::from_millis(10));
        (0..100).filter(|_| world.passes(&new)).count()
    });
    let late: usize = late.sum();
    assert!((1_980..=2_010).contains(&late), "{late} in ten seconds");
}

#[test]
fn warmup_that_a_deploy_adds_starts_no_ramp_in_the_middle_of_traffic() {
    let new = opening(100, 100);
    let mut old = opening(100, 100);
    old.demands[0].warmup = Span::ZERO;
    let world = World::default();
    let mut passed = 0;
    for round in 0..2_000 {
        world.forward(Span::from_millis(10));
        if round == 1_000 {
            world.evict();
        }
        // For some seconds, isolates of both versions ask.
        let one = if round > 1_000 && round % 2 == 0 { &new } else { &old };
        passed += usize::from(world.passes(one));
    }
    assert_eq!(passed, 2_000);
    world.forward(Span::from_secs(5));
    assert!((0..1_000).filter(|_| world.passes(&new)).count() > 90, "it is open");
    world.evict();
    world.forward(Span::from_secs(91));
    assert_eq!(
        (0..1_000).filter(|_| world.passes(&new)).count(),
        10,
        "and cold after a minute and a half without a request"
    );
}

#[test]
fn ramp_that_cannot_be_saved_hands_out_nothing() {
    let (world, ask) = (World::default(), opening(100, 100));
    world.disk.full.set(true);
    assert!(crate::support::run(world.answer(&ask)).is_err());
    world.disk.full.set(false);
    assert!(world.passes(&ask));
}

#[test]
fn rate_with_waits_of_minutes_opens_all_the_same() {
    for (burst, evicted) in [(1, false), (20, false), (1, true), (20, true)] {
        let demand = rate("base/global", Span::from_secs(180), burst);
        let shared = ask(0, vec![Demand { warmup: Span::from_secs(600), ..demand }]);
        let (world, ask) = (World::default(), Ask { subject: None, durable_after: Span::ZERO, ..shared });
        let mut waits = Vec::new();
        for _ in 0..20 {
            while world.passes(&ask) {}
            let [Outcome::Refused { wait, .. }] = world.ask(&ask).outcomes[..] else { panic!() };
            waits.push(wait.as_secs_up());
            // A caller that knows its wait does not ask before.
            world.forward(wait);
            if evicted {
                world.evict();
            }
        }
        assert!(waits[0] > 400 && waits[5..].iter().all(|wait| *wait == 180), "burst {burst}: {waits:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With leases, pauses and evictions, the tokens handed out stay within the ramp, a tenth of
    /// the burst, and the lead of leases.
    #[test]
    fn any_schedule_admits_at_most_the_ramp(
        per_second in 20_u64..2_000,
        seconds_of_burst in 1_u64..20,
        steps in prop::collection::vec((0_u64..1_500, 0_u64..400, 0_u8..20), 1..120),
    ) {
        let burst = per_second * seconds_of_burst;
        let (world, mut ask) = (World::default(), opening(per_second, burst));
        let start = world.now.get();
        let mut sum = 0.0;
        for (millis, wish, eviction) in steps {
            world.forward(Span::from_millis(millis));
            if eviction == 0 {
                world.evict();
            }
            ask.demands[0].wish = Wish { ahead: wish, waiting: 0 };
            for _ in 0..20 {
                let reply = world.ask(&ask);
                sum += f64::from(u8::from(met(&reply)));
                sum += reply.grants[0].map_or(0.0, |grant| grant.count as f64);
            }
            let second = seconds(&world, start);
            let pace = (0.1 + 0.9 * second / WARMUP).min(1.0);
            let most = 1.0 + (burst as f64 / 10.0) + per_second as f64 * (integral(second) + 0.5 * pace);
            prop_assert!(sum <= most, "{} handed out by {} s, {} allowed", sum, second, most);
        }
    }

    /// A damaged row is at worst a cold start or an open rate.
    #[test]
    fn damaged_row_admits_at_most_the_limit(numbers in prop::collection::vec(any::<u64>(), 5)) {
        let text = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let (world, ask) = (World::default(), opening(100, 100));
        assert!(world.passes(&ask));
        for state in world.disk.warm.borrow_mut().values_mut() {
            state.clone_from(&text);
        }
        world.evict();
        prop_assert!((0..1_000).filter(|_| world.passes(&ask)).count() <= 100);
        world.forward(Span::from_secs(1));
        prop_assert!((0..1_000).filter(|_| world.passes(&ask)).count() <= 100);
    }
}
