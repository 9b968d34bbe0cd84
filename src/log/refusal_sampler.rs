//! Keeps a flood out of the log: in each second one isolate tells of so many refusals one by one, and of the others how many they were.
//! Whoever floods a limiter would otherwise write its log, at its operator's cost, and logging a refusal costs more than refusing.

use crate::gate::decision::Reason;
use crate::limit::time::{Span, Time};
use crate::log::Effect;
use std::collections::BTreeMap;

/// Lines per second and isolate. A person reads no more, and a program gets the counts.
const LINES: u32 = 100;

const SECOND: Span = Span::from_secs(1);

/// What refusals are counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalKey {
    /// A limit's, by its number.
    Limit(u32, Reason, Effect),
    /// A cap's.
    Cap {
        /// Its name.
        name: String,
        /// Its binding's name.
        binding: String,
        /// Why.
        reason: Reason,
        /// Whether it took effect.
        effect: Effect,
    },
    /// A list's of addresses: a binding's by its name, or the deployment's.
    Block(Option<String>, Effect),
}

/// What to do about one refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAction {
    /// Tell of it in a line of its own.
    Line,
    /// It is counted; the first of its second, so that somebody has to see to it that the count is told.
    First,
    /// It is counted.
    Nothing,
}

/// One second of refusals.
#[derive(Debug, Default)]
pub struct RefusalSampler {
    since: Time,
    lines: u32,
    counted: BTreeMap<RefusalKey, u64>,
}

impl RefusalSampler {
    /// Takes in a refusal at `now`.
    pub fn refused(&mut self, of: impl FnOnce() -> RefusalKey, now: Time) -> LogAction {
        if self.is_over(now) {
            self.since = now;
            self.lines = 0;
        }
        if self.lines < LINES {
            self.lines = self.lines.saturating_add(1);
            return LogAction::Line;
        }
        let first = self.counted.is_empty();
        let count = self.counted.entry(of()).or_default();
        *count = count.saturating_add(1);
        if first { LogAction::First } else { LogAction::Nothing }
    }

    /// What has been counted and not told of, once the second is over.
    pub fn take(&mut self, now: Time) -> BTreeMap<RefusalKey, u64> {
        if self.is_over(now) { self.drain() } else { BTreeMap::new() }
    }

    /// The same, whatever the time.
    pub fn drain(&mut self) -> BTreeMap<RefusalKey, u64> {
        core::mem::take(&mut self.counted)
    }

    /// A clock that steps back begins another second as well.
    fn is_over(&self, now: Time) -> bool {
        now < self.since || now >= self.since.plus(SECOND)
    }
}
