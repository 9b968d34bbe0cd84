//! Rates at one actor: all-or-nothing, saving, waking up, and a table that is full.

use crate::support::{World, ask, met, rate};
use penstock::limit::time::Span;
use penstock::protocol::rates::{Demand, Enforcement, Intent, Outcome};

const SECOND: Span = Span::from_secs(1);
const MINUTE: Span = Span::from_secs(60);

#[test]
fn a_second_limits_refusal_takes_nothing_from_the_first() {
    let world = World::default();
    let both = ask(1, vec![rate("wide", MINUTE, 10), rate("narrow", MINUTE, 2)]);
    assert!(world.passes(&both) && world.passes(&both));
    for _ in 0..20 {
        assert!(!world.passes(&both));
    }
    let wide = world.ask(&ask(1, vec![rate("wide", MINUTE, 10)]));
    assert!(matches!(wide.outcomes[..], [Outcome::Met { left: 7, .. }]), "{wide:?}");
}

#[test]
fn a_limit_in_shadow_stops_nobody_and_takes_what_it_can() {
    let world = World::default();
    let shadow = Demand { enforcement: Enforcement::Shadow, ..rate("shadow", MINUTE, 1) };
    let both = ask(1, vec![shadow, rate("real", MINUTE, 5)]);
    assert!(met(&world.ask(&both)));
    let second = world.ask(&both);
    assert!(matches!(second.outcomes[..], [Outcome::Refused { .. }, Outcome::Met { left: 3, .. }]), "{second:?}");
}

#[test]
fn a_peek_takes_nothing() {
    let world = World::default();
    let take = ask(1, vec![rate("a", MINUTE, 1)]);
    let peek = penstock::protocol::rates::Ask { intent: Intent::Peek, ..take.clone() };
    for _ in 0..5 {
        assert!(world.passes(&peek));
    }
    assert!(world.passes(&take));
    assert!(!world.passes(&peek));
}

#[test]
fn callers_do_not_share_buckets_and_limits_do_not_either() {
    let world = World::default();
    for caller in 0..5 {
        for limit in ["a", "b"] {
            let ask = ask(caller, vec![rate(limit, MINUTE, 1)]);
            assert!(world.passes(&ask));
            assert!(!world.passes(&ask));
        }
    }
}

#[test]
fn sto_02_a_debt_that_outlives_an_eviction_is_saved_and_a_shorter_one_is_not() {
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
fn what_everyone_shares_is_always_saved() {
    let world = World::default();
    let mut shared = ask(1, vec![rate("base/global", Span::from_millis(1), 2)]);
    shared.subject = None;
    shared.durable_after = Span::ZERO;
    assert_eq!(world.ask(&shared).rows, 1);
    assert_eq!(world.ask(&shared).rows, 1);
    world.evict();
    assert!(!world.passes(&shared), "a crash forgives it nothing");
}

#[test]
fn a_caller_who_waits_as_told_gets_in_and_a_nanosecond_earlier_does_not() {
    let world = World::default();
    let ask = ask(1, vec![rate("a", Span::from_nanos(142_857_143), 7)]);
    for _ in 0..100 {
        while world.passes(&ask) {}
        let reply = world.ask(&ask);
        let [Outcome::Refused { wait, .. }] = reply.outcomes[..] else { panic!("{reply:?}") };
        world.forward(wait.saturating_sub(Span::from_nanos(1)));
        assert!(!world.passes(&ask));
        world.forward(Span::from_nanos(1));
        assert!(world.passes(&ask));
    }
}

#[test]
fn a_full_table_refuses_newcomers_and_forgets_nobody_in_debt() {
    let world = World::with_capacity(3);
    for caller in 0..3 {
        assert!(world.passes(&ask(caller, vec![rate("a", MINUTE, 1)])));
    }
    let newcomer = ask(9, vec![rate("a", MINUTE, 1)]);
    let reply = world.ask(&newcomer);
    let [Outcome::Full { wait }] = reply.outcomes[..] else { panic!("{reply:?}") };
    assert!(wait <= MINUTE, "{wait}");
    for caller in 0..3 {
        assert!(!world.passes(&ask(caller, vec![rate("a", MINUTE, 1)])), "washed off");
    }
    world.forward(MINUTE);
    assert!(world.passes(&newcomer), "the others are at rest now");
}
