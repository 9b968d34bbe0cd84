//! Clocks that step, disks that fill up, rows that nobody wrote.

use crate::support::{EVENING, World, ask, rate};
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::Outcome;

const TWELVE: Span = Span::from_secs(12);
const HOUR: Span = Span::from_secs(3_600);

#[test]
fn gcr_05_clock_steps_charge_nobody_twice_and_lock_nobody_out() {
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
        assert!(world.passes(&five_a_minute), "the promise holds after the step");
    }
}

#[test]
fn a_full_disk_hands_out_nothing_and_charges_nothing() {
    let world = World::default();
    let ask = ask(1, vec![rate("a", HOUR, 1)]);
    world.disk.full.set(true);
    assert_eq!(crate::support::run(world.answer(&ask)), Err("SQLITE_FULL".into()));
    world.disk.full.set(false);
    assert!(world.passes(&ask));
    assert!(!world.passes(&ask));
}

#[test]
fn a_row_from_the_future_locks_nobody_out_for_longer_than_a_full_bucket_takes() {
    for future in [Time::MAX, EVENING.plus(HOUR.times(24 * 365 * 5))] {
        let world = World::default();
        let demand = rate("a", TWELVE, 5);
        let ask = ask(1, vec![demand.clone()]);
        world.disk.rows.borrow_mut().insert(demand.bucket(ask.subject), future);
        world.evict();
        let reply = world.ask(&ask);
        let [Outcome::Refused { wait, .. }] = reply.outcomes[..] else { panic!("{reply:?}") };
        assert!(wait <= TWELVE.times(5), "{wait}");
        world.evict();
        world.forward(wait);
        assert!(world.passes(&ask), "what was cut down stays cut down, on the disk too");
    }
}

#[test]
fn a_limit_that_shrank_is_obeyed_at_once_and_one_that_grew_owes_no_more_than_before() {
    let world = World::default();
    for _ in 0..5 {
        assert!(world.passes(&ask(1, vec![rate("a", HOUR, 5)])));
    }
    let small = ask(1, vec![rate("a", Span::from_secs(1), 2)]);
    let reply = world.ask(&small);
    let [Outcome::Refused { wait, .. }] = reply.outcomes[..] else { panic!("{reply:?}") };
    assert!(wait <= Span::from_secs(2), "{wait}");
    world.forward(wait);
    assert!(world.passes(&small) && !world.passes(&small));
}
