//! The takeover of state that earlier versions kept under printed names: once, and with nothing
//! lost, while isolates of both versions ask.

use crate::support::{EVENING, World, ask, quota, rate};
use penstock::actor::rates::moved_state;
use penstock::identity::Subject;
use penstock::limit::debt::SavedDebt;
use penstock::limit::time::Span;
use penstock::protocol::rates::{Ask, Demand, Intent, Outcome, Terms, bucket_id};

const HOUR: Span = Span::from_secs(3_600);
const TWELVE_MINUTES: Span = Span::from_secs(720);

/// A question of this version, about `counter` under the printed name `printed`.
fn asks(printed: &str, counter: &str, demand: Demand) -> Ask {
    ask(1, vec![Demand { limit: printed.into(), counter: Some(counter.into()), ..demand }])
}

/// The same question of an earlier version.
fn earlier(ask: &Ask) -> Ask {
    let mut ask = ask.clone();
    ask.demands.iter_mut().for_each(|demand| demand.counter = None);
    ask
}

fn five() -> Ask {
    asks("api/key-2", "api key rate 3600s", rate("", TWELVE_MINUTES, 5))
}

/// An actor in which an earlier version has counted `used` of [`five`].
fn upgraded(used: u64) -> World {
    let world = World::default();
    let tat = EVENING.plus(TWELVE_MINUTES.times(used));
    let id = bucket_id("api/key-2", Some(Subject::from_bytes([1; 16])));
    world.disk.rows.borrow_mut().insert(id, SavedDebt { tat, interval: Span::ZERO, burst: 0 });
    world.evict();
    world
}

fn passing(world: &World, ask: &Ask) -> usize {
    (0..20).take_while(|_| world.passes(ask)).count()
}

#[test]
fn cfg_10_debt_under_a_printed_name_is_taken_over_once() {
    let world = upgraded(4);
    assert_eq!(passing(&world, &five()), 1);
    world.evict();
    assert_eq!(passing(&world, &five()), 0);
    world.forward(TWELVE_MINUTES);
    assert_eq!(passing(&world, &five()), 1, "taken over twice, it would be four tokens deeper");
    let rows = world.disk.rows.borrow();
    assert_eq!(rows.len(), 1);
    assert!(rows.values().all(|debt| debt.interval == TWELVE_MINUTES && debt.burst == 5));
}

#[test]
fn cfg_10_name_belongs_to_the_counter_that_is_first_asked_for_under_it() {
    let world = upgraded(5);
    let other = |counter: &str| asks("api/key-2", counter, rate("", HOUR, 1));
    assert_eq!(passing(&world, &asks("api/key-3", "api key rate 60s", rate("", HOUR, 1))), 1, "another name");
    assert_eq!(passing(&world, &five()), 0);
    world.evict();
    assert_eq!(passing(&world, &other("api key rate 1s")), 1, "a later limit of the name begins anew");
    // The first one has another name now.
    let renamed = asks("api/key-7", "api key rate 3600s", rate("", TWELVE_MINUTES, 5));
    assert_eq!(passing(&world, &renamed), 0);
}

/// A caller that comes after an edit: its state is still under the name that the limit had.
#[test]
fn cfg_10_state_of_a_name_stays_with_its_counter_for_callers_that_come_later() {
    let world = upgraded(5);
    let of_another = |ask: Ask| Ask { subject: Some(Subject::from_bytes([2; 16])), ..ask };
    assert_eq!(passing(&world, &of_another(five())), 5);
    world.evict();
    let renamed = asks("api/key-7", "api key rate 3600s", rate("", TWELVE_MINUTES, 5));
    assert_eq!(passing(&world, &renamed), 0, "the caller that has used all");
}

#[test]
fn cfg_10_isolates_of_both_versions_count_together() {
    for evicts in [false, true] {
        let world = upgraded(1);
        let steps = [earlier(&five()), five(), earlier(&five()), five()];
        for (step, ask) in steps.iter().enumerate() {
            assert!(world.passes(ask), "step {step}");
            if evicts {
                world.evict();
            }
        }
        assert!(!world.passes(&earlier(&five())) && !world.passes(&five()));
        world.forward(TWELVE_MINUTES);
        assert!(world.passes(&earlier(&five())) && !world.passes(&five()));
    }
}

