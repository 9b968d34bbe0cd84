//! Daily quotas in D1: one row per day, limit and subject, counted up before the tokens are used.

pub mod d1;

use crate::identity::digest::Subject;
use crate::limit::calendar::Day;
use crate::limit::time::Span;

/// Tokens to count.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The local day they belong to.
    pub day: &'a Day,
    /// The limit's name.
    pub limit: &'a str,
    /// Whose quota it is; nobody's in particular for a shared limit.
    pub subject: Option<Subject>,
    /// How many.
    pub cost: u64,
    /// How many the day has in all.
    pub count: u64,
}

/// What the ledger did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The tokens are counted; so many are now, in all.
    Counted {
        /// Tokens counted for the day.
        used: u64,
    },
    /// They would go beyond the day's count; nothing was written.
    Exhausted,
}

/// Tokens to give back: the ledger counted them as used, and no request has used them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedQuota {
    /// The limit's name.
    pub limit: String,
    /// The caller whose quota it is; `None` for a `global` quota.
    pub subject: Option<Subject>,
    /// The local date that the tokens belong to, such as `2026-11-29`.
    pub date: String,
    /// The number of tokens, from 1.
    pub tokens: u64,
}

/// Where quotas are counted.
pub trait Ledger {
    /// Counts `entry`, if the day has room for it. Never repeated by anyone: when the answer is lost, the tokens are too.
    ///
    /// # Errors
    /// A sentence, where there is no readable answer within `patience`. The tokens may have been counted then.
    fn add(&self, entry: Entry<'_>, patience: Span) -> impl Future<Output = Result<Added, String>>;

    /// Counts `rest` as unused again. Never repeated either: when the answer is lost, the tokens may be.
    ///
    /// # Errors
    /// A sentence, where there is no readable answer.
    fn give_back(&self, rest: &UnusedQuota) -> impl Future<Output = Result<(), String>>;
}
