//! How long until the rest of a cut bucket has enough tokens.

use crate::limit::share::cut_bucket::CutBucket;
use crate::limit::share::fraction::Fraction;
use crate::limit::time::{Span, Time};

impl CutBucket {
    /// How long until the rest has `cost` tokens, if nobody else asks: through the ends of terms,
    /// at each of which it regains tokens faster, or has more room. For a cost above the burst,
    /// which the configuration rejects, the time until all terms have ended.
    pub fn wait(&self, now: Time, cost: u64) -> Span {
        let mut future = self.clone();
        let now = now.max(self.at);
        let mut t = now;
        loop {
            future.to(t);
            let end = future.out.next_end();
            let regained = future.regained_at(cost);
            match (regained, end) {
                (Some(at), Some(end)) if at >= end => t = end,
                (Some(at), _) => return at.since(now),
                (None, Some(end)) => t = end,
                (None, None) => return t.since(now),
            }
        }
    }

    /// When the rest has `cost` tokens, if no term ends before. `None` if its fraction of the rate
    /// is none, or its room is too small.
    fn regained_at(&self, cost: u64) -> Option<Time> {
        let needed = self.tat.plus(self.gcra.interval().times(cost));
        let lack = needed.since(self.at.plus(self.gcra.capacity()));
        if lack == Span::ZERO {
            return Some(self.at);
        }
        let total = self.out.total();
        let own = Fraction::ONE.minus(total.fraction);
        let has_room = total.room.saturating_add(cost) <= self.gcra.burst();
        if own == Fraction::ZERO || !has_room {
            return None;
        }
        // The parts move the TAT on by whole nanoseconds, rounded up each time that somebody looks.
        let rounding = if total.fraction == Fraction::ZERO { Span::ZERO } else { Span::from_nanos(1) };
        Some(self.at.plus(own.whole_of(lack)).plus(rounding))
    }
}
