//! An actor's answer about rates and quotas: look, prepay quotas from D1, look again, take.
//!
//! Only D1 makes an answer wait, and the actor serves other questions meanwhile. The actor
//! therefore takes nothing from a rate before its last wait is over. Tokens that D1 has counted by
//! then belong to this question; if a limit refuses after all, they are kept for later questions.

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::actor::rates::demand_bucket::DemandBucket;
use crate::actor::rates::hand_out::{answer_part, lend, save_ahead};
use crate::actor::rates::quota::{CountedTokens, prepay, used_up};
use crate::ledger::Ledger;
use crate::limit::bucket_table::{Bucket, Full};
use crate::limit::debt::Debt;
use crate::limit::gcra::{Gcra, NotBefore};
use crate::limit::lease::{LONGEST_HORIZON, SavedTat, Wish, max_lead};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Ask, Demand, Enforcement, Grant, Intent, Outcome, Reply};
use std::cell::RefCell;

/// Whether the request's own tokens are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    All,
    Nothing,
}

/// Answers `ask`. `wall` reads the wall clock. `buckets` is not borrowed while D1 is waited for.
///
/// # Errors
/// A sentence, if the storage fails; then nothing was taken.
pub async fn answer(
    buckets: &RefCell<Buckets>,
    ask: &Ask,
    store: &impl BucketStore,
    ledger: &impl Ledger,
    wall: impl Fn() -> Time,
) -> Result<Reply, String> {
    let begun = wall();
    let demands: Vec<DemandBucket> = {
        let names = &mut buckets.borrow_mut().former_names;
        ask.demands.iter().map(|demand| DemandBucket::of(ask, demand, names, begun)).collect()
    };
    let mut reply = look(&mut buckets.borrow_mut(), &demands, ask.horizon, store, begun)?;
    if ask.intent == Intent::Peek {
        return Ok(reply);
    }
    let mut counted = Vec::new();
    if !refuses(&demands, &reply.outcomes) {
        counted = prepay(buckets, ask, &demands, &mut reply, ledger, &wall).await;
        look_again(&mut buckets.borrow_mut(), &demands, &mut reply, wall());
    }

    let mut buckets = buckets.borrow_mut();
    let taken = if refuses(&demands, &reply.outcomes) { Taken::Nothing } else { Taken::All };
    let handed_out = hand_out(&mut buckets, &demands, taken, ask, store, &mut reply, wall());
    if taken == Taken::Nothing || handed_out.is_err() {
        let now = buckets.now(wall());
        for CountedTokens { account, tokens, demand } in counted {
            buckets.prepaid.deposit(account, tokens, now);
            if let Some(grant) = reply.grants.get_mut(demand) {
                *grant = None;
            }
        }
    }
    handed_out.map(|()| reply)
}

