//! Quota tokens that an actor holds: counted in D1 and not used yet; and the memory of used-up
//! quotas.
//!
//! Both only save calls. An entry that is dropped costs a D1 statement or some tokens. It never
//! lets a request pass beyond its quota.

use crate::identity::digest::Subject;
use crate::ledger::UnusedQuota;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Day;
use crate::limit::lease::{PREPAY_DIVISOR, SlowStart};
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// The time for which "used up" is believed without asking D1 again. Longer, and a quota that an
/// operator gives back in D1 stays refused for longer; shorter, and refusals cost more statements.
const BELIEVE: Span = Span::from_secs(60);

/// The time that a chunk should last. D1 is slower than an actor, and a statement costs a row: a
/// shorter time costs more statements, a longer one more tokens when the actor crashes.
const CHUNK: Span = Span::from_secs(2);

/// The time after which unused tokens go back to D1, if no question asks for them.
pub const IDLE: Span = Span::from_secs(5);

/// The number of quotas that one actor remembers, at about 200 bytes each.
const CAPACITY: usize = 10_000;

/// One subject's part of one quota.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The name of the counter's bucket for this subject.
    pub id: BucketId,
    /// The limit's printed name.
    pub limit: &'a str,
    /// The name of its rows in D1: the counter, or the printed name in the question of an earlier
    /// version.
    pub name: &'a str,
    /// The printed name under which an earlier version may have counted for this counter; `None` if
    /// `name` is that name.
    pub former: Option<&'a str>,
    /// The caller; `None` for a `global` quota.
    pub subject: Option<Subject>,
    /// The current day.
    pub day: &'a Day,
    /// The number of tokens that the quota has per day.
    pub count: u64,
}

/// The state of one account for one day.
#[derive(Clone, Debug)]
struct PrepaidQuota {
    limit: String,
    name: String,
    subject: Option<Subject>,
    date: String,
    /// Tokens that D1 counts as used, and that no request has used.
    tokens: u64,
    /// Tokens left of the day, as D1 last said, beside `tokens`.
    left: u64,
    pace: SlowStart,
    /// When a question last asked for tokens.
    asked: Time,
    used_up: Option<UsedUp>,
    /// Whether D1 has been asked to take over the count of the printed name.
    taken_over: bool,
}

/// D1's refusal to count `cost` tokens within a quota of `count`.
#[derive(Clone, Copy, Debug)]
struct UsedUp {
    count: u64,
    cost: u64,
    /// The refusal is believed until then.
    until: Time,
}

/// All quotas that an actor holds tokens of, or remembers as used up.
#[derive(Debug, Default)]
pub struct PrepaidQuotas {
    quotas: HashMap<BucketId, PrepaidQuota>,
}

impl PrepaidQuotas {
    /// Whether D1 has lately refused to count `cost` tokens, and the prepaid tokens do not suffice
    /// either.
    pub fn is_used_up(&self, account: Account<'_>, cost: u64, now: Time) -> bool {
        let quota = self.quotas.get(&account.id).filter(|quota| quota.date == account.day.date && quota.tokens < cost);
        quota
            .and_then(|quota| quota.used_up)
            .is_some_and(|known| known.count == account.count && known.cost == cost && now < known.until)
    }

    /// Takes out `cost` tokens, and up to `wish` more. Returns the number of tokens beyond `cost`,
    /// and the number left of the day. `None` if there are fewer than `cost` tokens, or none at
    /// all.
    pub fn draw(&mut self, account: Account<'_>, cost: u64, wish: u64, now: Time) -> Option<(u64, u64)> {
        let quota = self.get_or_insert(account, now);
        quota.asked = now;
        if quota.tokens < cost.max(1) {
            return None;
        }
        let rest = quota.tokens.saturating_sub(cost);
        let more = wish.min(rest);
        quota.tokens = rest.saturating_sub(more);
        quota.pace.spend(cost.saturating_add(more));
        Some((more, quota.left.saturating_add(quota.tokens)))
    }

