//! A slice of a rate's schedule, held away from its bucket.

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};

/// A run of slots, one interval apart, in the holder's own time.
///
/// The clocks of actor and holder need not agree. The actor gives the first slot as a span after
/// its own now. The holder counts the lower end of a slot's window from when it received that
/// answer, and the upper end from when it asked. Each window is therefore shorter than the actor's
/// by the round trip, and lies within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The first slot left, counted from when the grant was received.
    next: Time,
    /// How much earlier the same slot is if it is counted from when the grant was asked for.
    lag: Span,
    /// The number of slots left, expired ones included.
    left: u64,
}

impl Lease {
    /// A lease of `count` slots that begin `first` after the actor's now. The holder asked for it
    /// at `asked` and received it at `answered`.
    pub fn new(first: Span, count: u64, asked: Time, answered: Time) -> Lease {
        Lease { next: answered.plus(first), lag: answered.since(asked), left: count }
    }

    /// The number of slots left, expired ones included.
    pub fn count(&self) -> u64 {
        self.left
    }

    /// The number of slots that have not expired at `now`.
    pub fn left(&self, gcra: &Gcra, now: Time) -> u64 {
        self.left.saturating_sub(self.expired(gcra, now))
    }

    /// How long until `cost` slots in a row may be spent; zero if they may be spent now. `None` if
    /// too few slots are left.
    pub fn wait(&self, gcra: &Gcra, cost: u64, now: Time) -> Option<Span> {
        let mut usable = *self;
        usable.skip(gcra, self.expired(gcra, now).min(self.left));
        let end = usable.next.plus(gcra.interval().times(cost));
        (usable.left >= cost).then(|| end.since(now).saturating_sub(gcra.capacity()))
    }

    /// Takes the next `cost` slots, and returns them. `None` if they may not be spent at `now`, or
    /// if too few are left.
    pub fn spend(&mut self, gcra: &Gcra, cost: u64, now: Time) -> Option<Lease> {
        if self.wait(gcra, cost, now) != Some(Span::ZERO) {
            return None;
        }
        self.skip(gcra, self.expired(gcra, now));
        let spent = Lease { left: cost, ..*self };
        self.skip(gcra, cost);
        Some(spent)
    }

    /// Takes back slots that were spent and not used after all.
    ///
    /// # Errors
    /// `back` itself, if its slots are neither just before this lease's next nor just after its
    /// last.
    pub fn rejoin(&mut self, gcra: &Gcra, back: Lease) -> Result<(), Lease> {
        let is_before = back.end(gcra) == self.next;
        if back.lag != self.lag || !is_before && self.end(gcra) != back.next {
            return Err(back);
        }
        self.next = self.next.min(back.next);
        self.left = self.left.saturating_add(back.left);
        Ok(())
    }

    /// The slot after the last one, which is not this lease's.
    fn end(&self, gcra: &Gcra) -> Time {
        self.next.plus(gcra.interval().times(self.left))
    }

    /// The number of slots from the next one on that have expired at `now`. It may exceed the
    /// number of slots left.
    fn expired(&self, gcra: &Gcra, now: Time) -> u64 {
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
