//! Everything that must hold on every path.

use super::parts::{CALLER, ISOLATES};
use super::ports::ModelLedger;
use super::sim::{set_wall, wall};
use super::world::ModelWorld;
use crate::support::run;
use penstock::actor::rates::answer::answer;
use penstock::gate::plan::Plan;
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::Wish;
use penstock::limit::rate::{Allowance, Quota};
use penstock::limit::time::{Span, Time};
use penstock::policy::{Limit, Scope};
use penstock::protocol::rates::{Ask, Demand, Intent, Outcome, Reply};
use std::rc::Rc;

/// The time after its beginning in which a case's long intervals have repaid nothing.
const QUIET: Span = Span::from_secs(10);

/// Checks the limits after a move. `Err` says which of them is broken, and how.
pub fn always(world: &ModelWorld) -> Result<(), String> {
    for limit in limits(world) {
        let times = admitted(world, limit);
        match &limit.allowance {
            Allowance::Rate(rate) => {
                let (_, edited) = world.case().edited.limit(limit.number).ok_or("the edit has another counter")?;
                let larger = larger_of_both(&rate.gcra(), &self::rate(edited).ok_or("no rate")?);
                envelope(world, limit, &larger, &times)?;
            }
            Allowance::Quota(quota) => {
                let edited = world.case().edited.limit(limit.number).map(|(_, limit)| &limit.allowance);
                let Some(Allowance::Quota(edited)) = edited else { return Err("the edit has another counter".into()) };
                let larger = if edited.count() > quota.count() { edited } else { quota };
                counted(world, limit, larger, &times)?;
            }
        }
    }
    Ok(())
}

/// The bucket that admits whatever either of two buckets admits, while isolates ask for both.
fn larger_of_both(one: &Gcra, other: &Gcra) -> Gcra {
    Gcra::new(one.interval().min(other.interval()), one.burst().max(other.burst())).unwrap()
}

fn limits(world: &ModelWorld) -> Vec<&'static Limit> {
    world.shared.case.policy.base.iter().flat_map(|base| &base.limits).collect()
}

fn admitted(world: &ModelWorld, limit: &Limit) -> Vec<Time> {
    let admitted = world.shared.admitted.borrow();
    admitted.iter().filter(|admission| admission.limit == limit.number).map(|admission| admission.at).collect()
}

/// Checks a rate: admissions between any two times ≤ burst + elapsed / interval.
///
/// The time is extended by the steps back of isolates' clocks, which may hold leases meanwhile, and
/// by the short debts that an actor's crashes may forgive a caller.
fn envelope(world: &ModelWorld, limit: &Limit, gcra: &Gcra, times: &[Time]) -> Result<(), String> {
    let durable_after = if limit.scope == Scope::Global { Span::ZERO } else { world.shared.case.durable_after };
    let more = world.stepped.plus(durable_after.times(world.actor_crashes));
    for (first, from) in times.iter().enumerate() {
        for (last, to) in times.iter().enumerate().skip(first) {
            let count = (last - first + 1) as u64;
            let least = gcra.interval().times(count.saturating_sub(gcra.burst()));
            if least > to.since(*from).plus(more) {
                return Err(format!("{}: {count} admitted within {}", limit.name, to.since(*from)));
            }
        }
    }
    Ok(())
}

/// Checks a quota: admissions of a day ≤ tokens that D1 has counted ≤ the day's quota.
fn counted(world: &ModelWorld, limit: &Limit, quota: &Quota, times: &[Time]) -> Result<(), String> {
    let used = world.shared.used.borrow();
    let all: u64 = used.iter().filter(|((_, name, _), _)| *name == limit.counter).map(|(_, used)| used).sum();
    if all < times.len() as u64 {
        return Err(format!("{}: {} admitted, and D1 has counted {all}", limit.name, times.len()));
    }
    for ((date, name, _), used) in used.iter().filter(|((_, name, _), _)| *name == limit.counter) {
        let today = times.iter().filter(|at| quota.zone().day(**at).date == *date).count() as u64;
        if *used > quota.count() {
            return Err(format!("{name}: D1 has counted {used}"));
        }
        // While no clock is wrong, all agree on the date.
        if world.clocks_are_right() && today > *used {
            return Err(format!("{name}: {today} admitted on {date}, and D1 has counted {used}"));
        }
    }
    if world.clocks_are_right() {
        for at in times {
            let date = quota.zone().day(*at).date;
            if !used.keys().any(|(day, name, _)| *day == date && *name == limit.counter) {
                return Err(format!("{}: one admitted on {date}, and D1 knows nothing of it", limit.name));
            }
        }
    }
    Ok(())
}

/// Checks a path's end, when all messages are delivered. `again` makes the same world once more.
pub fn finally(again: &dyn Fn() -> ModelWorld) -> Result<(), String> {
    let world = again();
    if !world.shared.case.ends {
        return Ok(());
    }
    let rates: Vec<Gcra> = limits(&world).iter().filter_map(|limit| rate(limit)).collect();
    let capacity = rates.iter().map(Gcra::capacity).max().unwrap_or_default();
    for isolate in 0..ISOLATES {
        patience(again(), isolate, capacity)?;
        promise(again(), isolate, capacity)?;
    }
    unused(again())?;
    rest(again())
}

fn rate(limit: &Limit) -> Option<Gcra> {
    match &limit.allowance {
        Allowance::Rate(rate) => Some(rate.gcra()),
        Allowance::Quota(_) => None,
    }
}

