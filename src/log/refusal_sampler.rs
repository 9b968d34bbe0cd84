//! Keeps a flood of refusals out of the log. In each second an isolate logs a fixed number of
//! refusals one by one, and counts the rest. Otherwise a client that floods the limiter would fill
//! its log at the operator's cost, and writing a line costs more than the refusal itself.

use crate::limit::time::{Span, Time};
use crate::log::lines::RefusalKey;
use std::collections::BTreeMap;

/// Lines per second and isolate. A person cannot read more, and a program gets the counts.
const LINES_PER_SECOND: u32 = 100;

const SECOND: Span = Span::from_secs(1);

/// The way to log one refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAction {
    /// Log it in a line of its own.
    Line,
    /// It was counted, as the first since the counts were last taken. The caller must have the
    /// counts logged once the second is over.
    CountFirst,
    /// It was counted.
    Count,
}

/// The refusals of the current second.
#[derive(Debug, Default)]
pub struct RefusalSampler {
    second_begun: Time,
    /// Lines logged in this second.
    lines: u32,
    /// Refusals without a line of their own whose counts were not taken yet.
    counts: BTreeMap<RefusalKey, u64>,
}

impl RefusalSampler {
    /// Records a refusal at `now`. Calls `key` only when the refusal is counted.
    pub fn record(&mut self, key: impl FnOnce() -> RefusalKey, now: Time) -> LogAction {
        if self.is_over(now) {
            self.second_begun = now;
            self.lines = 0;
        }
        if self.lines < LINES_PER_SECOND {
            self.lines = self.lines.saturating_add(1);
            return LogAction::Line;
        }
        let is_first = self.counts.is_empty();
        let count = self.counts.entry(key()).or_default();
        *count = count.saturating_add(1);
        if is_first { LogAction::CountFirst } else { LogAction::Count }
    }

    /// Takes the counts once the second is over. Empty before that.
    pub fn take(&mut self, now: Time) -> BTreeMap<RefusalKey, u64> {
        if self.is_over(now) { self.drain() } else { BTreeMap::new() }
    }

    /// Takes the counts at any time.
    pub fn drain(&mut self) -> BTreeMap<RefusalKey, u64> {
        core::mem::take(&mut self.counts)
    }

    /// Returns whether the second is over. A clock that steps back ends it as well.
    fn is_over(&self, now: Time) -> bool {
        now < self.second_begun || now >= self.second_begun.plus(SECOND)
    }
}
