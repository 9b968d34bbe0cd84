//! The actor's memory of rates: saving, waking up, a full table, a full disk, and clocks that step.

use crate::support::{EVENING, World, ask, rate, run};
use penstock::limit::debt::SavedDebt;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{Demand, Outcome};

const SECOND: Span = Span::from_secs(1);
const TWELVE: Span = Span::from_secs(12);
const MINUTE: Span = Span::from_secs(60);
const HOUR: Span = Span::from_secs(3_600);

#[test]
fn sto_02_debt_longer_than_durable_after_is_saved_and_shorter_debt_is_not() {
    let world = World::default();
    let long = ask(1, vec![rate("long", Span::from_secs(720), 5)]);
    let short = ask(1, vec![rate("short", SECOND, 5)]);
    for _ in 0..5 {
        assert_eq!(world.ask(&long).rows, 1);
        assert_eq!(world.ask(&short).rows, 0);
    }
    world.forward(Span::from_secs(100));
    world.evict();
    assert!(!world.passes(&long), "still used up");
    assert!(world.passes(&short), "repaid long ago");
    assert_eq!(world.disk.rows.borrow().len(), 1);
}

#[test]
fn global_limit_is_saved_with_every_answer() {
    let world = World::default();
    let mut shared = ask(1, vec![rate("base/global", Span::from_millis(1), 2)]);
    shared.subject = None;
    shared.durable_after = Span::ZERO;
    assert_eq!(world.ask(&shared).rows, 1);
    assert_eq!(world.ask(&shared).rows, 1);
    world.evict();
    assert!(!world.passes(&shared), "a crash forgives no debt");
}

#[test]
fn full_table_refuses_newcomers_and_keeps_buckets_in_debt() {
    let world = World::with_capacity(3);
    for caller in 0..3 {
        assert!(world.passes(&ask(caller, vec![rate("a", MINUTE, 1)])));
    }
    let newcomer = ask(9, vec![rate("a", MINUTE, 1)]);
    let reply = world.ask(&newcomer);
    let [Outcome::Full { wait }] = reply.outcomes[..] else { panic!("{reply:?}") };
    assert!(wait <= MINUTE, "{wait}");
    for caller in 0..3 {
        assert!(!world.passes(&ask(caller, vec![rate("a", MINUTE, 1)])), "its debt was forgotten");
    }
    world.forward(MINUTE);
    assert!(world.passes(&newcomer), "the others are at rest now");
}

#[test]
fn gcr_05_clock_step_charges_no_caller_twice_and_locks_no_caller_out() {
    let world = World::default();
    let five_a_minute = ask(1, vec![rate("a", TWELVE, 5)]);
    for step in [Time::minus as fn(Time, Span) -> Time, Time::plus, Time::minus] {
        while world.passes(&five_a_minute) {}
        world.now.set(step(world.now.get(), HOUR));
        let reply = world.ask(&five_a_minute);
        let wait = match reply.outcomes[..] {
            [Outcome::Refused { wait, .. }] => wait,
            [Outcome::Met { .. }] => continue,
            _ => panic!("{reply:?}"),
        };
        assert!(wait <= TWELVE, "no second charge: one token is {wait} away");
        world.forward(wait);
        assert!(world.passes(&five_a_minute), "the promised wait holds after the step");
    }
}

#[test]
fn full_disk_hands_out_nothing_and_charges_nothing() {
    let world = World::default();
    let ask = ask(1, vec![rate("a", HOUR, 1)]);
    world.disk.full.set(true);
    assert_eq!(run(world.answer(&ask)), Err("SQLITE_FULL".into()));
    world.disk.full.set(false);
    assert!(world.passes(&ask));
    assert!(!world.passes(&ask));
}

#[test]
fn row_from_the_future_locks_out_no_longer_than_an_empty_bucket() {
    for future in [Time::MAX, EVENING.plus(HOUR.times(24 * 365 * 5))] {
        let world = World::default();
        let demand = rate("a", TWELVE, 5);
        let ask = ask(1, vec![demand.clone()]);
        world
            .disk
            .rows
            .borrow_mut()
            .insert(demand.bucket(ask.subject), SavedDebt { tat: future, interval: TWELVE, burst: 5 });
        world.evict();
        let reply = world.ask(&ask);
        let [Outcome::Refused { wait, .. }] = reply.outcomes[..] else { panic!("{reply:?}") };
        assert!(wait <= TWELVE.times(5), "{wait}");
        world.evict();
        world.forward(wait);
        assert!(world.passes(&ask), "the TAT was cut down on disk too");
    }
}

#[test]
fn smaller_limit_holds_at_once_and_its_debt_is_at_most_a_bucket() {
    let world = World::default();
    for _ in 0..10 {
        assert!(world.passes(&ask(1, vec![rate("a", Span::from_secs(360), 10)])));
    }
    let small = ask(1, vec![rate("a", Span::from_secs(720), 5)]);
    let reply = world.ask(&small);
    let [Outcome::Refused { wait, .. }] = reply.outcomes[..] else { panic!("{reply:?}") };
    assert_eq!(wait, Span::from_secs(720), "one token of a full debt");
    world.forward(wait);
    assert!(world.passes(&small) && !world.passes(&small));
    let used = ask(1, vec![Demand { cost: 0, ..rate("a", Span::from_secs(720), 5) }]);
    assert_eq!(world.disk.rows.borrow().values().map(|debt| debt.burst).collect::<Vec<_>>(), [5]);
    assert!(matches!(world.ask(&used).outcomes[..], [Outcome::Met { left: 0, .. }]));
}
