//! What an actor holds of the day's quotas: tokens already counted in D1 and not yet used, and the knowledge that a
//! quota is used up. Both are conveniences: what falls out of here costs a statement or some tokens, never correctness.

use crate::identity::digest::Subject;
use crate::ledger::UnusedQuota;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Day;
use crate::limit::lease::{SHARE, SlowStart};
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// How long "used up" is believed without asking D1 again. The truth may change: an operator may give quota back.
const BELIEVE: Span = Span::from_secs(60);

/// How long a chunk should last. D1 is slower than an actor, and a statement costs a row.
const CHUNK: Span = Span::from_secs(2);

/// What has not been asked for in this time is given back to D1.
pub const IDLE: Span = Span::from_secs(5);

/// How many quotas are held, at about 200 bytes each.
const CAPACITY: usize = 10_000;

/// One subject's part of one quota.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// Its name among buckets.
    pub id: BucketId,
    /// The limit's name.
    pub limit: &'a str,
    /// Whose it is.
    pub subject: Option<Subject>,
    /// The day.
    pub day: &'a Day,
    /// The day's tokens in all.
    pub count: u64,
}

/// What is held of one quota for one subject and day.
#[derive(Clone, Debug)]
struct PrepaidQuota {
    limit: String,
    subject: Option<Subject>,
    date: String,
    /// Tokens that D1 counts as used and that nobody has used.
    prepaid: u64,
    /// What D1 last said was left of the day.
    left: u64,
    pace: SlowStart,
    asked: Time,
    exhausted: Option<Exhausted>,
}

#[derive(Clone, Copy, Debug)]
struct Exhausted {
    count: u64,
    cost: u64,
    until: Time,
}

/// Every quota that an actor holds something of.
#[derive(Debug, Default)]
pub struct PrepaidQuotas {
    held: HashMap<BucketId, PrepaidQuota>,
}

impl PrepaidQuotas {
    /// Whether D1 has lately said that `cost` more would go beyond the day, and nothing is held that would do.
    pub fn exhausted(&self, account: Account<'_>, cost: u64, now: Time) -> bool {
        let held = self.held.get(&account.id).filter(|held| held.date == account.day.date && held.prepaid < cost);
        held.and_then(|held| held.exhausted)
            .is_some_and(|known| known.count == account.count && known.cost == cost && now < known.until)
    }

    /// Takes `cost` tokens out, and up to `wish` more, if at least `cost` and at least one are there. Says how many more
    /// were taken, and what is left of the day beside them.
    pub fn draw(&mut self, account: Account<'_>, cost: u64, wish: u64, now: Time) -> Option<(u64, u64)> {
        let held = self.enter(account, now);
        held.asked = now;
        if held.prepaid < cost.max(1) {
            return None;
        }
        let rest = held.prepaid.saturating_sub(cost);
        let more = wish.min(rest);
        held.prepaid = rest.saturating_sub(more);
        held.pace.spend(cost.saturating_add(more));
        Some((more, held.left.saturating_add(held.prepaid)))
    }

    /// How many tokens to ask D1 for beyond those at hand: what this subject uses in a while, or at least what is wished for, and
    /// at most a share of what is left.
    pub fn chunk(&mut self, account: Account<'_>, wish: u64, now: Time) -> u64 {
        let held = self.enter(account, now);
        held.pace.wish(now, CHUNK).max(wish).min(held.left / SHARE)
    }

    /// Puts in tokens that D1 has counted and nobody has used.
    pub fn deposit(&mut self, account: Account<'_>, tokens: u64, now: Time) {
        let held = self.enter(account, now);
        // No more than the day has, whoever says that it gives them back.
        held.prepaid = held.prepaid.saturating_add(tokens).min(account.count);
    }

    /// Notes what D1 said was left of the day, after counting `spent` tokens for those who asked.
    pub fn learn(&mut self, account: Account<'_>, left: u64, spent: u64, now: Time) {
        let held = self.enter(account, now);
        held.left = left;
        held.pace.spend(spent);
    }

    /// Remembers that D1 refused.
    pub fn remember_exhausted(&mut self, account: Account<'_>, cost: u64, now: Time) {
        let until = now.plus(BELIEVE);
        let held = self.enter(account, now);
        held.left = 0;
        held.exhausted = Some(Exhausted { count: account.count, cost, until });
    }

    /// Takes out a rest that nobody has asked for lately. Whoever gets it must give it back once, and never try again.
    pub fn idle(&mut self, now: Time) -> Option<UnusedQuota> {
        let held = self.held.values_mut().find(|held| held.prepaid > 0 && held.asked.plus(IDLE) <= now)?;
        Some(UnusedQuota {
            limit: held.limit.clone(),
            subject: held.subject,
            date: held.date.clone(),
            tokens: core::mem::take(&mut held.prepaid),
        })
    }

    /// Whether it holds tokens that may have to be given back.
    pub fn holds(&self) -> bool {
        self.held.values().any(|held| held.prepaid > 0)
    }

    fn enter(&mut self, account: Account<'_>, now: Time) -> &mut PrepaidQuota {
        if self.held.len() >= CAPACITY && !self.held.contains_key(&account.id) {
            self.held.retain(|_, held| held.prepaid > 0);
            if self.held.len() >= CAPACITY {
                self.held.clear();
            }
        }
        let fresh = || PrepaidQuota {
            limit: account.limit.to_owned(),
            subject: account.subject,
            date: account.day.date.clone(),
            prepaid: 0,
            left: 0,
            pace: SlowStart::new(now),
            asked: now,
            exhausted: None,
        };
        let held = self.held.entry(account.id).or_insert_with(fresh);
        if held.date != account.day.date {
            *held = fresh();
        }
        held
    }
}
