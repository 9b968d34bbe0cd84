//! Rates that open slowly: never more than the ramp, the whole rate in the end, and waits that are true.

use crate::support::{World, ask, met, rate};
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{Ask, Demand, Outcome};
use proptest::prelude::*;

const WARMUP: f64 = 30.0;

/// A shared rate of so many a second that opens within half a minute.
fn opening(per_second: u64, burst: u64) -> Ask {
    let demand = rate("base/global", Span::from_nanos(1_000_000_000_u64.div_ceil(per_second)), burst);
    let shared = ask(0, vec![Demand { warmup: Span::from_secs(30), ..demand }]);
    Ask { subject: None, durable_after: Span::ZERO, ..shared }
}

/// What the ramp has let in by `second`, in seconds of the full rate.
fn integral(second: f64) -> f64 {
    let slow = second.min(WARMUP);
    slow * (0.1 + 0.9 * slow / WARMUP / 2.0) + (second - slow)
}

fn seconds(world: &World, start: Time) -> f64 {
    world.now.get().since(start).as_nanos() as f64 / 1e9
}

/// How many are admitted between now and `until`, by one who asks every `step`; each moment is held against the ramp.
fn admitted(world: &World, ask: &Ask, step: Span, from: f64, until: f64, start: Time, mut before: f64) -> f64 {
    let Demand { terms: penstock::protocol::rates::Terms::Rate(gcra), .. } = ask.demands[0].clone() else { panic!() };
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
fn a_cold_rate_opens_in_a_line_and_is_then_whole() {
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
fn what_was_saved_while_idle_is_not_let_in_at_once() {
    // A bucket of ten minutes: the ramp's own time would be nothing beside it.
    let (world, ask) = (World::default(), opening(100, 60_000));
    let start = world.now.get();
    assert!(world.passes(&ask));
    world.forward(Span::from_secs(15));
    admitted(&world, &ask, Span::from_millis(500), 15.0, 40.0, start, 1.0);
}

#[test]
fn a_wait_that_is_told_during_the_ramp_is_true() {
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
fn a_minute_without_requests_is_a_cold_start_and_less_is_none() {
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
fn neither_an_eviction_nor_a_crash_begins_a_ramp_again() {
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
fn a_raised_rate_goes_on_from_the_old_one_even_across_a_deploy() {
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
        // For some seconds isolates of both versions ask.
        first += (0..100).filter(|_| world.passes(&new)).count();
        first += (0..100).filter(|_| world.passes(&old)).count();
    }
    // Five seconds at a quarter of the new rate, and what is added to it in that time.
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
fn a_ramp_that_a_deploy_brings_begins_nothing_anew_in_the_middle_of_traffic() {
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
        // For some seconds isolates of both versions ask.
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
fn nothing_is_handed_out_before_the_ramp_is_saved() {
    let (world, ask) = (World::default(), opening(100, 100));
    world.disk.full.set(true);
    assert!(crate::support::run(world.answer(&ask)).is_err());
    world.disk.full.set(false);
    assert!(world.passes(&ask));
}

#[test]
fn the_form_on_disk_is_unchanged() {
    let text = "1795975200000000000 30000000000 100000000 10000000 1795975230000000000";
    let saved = SavedWarmup::read(text).unwrap();
    assert_eq!((saved.ramp.start_interval, saved.ramp.end_interval), (Span::from_millis(100), Span::from_millis(10)));
    assert_eq!(saved.write(), text);
    for bad in ["", "1 2 3 4", "1 2 3 4 x", "1 2 3 4 -5"] {
        assert_eq!(SavedWarmup::read(bad), None, "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Leases, pauses, evictions: what is handed out stays under the ramp, a tenth of the burst, and what is leased ahead.
    #[test]
    fn no_schedule_admits_more_than_the_ramp(
        per_second in 20_u64..2_000,
        seconds_of_burst in 1_u64..20,
        steps in prop::collection::vec((0_u64..1_500, 0_u64..400, 0_u8..20), 1..120),
    ) {
        let burst = per_second * seconds_of_burst;
        let (world, mut ask) = (World::default(), opening(per_second, burst));
        let start = world.now.get();
        let mut sum = 0.0;
        for (millis, wish, what) in steps {
            world.forward(Span::from_millis(millis));
            if what == 0 {
                world.evict();
            }
            ask.demands[0].wish = penstock::limit::lease::Wish { ahead: wish, waiting: 0 };
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

    /// No row makes anything worse than cold.
    #[test]
    fn a_damaged_row_admits_no_more_than_the_limit(numbers in prop::collection::vec(any::<u64>(), 5)) {
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

#[test]
fn a_rate_that_makes_everyone_wait_for_minutes_opens_all_the_same() {
    for (burst, evicted) in [(1, false), (20, false), (1, true), (20, true)] {
        let demand = rate("base/global", Span::from_secs(180), burst);
        let shared = ask(0, vec![Demand { warmup: Span::from_secs(600), ..demand }]);
        let (world, ask) = (World::default(), Ask { subject: None, durable_after: Span::ZERO, ..shared });
        let mut waits = Vec::new();
        for _ in 0..20 {
            while world.passes(&ask) {}
            let [Outcome::Refused { wait, .. }] = world.ask(&ask).outcomes[..] else { panic!() };
            waits.push(wait.as_secs_up());
            // Whoever wants more knows until when there is none.
            world.forward(wait);
            if evicted {
                world.evict();
            }
        }
        assert!(waits[0] > 400 && waits[5..].iter().all(|wait| *wait == 180), "burst {burst}: {waits:?}");
    }
}
