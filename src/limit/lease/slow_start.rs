//! The size of a holder's wishes, from how fast it spends.

use crate::limit::time::{Span, Time};

/// The shortest span over which a rate is measured. On a clock of milliseconds, a shorter span is
/// too coarse.
const MEASURE: Span = Span::from_millis(20);

/// The spending rate of one holder, and the size of its next wish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    /// Tokens spent per nanosecond; zero until it is measured.
    rate: f64,
    /// When the current measurement began.
    since: Time,
    /// The tokens spent since then.
    spent: u64,
    /// The size of the last wish, in tokens; at least 1.
    last_wish: f64,
}

impl SlowStart {
    /// A holder that has spent nothing before `now`.
    pub fn new(now: Time) -> SlowStart {
        SlowStart { rate: 0.0, since: now, spent: 0, last_wish: 1.0 }
    }

    /// Records that `tokens` were spent.
    pub fn spend(&mut self, tokens: u64) {
        self.spent = self.spent.saturating_add(tokens);
    }

    /// Takes back the record of `tokens` that were spent and not used after all. A holder asks for
    /// as many as its requests use, however many it refuses.
    pub fn unspend(&mut self, tokens: u64) {
        self.spent = self.spent.saturating_sub(tokens);
    }

    /// Records that a wish was not granted: the next one is at most as large, in place of twice.
    pub fn back_off(&mut self) {
        self.last_wish = (self.last_wish / 2.0).max(1.0);
    }

    /// The number of tokens to ask for beyond the request's own: the use within `horizon`, and at
    /// most twice the last wish. Zero if that is below two, so that a slow holder is counted one by
    /// one.
    pub fn wish(&mut self, now: Time, horizon: Span) -> u64 {
        let elapsed = now.since(self.since);
        if elapsed >= MEASURE {
            let measured = self.spent as f64 / elapsed.as_nanos() as f64;
            // A measurement over more than two horizons replaces the old rate: a holder that was
            // fast once starts slowly again.
            let recent = self.rate > 0.0 && elapsed <= horizon.times(2);
            self.rate = if recent { (self.rate + measured) / 2.0 } else { measured };
            self.since = now;
            self.spent = 0;
        }
        self.last_wish = (self.rate * horizon.as_nanos() as f64).min(self.last_wish * 2.0).max(1.0);
        if self.last_wish < 2.0 { 0 } else { self.last_wish as u64 }
    }

    /// How large a stock of `left` tokens is, compared with the last wish.
    pub fn stock_level(&self, left: u64) -> StockLevel {
        let left = left as f64;
        match self.last_wish {
            wish if wish < 2.0 => StockLevel::Enough,
            wish if left < wish / 3.0 => StockLevel::Low,
            wish if left < wish / 3.0 * 2.0 => StockLevel::Medium,
            _ => StockLevel::Enough,
        }
    }
}

/// How many tokens a holder has, compared with its last wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StockLevel {
    /// Below a third of the last wish: it is time to ask for more, before the stock is used up.
    Low,
    /// Below two thirds: ask for more if the actor is asked anyway.
    Medium,
    /// Two thirds or more, or the holder is too slow to keep a stock.
    Enough,
}
