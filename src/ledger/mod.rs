//! Daily quotas in D1: one row per day, counter and subject. D1 counts tokens before they are used.
//!
//! An earlier version had the limit's printed name in place of the counter. Its rows have no
//! `until`, and such a row is taken over by the counter that has the name: once, since the row then
//! gets its `until`.
//!
//! - [`d1`]: the statements, and the ledger in a D1 database

pub mod d1;

use crate::identity::digest::Subject;
use crate::limit::calendar::Day;
use crate::limit::time::Span;

/// Tokens to count.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The local day that the tokens belong to.
    pub day: &'a Day,
    /// The row's name: the counter, or the limit's printed name.
    pub name: &'a str,
    /// Where earlier counts of the day are.
    pub source: Source<'a>,
    /// The caller; `None` for a `global` quota.
    pub subject: Option<Subject>,
    /// The number of tokens, from 1.
    pub cost: u64,
    /// The number of tokens that the day has.
    pub count: u64,
}

/// Where the counts of a day are that were made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// In the counter's own row.
    Counter,
    /// Maybe in the row of this printed name as well, from which the counter takes them over.
    Takeover(&'a str),
    /// In the row of a printed name, as an earlier version's question wants it.
    PrintedName,
}

/// The ledger's answer to tokens that it was asked to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The tokens are counted.
    Counted {
        /// Tokens counted for the day so far, these included.
        used: u64,
    },
    /// The day has no room for all of them, and nothing was written.
    Exhausted,
}

/// Tokens to give back: the ledger counted them as used, and no request has used them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedQuota {
    /// The limit's printed name, for messages.
    pub limit: String,
    /// The row's name.
    pub name: String,
    /// The caller whose quota it is; `None` for a `global` quota.
    pub subject: Option<Subject>,
    /// The local date that the tokens belong to, such as `2026-11-29`.
    pub date: String,
    /// The number of tokens, from 1.
    pub tokens: u64,
}

/// The store that counts quotas.
pub trait Ledger {
    /// Counts the tokens of `entry`, if the day has room for them. The caller never repeats it: a
    /// lost answer costs the tokens, and counting them twice would cost as many more.
    ///
    /// # Errors
    /// A sentence, if there is no readable answer within `patience`. The tokens may be counted
    /// then.
    fn add(&self, entry: Entry<'_>, patience: Span) -> impl Future<Output = Result<Added, String>>;

    /// Counts `unused` as free again. The caller never repeats it, since tokens that are given back
    /// twice could be spent twice. A lost answer may cost the tokens.
    ///
    /// # Errors
    /// A sentence, if there is no readable answer.
    fn give_back(&self, unused: &UnusedQuota) -> impl Future<Output = Result<(), String>>;
}