    /// The number of tokens to ask D1 for beyond the request's own: as many as this subject uses
    /// within [`CHUNK`], at least `wish`, and at most one part in [`PREPAY_DIVISOR`] of the day's
    /// rest.
    pub fn chunk(&mut self, account: Account<'_>, wish: u64, now: Time) -> u64 {
        let quota = self.get_or_insert(account, now);
        quota.pace.wish(now, CHUNK).max(wish).min(quota.left / PREPAY_DIVISOR)
    }

    /// Puts in tokens that D1 has counted and no request has used.
    pub fn deposit(&mut self, account: Account<'_>, tokens: u64, now: Time) {
        let quota = self.get_or_insert(account, now);
        // At most the day's count, however many tokens an isolate claims to give back.
        quota.tokens = quota.tokens.saturating_add(tokens).min(account.count);
    }

    /// Returns the printed name whose count D1 has to take over with the next statement.
    pub fn former<'a>(&mut self, account: Account<'a>, now: Time) -> Option<&'a str> {
        let taken_over = self.get_or_insert(account, now).taken_over;
        account.former.filter(|_| !taken_over)
    }

    /// Records that D1 has taken over the count of the printed name, if there was one.
    pub fn note_taken_over(&mut self, account: Account<'_>, now: Time) {
        self.get_or_insert(account, now).taken_over = true;
    }

    /// Records the number of tokens left of the day, after D1 has counted `spent` tokens for a
    /// request.
    pub fn learn(&mut self, account: Account<'_>, left: u64, spent: u64, now: Time) {
        let quota = self.get_or_insert(account, now);
        quota.left = left;
        quota.pace.spend(spent);
    }

    /// Records that D1 refused to count `cost` tokens.
    pub fn remember_used_up(&mut self, account: Account<'_>, cost: u64, now: Time) {
        let until = now.plus(BELIEVE);
        let quota = self.get_or_insert(account, now);
        quota.left = 0;
        quota.used_up = Some(UsedUp { count: account.count, cost, until });
    }

    /// Takes out the tokens of one quota that no question has asked for within [`IDLE`]; `None` if
    /// there is no such quota. They must be given back once, and never a second time: a lost answer
    /// may have given them back already.
    pub fn take_idle(&mut self, now: Time) -> Option<UnusedQuota> {
        let quota = self.quotas.values_mut().find(|quota| quota.tokens > 0 && quota.asked.plus(IDLE) <= now)?;
        // D1 will have room again.
        quota.used_up = None;
        Some(UnusedQuota {
            limit: quota.limit.clone(),
            name: quota.name.clone(),
            subject: quota.subject,
            date: quota.date.clone(),
            tokens: core::mem::take(&mut quota.tokens),
        })
    }

    /// Whether any quota has tokens that may have to be given back.
    pub fn holds_tokens(&self) -> bool {
        self.quotas.values().any(|quota| quota.tokens > 0)
    }

    /// The account's state of this day. When there is no room for another quota, those without
    /// tokens are dropped first, and then all.
    fn get_or_insert(&mut self, account: Account<'_>, now: Time) -> &mut PrepaidQuota {
        if self.quotas.len() >= CAPACITY && !self.quotas.contains_key(&account.id) {
            self.quotas.retain(|_, quota| quota.tokens > 0);
            if self.quotas.len() >= CAPACITY {
                self.quotas.clear();
            }
        }
        let fresh = || PrepaidQuota {
            limit: account.limit.to_owned(),
            name: account.name.to_owned(),
            subject: account.subject,
            date: account.day.date.clone(),
            tokens: 0,
            left: 0,
            pace: SlowStart::new(now),
            asked: now,
            used_up: None,
            taken_over: false,
        };
        let quota = self.quotas.entry(account.id).or_insert_with(fresh);
        if quota.date != account.day.date {
            *quota = fresh();
        }
        quota
    }
}
