//! The quotas of a question: served from prepaid tokens, or prepaid from D1 a chunk at a time.

use crate::actor::rates::buckets::Buckets;
use crate::actor::rates::demand_bucket::DemandBucket;
use crate::actor::rates::prepaid_quota::Account;
use crate::ledger::{Added, Entry, Ledger, Source};
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Day;
use crate::limit::lease::Wish;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::CallResult;
use crate::protocol::rates::{Ask, Grant, Outcome, Reply};
use std::cell::RefCell;

/// Quota tokens that D1 has counted, and that this question may hand out.
pub(crate) struct CountedTokens<'a> {
    pub account: Account<'a>,
    /// The request's own tokens and those granted beyond them.
    pub tokens: u64,
    /// The index of the demand in the question.
    pub demand: usize,
}

/// Gets the tokens that every quota of `ask` asks for, and writes its outcome and its grant.
pub(crate) async fn prepay<'a>(
    buckets: &RefCell<Buckets>,
    ask: &Ask,
    demands: &'a [DemandBucket<'_>],
    reply: &mut Reply,
    ledger: &impl Ledger,
    wall: &impl Fn() -> Time,
) -> Vec<CountedTokens<'a>> {
    let begun = wall();
    let mut counted = Vec::new();
    for (index, target) in demands.iter().enumerate() {
        let Some(account) = target.account() else { continue };
        let refused = matches!(reply.outcomes.get(index), Some(Outcome::Refused { .. }));
        if refused {
            continue;
        }
        let Wish { ahead, waiting } = target.demand.wish;
        let prepayment =
            QuotaPrepayment { buckets, ledger, account, cost: target.demand.cost, wish: ahead.max(waiting) };
        prepayment.take_back(target, wall());
        if prepayment.cost == 0 && prepayment.wish == 0 {
            continue;
        }
        let Served { outcome, granted } = match prepayment.draw(wall()) {
            Some(served) => served,
            None => {
                let patience = ask.patience.saturating_sub(wall().since(begun));
                prepayment.count(reply, patience, wall).await
            }
        };
        if let Outcome::Met { .. } = &outcome {
            let tokens = target.demand.cost.saturating_add(granted);
            counted.push(CountedTokens { account, tokens, demand: index });
        }
        if let Some(grant) = reply.grants.get_mut(index) {
            *grant = (granted > 0).then_some(Grant { count: granted, first: Span::ZERO });
        }
        if let Some(current) = reply.outcomes.get_mut(index) {
            *current = outcome;
        }
    }
    counted
}

/// The refusal of a quota that is used up until the end of `day`.
pub(crate) fn used_up(day: &Day, wall: Time) -> Outcome {
    Outcome::Refused { left: 0, wait: day.end.since(wall), until: Some(day.end.as_secs()) }
}

/// The result of one quota.
struct Served {
    outcome: Outcome,
    /// Tokens handed out beyond those that the request takes.
    granted: u64,
}

/// Gets the tokens for one demand of a quota.
struct QuotaPrepayment<'a, L> {
    buckets: &'a RefCell<Buckets>,
    ledger: &'a L,
    account: Account<'a>,
    /// Tokens that the request takes.
    cost: u64,
    /// Tokens that the isolate would like beyond them.
    wish: u64,
}