/// Checks that no caller is locked out: a lone caller that waits until every bucket must be full
/// again passes.
fn patience(mut world: ModelWorld, isolate: usize, capacity: Span) -> Result<(), String> {
    world.settle();
    world.calm_down();
    world.advance(capacity.plus(world.fallen_back()));
    match world.alone(isolate) {
        Some(wait) if !exhausted(&world) => {
            Err(format!("a lone caller at isolate {isolate} waited for {capacity} and is told to wait for {wait}"))
        }
        _ => Ok(()),
    }
}

/// Checks waits: none is longer than burst × interval, and a lone caller that waits as told passes.
///
/// The caller may wait once more for each further limit, which may refuse a request that the first
/// one lets pass; and once more if an answer came from memory, because another isolate may have
/// leased ahead since.
fn promise(mut world: ModelWorld, isolate: usize, capacity: Span) -> Result<(), String> {
    world.settle();
    world.calm_down();
    let mut told = Vec::new();
    for _ in 0..=limits(&world).len() {
        let Some(wait) = world.alone(isolate) else { return Ok(()) };
        if exhausted(&world) {
            return Ok(());
        }
        told.push(wait);
        if wait > capacity.plus(world.fallen_back()) {
            return Err(format!("a caller at isolate {isolate} is told to wait for {wait}, over {capacity}"));
        }
        world.advance(wait.plus(world.fallen_back()));
    }
    match world.alone(isolate) {
        Some(more) if !exhausted(&world) => {
            Err(format!("a lone caller at isolate {isolate} waited as told, {told:?}, and is told {more} more"))
        }
        _ => Ok(()),
    }
}

/// Checks that refused requests have used none of the caller's tokens: in its rates,
/// admitted + in hand + left at the actor = burst.
///
/// It holds where no fault has happened, no lease was asked for ahead, and time has repaid nothing.
fn unused(mut world: ModelWorld) -> Result<(), String> {
    let case = world.case().clone();
    world.settle();
    let plan = Plan::new(case.policy, None, CALLER, |_| None);
    for (group, limit) in plan.caller_limits.iter().flat_map(|group| group.limits.iter().map(move |l| (group, *l))) {
        let Some(gcra) = rate(limit).filter(|_| case.faults == 0 && world.now() < case.start.plus(QUIET)) else {
            continue;
        };
        if gcra.interval() < QUIET.times(2) {
            continue;
        }
        let now = world.now();
        let in_hand = world.isolates.iter().map(|isolate| {
            let mut lease_cache = isolate.state.lease_cache.borrow_mut();
            core::iter::from_fn(|| lease_cache.spend(group.key(limit), 1, now)).count()
        });
        let (admitted, in_hand) = (admitted(&world, limit).len() as u64, in_hand.sum::<usize>() as u64);
        let Some(actor) = world.actors.iter().find(|actor| actor.actor == group.actor) else { continue };
        let ask = Ask {
            intent: Intent::Peek,
            subject: group.subject,
            demands: vec![Demand::of(limit, limit.cost, Wish::default(), 0)],
            durable_after: Span::ZERO,
            patience: Span::ZERO,
            horizon: Span::ZERO,
        };
        set_wall(now);
        let ledger = ModelLedger(Rc::clone(&world.shared));
        let left = match run(answer(&actor.counter, &ask, &*actor.disk, &ledger, wall)) {
            Ok(Reply { outcomes, .. }) => match outcomes[0] {
                Outcome::Met { left, .. } | Outcome::Refused { left, .. } => left,
                other => return Err(format!("{}: the actor says {other:?}", limit.name)),
            },
            Err(problem) => return Err(problem),
        };
        if admitted + in_hand + left != gcra.burst() {
            let burst = gcra.burst();
            return Err(format!("{}: of {burst}, {admitted} admitted, {in_hand} in hand and {left} left", limit.name));
        }
    }
    Ok(())
}

fn exhausted(world: &ModelWorld) -> bool {
    let quotas = limits(world).into_iter().filter_map(|limit| match &limit.allowance {
        Allowance::Quota(quota) => Some((limit, quota)),
        Allowance::Rate(_) => None,
    });
    let used = world.shared.used.borrow();
    quotas
        .into_iter()
        .any(|(limit, quota)| used.iter().any(|((_, name, _), used)| *name == limit.counter && *used >= quota.count()))
}

/// Checks that no more of a quota is lost than the faults may cost. Without faults, the whole day
/// is admitted in the end.
fn rest(mut world: ModelWorld) -> Result<(), String> {
    let Some((limit, quota)) = limits(&world).into_iter().find_map(|limit| match &limit.allowance {
        Allowance::Quota(quota) => Some((limit, quota)),
        Allowance::Rate(_) => None,
    }) else {
        return Ok(());
    };
    let date = quota.zone().day(world.now()).date;
    let days =
        |world: &ModelWorld| admitted(world, limit).iter().filter(|at| quota.zone().day(**at).date == date).count();
    world.settle();
    let mut refused = 0;
    while refused < 3 {
        let passed = (0..ISOLATES).any(|isolate| world.alone(isolate).is_none());
        refused = if passed { 0 } else { refused + 1 };
        // An isolate keeps idle tokens for a second, and believes "used up" for a minute.
        world.advance(Span::from_millis(if refused < 2 { 1_100 } else { 61_000 }));
        world.settle();
    }
    if quota.zone().day(world.now()).date != date || !world.clocks_are_right() {
        return Ok(());
    }
    let (passed, chunk) = (days(&world) as u64, quota.count() / penstock::limit::lease::PREPAY_DIVISOR);
    let lost = quota.count().saturating_sub(passed);
    // The actor may hold tokens of two chunks, and a lost answer may have carried all of them.
    let most = world.losses * (2 * chunk + limit.cost);
    if lost > most {
        return Err(format!(
            "{}: {lost} of {} were lost, and {} faults may cost {most}",
            limit.name,
            quota.count(),
            world.losses
        ));
    }
    always(&world)
}
