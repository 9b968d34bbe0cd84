//! Daily quotas at one actor: prepaid from the ledger, and exact under races and faults.

use crate::support::{Fault, World, ask, counted, met, quota, rate, run};
use futures_util::future::join_all;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{Ask, Outcome, Reply};

const MINUTE: Span = Span::from_secs(60);

/// Tokens that the ledger counts as used.
fn used(world: &World) -> u64 {
    world.ledger.used.borrow().values().sum()
}

/// The number of `asks` that pass, all asked at once.
fn passing(world: &World, asks: &[Ask]) -> usize {
    let replies = run(join_all(asks.iter().map(|ask| world.answer(ask))));
    replies.iter().filter(|reply| reply.as_ref().is_ok_and(met)).count()
}

#[test]
fn qta_01_of_300_requests_at_once_exactly_the_quota_passes() {
    let world = World::default();
    let asks = vec![ask(1, vec![quota("api/key", 100, "UTC")]); 300];
    assert_eq!(passing(&world, &asks), 100);
    assert_eq!(used(&world), 100);
}

#[test]
fn qta_06_request_that_a_rate_refuses_takes_no_quota() {
    let world = World::default();
    let both = ask(1, vec![rate("a", MINUTE, 2), quota("b", 100, "UTC")]);
    for _ in 0..52 {
        world.ask(&both);
    }
    assert_eq!(used(&world), 2);
    assert_eq!(world.ledger.statements.get(), 2, "D1 is not asked for refused requests");
}

#[test]
fn tokens_counted_for_a_request_that_a_rate_then_refuses_go_to_the_next() {
    let world = World::default();
    // All ten pass the first look, and while D1 counts for each of them the rate runs out.
    let both = ask(1, vec![rate("a", MINUTE, 3), quota("b", 100, "UTC")]);
    assert_eq!(passing(&world, &vec![both.clone(); 10]), 3);
    assert_eq!(used(&world), 10);
    let statements = world.ledger.statements.get();
    for _ in 0..7 {
        world.forward(MINUTE);
        assert!(world.passes(&both));
    }
    assert_eq!(
        (used(&world), world.ledger.statements.get()),
        (10, statements),
        "the tokens of these seven were prepaid"
    );
    world.forward(MINUTE);
    assert!(world.passes(&both));
    assert_eq!(used(&world), 11);
}

#[test]
fn tokens_of_one_quota_are_kept_if_another_quota_refuses() {
    let world = World::default();
    let both = ask(1, vec![quota("wide", 100, "UTC"), quota("narrow", 1, "UTC")]);
    assert!(world.passes(&both));
    assert!(!world.passes(&both));
    assert!(!world.passes(&both));
    assert!(world.passes(&ask(1, vec![quota("wide", 100, "UTC")])));
    assert_eq!(world.ledger.used.borrow()[&("2026-11-29".into(), counted("wide"))], 2);
}

#[test]
fn used_up_quota_is_refused_from_memory_for_a_minute_or_until_midnight() {
    let world = World::default();
    let daily = ask(1, vec![quota("a", 1, "UTC")]);
    assert!(world.passes(&daily));
    assert!(!world.passes(&daily));
    let statements = world.ledger.statements.get();
    let reply = world.ask(&daily);
    let until = Time::from_millis(1_795_996_800_000);
    let wait = until.since(world.now.get());
    assert_eq!(reply.outcomes, [Outcome::Refused { left: 0, wait, until: Some(until.as_secs()) }]);
    assert_eq!(world.ledger.statements.get(), statements);
    world.ledger.used.borrow_mut().clear();
    world.forward(MINUTE);
    assert!(world.passes(&daily), "an operator gave the quota back");
    assert!(!world.passes(&daily));
    world.now.set(until.minus(Span::from_nanos(1)));
    assert!(!world.passes(&daily));
    world.now.set(until);
    assert!(world.passes(&daily));
}

#[test]
fn prepaid_tokens_are_worth_nothing_on_the_next_day() {
    let world = World::default();
    let both = ask(1, vec![rate("a", Span::from_secs(3_600), 1), quota("b", 5, "UTC")]);
    passing(&world, &vec![both.clone(); 4]);
    world.forward(Span::from_secs(24 * 3_600));
    for _ in 0..5 {
        assert!(world.passes(&ask(1, vec![quota("b", 5, "UTC")])));
    }
    assert!(!world.passes(&ask(1, vec![quota("b", 5, "UTC")])));
}

#[test]
fn qta_05_without_d1_the_quota_is_unknown_and_rates_still_hold() {
    let world = World::default();
    world.ledger.fault.set(Fault::Down);
    let both = ask(1, vec![rate("a", MINUTE, 2), quota("b", 5, "UTC")]);
    for _ in 0..2 {
        let reply = world.ask(&both);
        assert!(matches!(reply.outcomes[..], [Outcome::Met { .. }, Outcome::Unknown]), "{reply:?}");
    }
    let reply = world.ask(&both);
    assert!(matches!(reply.outcomes[..], [Outcome::Refused { .. }, _]), "{reply:?}");
}

#[test]
fn qta_05_requests_that_wait_for_d1_together_take_no_more_than_the_rate_has() {
    for fault in [Fault::None, Fault::Down, Fault::Lost] {
        let world = World::default();
        world.ledger.fault.set(fault);
        let both = ask(1, vec![rate("a", MINUTE, 5), quota("b", 100, "UTC")]);
        let replies = run(join_all((0..20).map(|_| world.answer(&both))));
        let taken = |reply: &&Result<Reply, String>| {
            reply.as_ref().is_ok_and(|reply| matches!(reply.outcomes[0], Outcome::Met { .. }))
        };
        assert_eq!(replies.iter().filter(taken).count(), 5);
    }
}

#[test]
fn lost_answer_of_d1_costs_a_token_and_is_not_repeated() {
    let world = World::default();
    let daily = ask(1, vec![quota("a", 5, "UTC")]);
    world.ledger.fault.set(Fault::Lost);
    assert_eq!(world.ask(&daily).outcomes, [Outcome::Unknown]);
    assert_eq!(world.ledger.statements.get(), 1);
    world.ledger.fault.set(Fault::None);
    assert_eq!((0..10).filter(|_| world.passes(&daily)).count(), 4);
}
