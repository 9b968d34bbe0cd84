//! How fast a holder spends, and so how much it should ask for.

use crate::limit::time::{Span, Time};

/// A rate is measured over at least this long; shorter spans say nothing on a clock of milliseconds.
const MEASURE: Span = Span::from_millis(20);

/// A holder's own spending rate, with slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    /// Tokens per nanosecond; zero until it is known.
    rate: f64,
    since: Time,
    spent: u64,
    want: f64,
}

impl SlowStart {
    /// A holder that has spent nothing before `now`.
    pub fn new(now: Time) -> SlowStart {
        SlowStart { rate: 0.0, since: now, spent: 0, want: 1.0 }
    }

    /// Notes that tokens were spent.
    pub fn spend(&mut self, tokens: u64) {
        self.spent = self.spent.saturating_add(tokens);
    }

    /// Notes that there was nothing to be had: the next wish is smaller.
    pub fn starve(&mut self) {
        self.want = (self.want / 2.0).max(1.0);
    }

    /// How many tokens to ask for beyond the one at hand: as many as are used within `horizon`, and at most twice as many as last
    /// time. Zero where that is less than two, so that a slow holder is counted one by one.
    pub fn wish(&mut self, now: Time, horizon: Span) -> u64 {
        let elapsed = now.since(self.since);
        if elapsed >= MEASURE {
            let seen = self.spent as f64 / elapsed.as_nanos() as f64;
            // Measured over longer than a grant lasts, it is all that counts: who was fast once starts slowly again.
            let lately = self.rate > 0.0 && elapsed <= horizon.times(2);
            self.rate = if lately { (self.rate + seen) / 2.0 } else { seen };
            self.since = now;
            self.spent = 0;
        }
        self.want = (self.rate * horizon.as_nanos() as f64).min(self.want * 2.0).max(1.0);
        if self.want < 2.0 { 0 } else { self.want as u64 }
    }

    /// How much is `left` of what was last wished for.
    pub fn level(&self, left: u64) -> StockLevel {
        let left = left as f64;
        match self.want {
            want if want < 2.0 => StockLevel::Enough,
            want if left < want / 3.0 => StockLevel::Low,
            want if left < want / 3.0 * 2.0 => StockLevel::Some,
            _ => StockLevel::Enough,
        }
    }
}

/// How much a holder has of what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StockLevel {
    /// So little that it is time to ask for more, before it is gone.
    Low,
    /// Little enough to ask for more when its keeper is asked anyway.
    Some,
    /// As much as it needs, or it is too slow to hold any.
    Enough,
}
