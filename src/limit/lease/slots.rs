//! A slice of a limit's schedule, held away from its bucket.

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};

/// So many slots in a row, in the holder's own time.
///
/// Clocks need not agree. The bucket's keeper says how far ahead of its own now the first slot lies; the holder counts the
/// lower end of a slot's validity from when it heard that, and the upper end from when it asked. So each slot's window is shorter by the
/// round trip than the keeper's, and lies within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The first slot, counted from when the grant was heard.
    next: Time,
    /// How much earlier it is counted from when the grant was asked for.
    lag: Span,
    left: u64,
}

impl Lease {
    /// A lease of `count` slots, the first of them `first` after the keeper's now, asked for and heard at these times.
    pub fn new(first: Span, count: u64, asked: Time, heard: Time) -> Lease {
        Lease { next: heard.plus(first), lag: heard.since(asked), left: count }
    }

    /// How many slots it has, those that are past included.
    pub fn count(&self) -> u64 {
        self.left
    }

    /// How many slots it has that are not past at `now`.
    pub fn left(&self, gcra: &Gcra, now: Time) -> u64 {
        self.left.saturating_sub(self.past(gcra, now))
    }

    /// How long until `cost` slots in a row may be spent; zero where they may be now, `None` where there are too few.
    pub fn wait(&self, gcra: &Gcra, cost: u64, now: Time) -> Option<Span> {
        let mut ahead = *self;
        ahead.skip(gcra, self.past(gcra, now).min(self.left));
        let end = ahead.next.plus(gcra.interval().times(cost));
        (ahead.left >= cost).then(|| end.since(now).saturating_sub(gcra.capacity()))
    }

    /// Takes `cost` slots in a row, if they are there and may be spent at `now`.
    pub fn spend(&mut self, gcra: &Gcra, cost: u64, now: Time) -> Option<Lease> {
        if self.wait(gcra, cost, now) != Some(Span::ZERO) {
            return None;
        }
        self.skip(gcra, self.past(gcra, now));
        let spent = Lease { left: cost, ..*self };
        self.skip(gcra, cost);
        Some(spent)
    }

    /// Takes back slots that were spent and not used after all, if they are the ones just before this lease's.
    pub fn rejoin(&mut self, gcra: &Gcra, back: Lease) -> Result<(), Lease> {
        let end = back.next.plus(gcra.interval().times(back.left));
        if end != self.next || back.lag != self.lag {
            return Err(back);
        }
        self.next = back.next;
        self.left = self.left.saturating_add(back.left);
        Ok(())
    }

    /// How many of its first slots can no longer be spent, were it long enough.
    fn past(&self, gcra: &Gcra, now: Time) -> u64 {
        let late = now.since(self.next.minus(self.lag)).as_nanos();
        late.checked_add(gcra.interval().as_nanos().saturating_sub(1))
            .and_then(|late| late.checked_div(gcra.interval().as_nanos()))
            .unwrap_or(u64::MAX)
    }

    fn skip(&mut self, gcra: &Gcra, slots: u64) {
        self.next = self.next.plus(gcra.interval().times(slots));
        self.left = self.left.saturating_sub(slots);
    }
}