impl<L: Ledger> QuotaPrepayment<'_, L> {
    /// Takes back the tokens that the isolate held and does not use, if they are of the current
    /// day.
    fn take_back(&self, target: &DemandBucket<'_>, wall: Time) {
        let today = self.account.day.end.as_secs();
        if let Some(unused) = target.demand.unused.filter(|unused| unused.until == today) {
            let mut buckets = self.buckets.borrow_mut();
            let now = buckets.now(wall);
            buckets.prepaid.deposit(self.account, unused.tokens, now);
        }
    }

    /// Serves the demand from prepaid tokens; `None` if there are too few.
    fn draw(&self, wall: Time) -> Option<Served> {
        let mut buckets = self.buckets.borrow_mut();
        let now = buckets.now(wall);
        let (granted, left) = buckets.prepaid.draw(self.account, self.cost, self.wish, now)?;
        Some(self.passed(granted, left, wall))
    }

    fn passed(&self, granted: u64, left: u64, wall: Time) -> Served {
        let day = self.account.day;
        let until = Some(day.end.as_secs());
        let outcome = Outcome::Met { left, more: day.end.since(wall), slot: Span::ZERO, until };
        Served { outcome, granted }
    }

    /// Has D1 count the request's tokens and a chunk. If the day has no room for both, D1 counts
    /// the request's tokens alone.
    async fn count(&self, reply: &mut Reply, patience: Span, wall: &impl Fn() -> Time) -> Served {
        let begun = wall();
        let chunk = {
            let mut buckets = self.buckets.borrow_mut();
            let now = buckets.now(begun);
            buckets.prepaid.chunk(self.account, self.wish, now)
        };
        let mut amounts = vec![self.cost.saturating_add(chunk)];
        if chunk > 0 && self.cost > 0 {
            amounts.push(self.cost);
        }
        for amount in amounts.into_iter().filter(|amount| *amount > 0) {
            let Account { id, day, name, subject, count, .. } = self.account;
            let patience = patience.saturating_sub(wall().since(begun));
            let (permission, former) = {
                let mut buckets = self.buckets.borrow_mut();
                let now = buckets.now(wall());
                let former = buckets.prepaid.former(self.account, now);
                // Without the breaker, a D1 that hangs would take the whole patience of each
                // question.
                let asks = patience > Span::ZERO;
                (if asks { buckets.ledger_breaker.permission(now, patience) } else { None }, former)
            };
            let Some(permission) = permission else { return Served { outcome: Outcome::Unknown, granted: 0 } };
            reply.d1 = reply.d1.saturating_add(1);
            let source = match (former, self.account.former) {
                (Some(printed), _) => Source::Takeover(printed),
                (None, Some(_)) => Source::Counter,
                (None, None) => Source::PrintedName,
            };
            let entry = Entry { day, name, source, subject, cost: amount, count };
            let added = self.ledger.add(entry, patience).await;
            {
                let mut buckets = self.buckets.borrow_mut();
                let now = buckets.now(wall());
                buckets.ledger_breaker.record(permission, call_result(&added), now, chance(id));
                if added.is_ok() {
                    buckets.prepaid.note_taken_over(self.account, now);
                }
            }
            match added {
                Ok(Added::Counted { used }) => {
                    reply.rows = reply.rows.saturating_add(1);
                    let left = count.saturating_sub(used);
                    let mut buckets = self.buckets.borrow_mut();
                    let now = buckets.now(wall());
                    buckets.prepaid.learn(self.account, left, self.cost, now);
                    buckets.prepaid.deposit(self.account, amount.saturating_sub(self.cost), now);
                    let (granted, left) = buckets.prepaid.draw(self.account, 0, self.wish, now).unwrap_or((0, left));
                    return self.passed(granted, left, wall());
                }
                Ok(Added::Exhausted) => {}
                Err(_) => return Served { outcome: Outcome::Unknown, granted: 0 },
            }
        }
        // Another question may have brought a chunk meanwhile; its tokens come before a refusal.
        if let Some(served) = self.draw(wall()) {
            return served;
        }
        let mut buckets = self.buckets.borrow_mut();
        let now = buckets.now(wall());
        if self.cost > 0 {
            buckets.prepaid.remember_used_up(self.account, self.cost, now);
        }
        Served { outcome: used_up(self.account.day, wall()), granted: 0 }
    }
}

/// Reads the kind of a D1 error from its text, since D1 gives its errors no code.
fn call_result(added: &Result<Added, String>) -> CallResult {
    match added {
        Ok(_) => CallResult::Answer,
        Err(problem) if problem.contains("overloaded") => CallResult::Overload,
        Err(_) => CallResult::Failure,
    }
}

/// A byte that spreads pauses: a bucket's id is a digest, so its first byte is as good as random.
fn chance(id: BucketId) -> u8 {
    let [first, ..] = id.to_be_bytes();
    first
}
