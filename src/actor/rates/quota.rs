//! A question's quotas: drawn from the purse, or prepaid from D1 a chunk at a time.

use crate::actor::rates::buckets::{Buckets, DemandBucket, exhausted};
use crate::actor::rates::prepaid_quota::Account;
use crate::ledger::{Added, Entry, Ledger};
use crate::limit::bucket_table::BucketId;
use crate::limit::lease::Wish;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::CallResult;
use crate::protocol::rates::{Ask, Grant, Outcome, Reply, Terms};
use std::cell::RefCell;

/// Quota tokens that D1 has counted for this question.
pub(crate) struct CountedTokens<'a> {
    pub account: Account<'a>,
    pub tokens: u64,
    /// The place of its demand among the grants.
    pub granted: usize,
}

impl DemandBucket<'_> {
    /// The account of a quota; `None` for a rate.
    pub(crate) fn account(&self) -> Option<Account<'_>> {
        match (&self.demand.terms, &self.day) {
            (Terms::Quota(count, _), Some(day)) => {
                Some(Account { id: self.id, limit: &self.demand.limit, subject: self.subject, day, count: *count })
            }
            _ => None,
        }
    }
}

/// Gets every quota of `ask` what it asks for, and writes the outcomes.
pub(crate) async fn prepay<'a>(
    counter: &RefCell<Buckets>,
    ask: &Ask,
    targets: &'a [DemandBucket<'_>],
    reply: &mut Reply,
    ledger: &impl Ledger,
    wall: &impl Fn() -> Time,
) -> Vec<CountedTokens<'a>> {
    let begun = wall();
    let mut hand = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let Some(account) = target.account() else { continue };
        let refused = matches!(reply.outcomes.get(index), Some(Outcome::Refused { .. }));
        if refused {
            continue;
        }
        let Wish { ahead, waiting } = target.demand.wish;
        let prepayment =
            QuotaPrepayment { counter, ledger, account, cost: target.demand.cost, wish: ahead.max(waiting) };
        prepayment.take_back(target, wall());
        if prepayment.cost == 0 && prepayment.wish == 0 {
            continue;
        }
        let Served { outcome, more } = match prepayment.draw(wall()) {
            Some(served) => served,
            None => {
                let patience = ask.patience.saturating_sub(wall().since(begun));
                prepayment.count(reply, patience, wall).await
            }
        };
        if let Outcome::Met { .. } = &outcome {
            let tokens = target.demand.cost.saturating_add(more);
            hand.push(CountedTokens { account, tokens, granted: index });
        }
        if let Some(grant) = reply.grants.get_mut(index) {
            *grant = (more > 0).then_some(Grant { count: more, first: Span::ZERO });
        }
        if let Some(slot) = reply.outcomes.get_mut(index) {
            *slot = outcome;
        }
    }
    hand
}

/// What became of one quota.
struct Served {
    outcome: Outcome,
    /// Tokens handed out beyond what the request takes.
    more: u64,
}

/// Serves one account.
struct QuotaPrepayment<'a, L> {
    counter: &'a RefCell<Buckets>,
    ledger: &'a L,
    account: Account<'a>,
    cost: u64,
    wish: u64,
}

impl<L: Ledger> QuotaPrepayment<'_, L> {
    /// Takes back what the asker held and does not use, if the day is still the same.
    fn take_back(&self, target: &DemandBucket<'_>, wall: Time) {
        let today = self.account.day.end.as_secs();
        if let Some(back) = target.demand.unused.filter(|back| back.until == today) {
            let mut counter = self.counter.borrow_mut();
            let now = counter.now(wall);
            counter.purse.deposit(self.account, back.tokens, now);
        }
    }

    /// What the purse has.
    fn draw(&self, wall: Time) -> Option<Served> {
        let mut counter = self.counter.borrow_mut();
        let now = counter.now(wall);
        let (more, left) = counter.purse.draw(self.account, self.cost, self.wish, now)?;
        Some(self.met(more, left, wall))
    }

    fn met(&self, more: u64, left: u64, wall: Time) -> Served {
        let day = self.account.day;
        let until = Some(day.end.as_secs());
        let outcome = Outcome::Met { left, more: day.end.since(wall), slot: Span::ZERO, until };
        Served { outcome, more }
    }

    /// Has D1 count what is asked for and a chunk; where the day has no room for both, what is asked for alone.
    async fn count(&self, reply: &mut Reply, patience: Span, wall: &impl Fn() -> Time) -> Served {
        let begun = wall();
        let chunk = {
            let mut counter = self.counter.borrow_mut();
            let now = counter.now(begun);
            counter.purse.chunk(self.account, self.wish, now)
        };
        let mut amounts = vec![self.cost.saturating_add(chunk)];
        if chunk > 0 && self.cost > 0 {
            amounts.push(self.cost);
        }
        for amount in amounts.into_iter().filter(|amount| *amount > 0) {
            let Account { id, day, limit, subject, count } = self.account;
            let entry = Entry { day, limit, subject, cost: amount, count };
            let patience = patience.saturating_sub(wall().since(begun));
            let pass = {
                let mut counter = self.counter.borrow_mut();
                let now = counter.now(wall());
                // A D1 that hangs would cost each question its patience.
                if patience == Span::ZERO { None } else { counter.ledger.admit(now, patience) }
            };
            let Some(pass) = pass else { return Served { outcome: Outcome::Unknown, more: 0 } };
            reply.d1 = reply.d1.saturating_add(1);
            let added = self.ledger.add(entry, patience).await;
            {
                let mut counter = self.counter.borrow_mut();
                let now = counter.now(wall());
                // Which bucket it was for is chance enough.
                counter.ledger.record(pass, heard(&added), now, chance(id));
            }
            match added {
                Ok(Added::Counted { used }) => {
                    reply.rows = reply.rows.saturating_add(1);
                    let left = count.saturating_sub(used);
                    let mut counter = self.counter.borrow_mut();
                    let now = counter.now(wall());
                    counter.purse.learn(self.account, left, self.cost, now);
                    counter.purse.deposit(self.account, amount.saturating_sub(self.cost), now);
                    let (more, left) = counter.purse.draw(self.account, 0, self.wish, now).unwrap_or((0, left));
                    return self.met(more, left, wall());
                }
                Ok(Added::Exhausted) => {}
                Err(_) => return Served { outcome: Outcome::Unknown, more: 0 },
            }
        }
        // Another question may have brought a chunk meanwhile: it comes before "used up".
        if let Some(served) = self.draw(wall()) {
            return served;
        }
        let mut counter = self.counter.borrow_mut();
        let now = counter.now(wall());
        if self.cost > 0 {
            counter.purse.remember_exhausted(self.account, self.cost, now);
        }
        Served { outcome: exhausted(self.account.day, wall()), more: 0 }
    }
}

/// D1 tells its errors apart by their text alone.
fn heard(added: &Result<Added, String>) -> CallResult {
    match added {
        Ok(_) => CallResult::Answer,
        Err(problem) if problem.contains("overloaded") => CallResult::Overload,
        Err(_) => CallResult::Failure,
    }
}

fn chance(id: BucketId) -> u8 {
    let [first, ..] = id.to_be_bytes();
    first
}
