//! Answers about rates at one actor: all or nothing, shadow, peeks and waits.

use crate::support::{World, ask, met, rate};
use penstock::limit::time::Span;
use penstock::protocol::rates::{Ask, Demand, Enforcement, Intent, Outcome};

const MINUTE: Span = Span::from_secs(60);

#[test]
fn refusal_of_one_limit_takes_nothing_from_another() {
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
fn limit_in_shadow_refuses_nobody_and_takes_its_tokens() {
    let world = World::default();
    let shadow = Demand { enforcement: Enforcement::Shadow, ..rate("shadow", MINUTE, 1) };
    let both = ask(1, vec![shadow, rate("real", MINUTE, 5)]);
    assert!(met(&world.ask(&both)));
    let second = world.ask(&both);
    assert!(matches!(second.outcomes[..], [Outcome::Refused { .. }, Outcome::Met { left: 3, .. }]), "{second:?}");
}

#[test]
fn peek_takes_nothing() {
    let world = World::default();
    let take = ask(1, vec![rate("a", MINUTE, 1)]);
    let peek = Ask { intent: Intent::Peek, ..take.clone() };
    for _ in 0..5 {
        assert!(world.passes(&peek));
    }
    assert!(world.passes(&take));
    assert!(!world.passes(&peek));
}

#[test]
fn each_caller_and_each_limit_has_a_bucket_of_its_own() {
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
fn caller_passes_after_the_wait_and_not_a_nanosecond_before() {
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