/// Brings the buckets up to date, takes the tokens that were not reported yet, and writes the
/// outcome that each limit would have now. A quota that is not known to be used up passes.
fn look(
    buckets: &mut Buckets,
    demands: &[DemandBucket<'_>],
    horizon: Span,
    store: &impl BucketStore,
    wall: Time,
) -> Result<Reply, String> {
    let now = buckets.now(wall);
    let horizon = buckets.horizon.record_call(now).max(horizon).min(LONGEST_HORIZON);
    let nothing = vec![None; demands.len()];
    let mut reply = Reply { horizon, grants: nothing, parts: vec![None; demands.len()], ..Reply::default() };
    for target in demands {
        let mut rows = buckets.save_name(target, store)?;
        let Some(gcra) = target.rate() else {
            reply.rows = reply.rows.saturating_add(rows);
            continue;
        };
        rows = rows.saturating_add(buckets.take_over(target, &gcra, store, now)?);
        rows = rows.saturating_add(buckets.put_under_terms(target, &gcra, store, now)?);
        rows = rows.saturating_add(buckets.advance_warmup(target, &gcra, store, now)?);
        let Bucket { mut debt, mut saved } = buckets.table.get(target.id);
        target.ask(&mut debt, &gcra, now);
        let is_cut = buckets.cuts.is_cut(target.id);
        // A TAT that was cut down is saved, or the actor's next life would begin with the old one.
        let clamped = gcra.clamp_tat(debt.tat(), now, max_lead(&gcra, target.demand.cost));
        if clamped < debt.tat() && !is_cut {
            debt.cut_to(clamped);
            let form = debt.saved(now);
            rows = rows.saturating_add(store.save(target.id, form)?);
            saved = SavedTat::exact(form.tat);
            buckets.table.put(target.id, Bucket { debt: debt.clone(), saved });
        }
        reply.rows = reply.rows.saturating_add(rows);
        buckets.cuts.bring(target.id, &gcra, &mut debt, now);
        let unreported = target.demand.unreported.min(debt.available(&gcra, now));
        if unreported > 0
            && buckets.reserve(core::slice::from_ref(target), now).is_ok()
            && let Ok(tat) = debt.take(&gcra, now, unreported)
        {
            debt.give(tat, unreported, now);
            buckets.cuts.raise(target.id, tat);
            buckets.table.put(target.id, Bucket { debt, saved });
        }
    }
    reply.outcomes = match buckets.reserve(demands, now) {
        Ok(()) => demands.iter().map(|target| outcome_now(buckets, target, now, wall)).collect(),
        Err(Full { wait }) => vec![Outcome::Full { wait }; demands.len()],
    };
    Ok(reply)
}

/// Writes the outcomes of the rates once more, after the last wait.
fn look_again(buckets: &mut Buckets, demands: &[DemandBucket<'_>], reply: &mut Reply, wall: Time) {
    let now = buckets.now(wall);
    for target in demands {
        if let Some(gcra) = target.rate() {
            let mut debt = buckets.table.get(target.id).debt;
            buckets.cuts.bring(target.id, &gcra, &mut debt, now);
        }
    }
    let reserved = buckets.reserve(demands, now);
    for (target, outcome) in demands.iter().zip(reply.outcomes.iter_mut()) {
        if target.rate().is_some() {
            *outcome = match reserved {
                Ok(()) => outcome_now(buckets, target, now, wall),
                Err(Full { wait }) => Outcome::Full { wait },
            };
        }
    }
}

/// The outcome of one demand if its tokens were taken now.
fn outcome_now(buckets: &Buckets, target: &DemandBucket<'_>, now: Time, wall: Time) -> Outcome {
    let cost = target.demand.cost;
    if let Some(gcra) = target.rate() {
        let debt = current_debt(buckets, target, &gcra, now);
        return match take(&debt, &gcra, now, cost) {
            Ok(_) => passed(buckets, target, &gcra, &debt, now, Span::ZERO),
            Err(no) => {
                let plain = || buckets.warmups.real_span(target.id, &gcra, now, no.wait);
                let wait = buckets.cuts.wait(target.id, now, cost).map_or_else(plain, |wait| wait.max(no.wait));
                Outcome::Refused { left: debt.available(&gcra, now), wait, until: None }
            }
        };
    }
    match target.account() {
        Some(account) if buckets.prepaid.is_used_up(account, cost, now) => used_up(account.day, wall),
        _ => Outcome::Met { left: 0, more: Span::ZERO, slot: Span::ZERO, until: None },
    }
}

/// Takes the request's tokens from every rate that has enough, if `taken` is `All`, and grants
/// wishes in any case. Saves before it hands out.
fn hand_out(
    buckets: &mut Buckets,
    demands: &[DemandBucket<'_>],
    taken: Taken,
    ask: &Ask,
    store: &impl BucketStore,
    reply: &mut Reply,
    wall: Time,
) -> Result<(), String> {
    let now = buckets.now(wall);
    let mut changed = Vec::with_capacity(demands.len());
    let answers = reply.outcomes.iter_mut().zip(&mut reply.grants).zip(&mut reply.parts);
    for (target, ((outcome, granted), part)) in demands.iter().zip(answers) {
        let (Some(gcra), Demand { cost, wish, .. }) = (target.rate(), target.demand) else {
            continue;
        };
        if matches!(outcome, Outcome::Full { .. }) {
            continue;
        }
        let Bucket { mut debt, saved } = buckets.table.get(target.id);
        // While D1 was waited for, a question with other terms may have come.
        let edited = target.ask(&mut debt, &gcra, now);
        buckets.cuts.bring(target.id, &gcra, &mut debt, now);
        let (before, slot) = (debt.tat(), debt.next_slot(now));
        let takes = taken == Taken::All && matches!(outcome, Outcome::Met { .. });
        if takes
            && *cost > 0
            && let Ok(tat) = debt.take(&gcra, now, *cost)
        {
            debt.give(tat, *cost, now);
        }
        let after_take = debt.tat();
        // A warm-up reduces only the tokens held ahead. Waiting requests get the slots that each of
        // them would have got by a question of its own.
        let most = buckets.warmups.leasable(target.id, &gcra, after_take, now, reply.horizon);
        let wish = Wish { ahead: wish.ahead.min(most), ..*wish };
        let wish = Some(wish).filter(|_| debt.lends(now));
        let grant = wish.and_then(|wish| lend(buckets, target, &gcra, after_take, wish, reply.horizon, now));
        if let Some(grant) = grant {
            debt.give(grant.tat, grant.count, now);
        }
        buckets.cuts.raise(target.id, debt.tat());
        let answered = answer_part(buckets, target, &gcra, &mut debt, ask.durable_after, store, now)?;
        let is_parted = answered.is_some_and(|(_, rows)| rows > 0);
        if let Some((answer, rows)) = answered {
            *part = Some(answer);
            reply.rows = reply.rows.saturating_add(rows);
        }
        // Unreported tokens have moved the TAT as well, in `look`, and a crash must not forget
        // them.
        if debt.tat() == before && target.demand.unreported == 0 && !is_parted {
            continue;
        }
        let saved = save_ahead(&debt, saved, edited || is_parted, &gcra, ask.durable_after, now, |form| {
            reply.rows = reply.rows.saturating_add(store.save(target.id, form)?);
            Ok(())
        })?;
        *granted = grant.map(|grant| Grant { count: grant.count, first: grant.first });
        if takes {
            *outcome = passed(buckets, target, &gcra, &debt, now, slot);
        }
        changed.push((target.id, Bucket { debt, saved }));
    }
    for (id, bucket) in changed {
        buckets.table.put(id, bucket);
    }
    Ok(())
}

/// The debt of a demand's bucket, under the terms of the question.
fn current_debt(buckets: &Buckets, target: &DemandBucket<'_>, gcra: &Gcra, now: Time) -> Debt {
    let mut debt = buckets.table.get(target.id).debt;
    target.ask(&mut debt, gcra, now);
    buckets.cuts.follow(target.id, &mut debt, now);
    debt
}

/// A pass of a rate with this debt; the request's first slot lies `slot` ahead.
fn passed(buckets: &Buckets, target: &DemandBucket<'_>, gcra: &Gcra, debt: &Debt, now: Time, slot: Span) -> Outcome {
    let more = buckets.warmups.real_span(target.id, gcra, now, gcra.until_next_token(debt.tat(), now));
    Outcome::Met { left: debt.available(gcra, now), more, slot, until: None }
}

/// Takes `cost` tokens; returns the TAT after them. A cost of 0 asks for a wish alone, and passes
/// whatever the debt.
fn take(debt: &Debt, gcra: &Gcra, now: Time, cost: u64) -> Result<Time, NotBefore> {
    if cost == 0 { Ok(debt.tat()) } else { debt.take(gcra, now, cost) }
}

/// Whether a limit that is not in shadow refuses, so that nothing may be taken.
fn refuses(demands: &[DemandBucket<'_>], outcomes: &[Outcome]) -> bool {
    demands.iter().zip(outcomes).any(|(target, outcome)| {
        target.demand.enforcement == Enforcement::Enforced
            && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