#[test]
fn cfg_10_quota_under_a_printed_name_is_taken_over_once() {
    let world = World::default();
    let daily = asks("api/key", "api key quota day UTC", quota("", 5, "UTC"));
    let row = |name: &str| world.ledger.used.borrow().get(&("2026-11-29".into(), name.into())).copied();
    for _ in 0..3 {
        assert!(world.passes(&earlier(&daily)));
    }
    assert_eq!(row("api/key"), Some(3));
    assert_eq!(passing(&world, &daily), 2);
    assert_eq!((row("api/key"), row("api key quota day UTC")), (Some(3), Some(5)));
    world.evict();
    world.forward(Span::from_secs(61));
    assert_eq!(passing(&world, &daily), 0);
    assert!(!world.passes(&earlier(&daily)), "the earlier version's isolates are about the counter now");
    assert_eq!(row("api key quota day UTC"), Some(5));
}

#[test]
fn warmup_under_a_printed_name_goes_on() {
    let slow = || Demand { warmup: Span::from_secs(600), ..rate("", Span::from_secs(1), 100) };
    let shared = |ask: Ask| Ask { subject: None, durable_after: Span::ZERO, ..ask };
    let ask = shared(asks("api/global", "api global rate 1s", slow()));
    let (world, unchanged) = (World::default(), World::default());
    let old = shared(earlier(&ask));
    for world in [&world, &unchanged] {
        assert_eq!(passing(world, &old), 10, "a tenth of the burst");
        world.forward(Span::from_secs(60));
        world.evict();
    }
    assert_eq!(passing(&world, &ask), passing(&unchanged, &old));
    assert_eq!(world.disk.warm.borrow().len(), 1);
}

#[test]
fn shared_limits_with_a_number_have_moved() {
    let subject = Some(Subject::from_bytes([1; 16]));
    for (limit, subject, home) in [
        ("api/global", None, None),
        ("api/global-2", None, Some("api/global")),
        ("a-2/global-13", None, Some("a-2/global")),
        ("a-2/global", None, None),
        ("api/global-x", None, None),
        ("api/global-", None, None),
        ("api/key-2", subject, None),
        ("api/key-2", None, None),
        ("api/global-2", subject, None),
        ("budget", None, None),
    ] {
        assert_eq!(moved_state::home_of(limit, subject), home, "{limit}");
    }
}

/// The debt that one object asks another one for, as the answer tells of it.
#[test]
fn moved_debt_is_read_from_the_answer() {
    let shared = |ask: Ask| Ask { subject: None, durable_after: Span::ZERO, ..ask };
    let old = shared(earlier(&asks("api/global-2", "", rate("", TWELVE_MINUTES, 5))));
    for used in 0..=5_u64 {
        for after in [0, 1, 719, 720, 1_000, 4_000] {
            let world = World::default();
            (0..used).for_each(|_| assert!(world.passes(&old)));
            world.forward(Span::from_secs(after));
            let question = moved_state::question(&old.demands[0], Span::from_secs(1));
            assert_eq!(question.intent, Intent::Peek);
            let outcome = world.ask(&question).outcomes[0];
            let debt = TWELVE_MINUTES.times(used).saturating_sub(Span::from_secs(after));
            assert_eq!(moved_state::debt(&question.demands[0].terms, &outcome), Some(debt), "{used} {after}");
        }
    }
    let terms = old.demands[0].terms.clone();
    assert_eq!(moved_state::debt(&terms, &Outcome::Unknown), None);
    let daily = Terms::Quota(5, "UTC".parse().unwrap());
    assert_eq!(moved_state::debt(&daily, &Outcome::Unknown), None);
}

#[test]
fn question_is_handed_on_once() {
    let shared = |ask: Ask| Ask { subject: None, ..ask };
    let new = shared(asks("api/global-2", "api global rate 1s", rate("", HOUR, 5)));
    let old = earlier(&new);
    assert_eq!(moved_state::hand_on_to(&old), Some("api/global"));
    assert_eq!(moved_state::hand_on_to(&new), None);
    let handed_on = moved_state::handed_on(&old);
    assert_eq!(moved_state::hand_on_to(&handed_on), None);
    assert!(handed_on.demands[0].known_counter().is_none(), "it is still about the printed name");
    assert!(moved_state::is_to_be_fetched(&handed_on, &handed_on.demands[0]));
    let question = moved_state::question(&new.demands[0], HOUR);
    assert!(!moved_state::is_to_be_fetched(&question, &question.demands[0]), "or an object would ask itself");
}
