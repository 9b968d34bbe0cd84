//! The generic cell rate algorithm (ITU-T I.371, appendix I; also "leaky bucket as a meter").
//!
//! The whole state of a bucket is one time, its *theoretical arrival time* (TAT): the moment at which
//! everything taken so far has been repaid. Taking `cost` tokens moves it on by `cost` emission
//! intervals; a take is allowed while the TAT then lies at most `burst` intervals ahead of now.
//! There is no window, hence no window's edge.

use crate::limit::time::{Span, Time};

/// One bucket's shape. Cannot be built wrong: both numbers are at least one, and what they make fits a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gcra {
    interval: Span,
    burst: u64,
}

/// Not now: the bucket has too little, and will have enough after `wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBefore {
    /// How long to wait, if nobody else takes from the bucket; at most burst × interval.
    pub wait: Span,
}

impl Gcra {
    /// A bucket of `burst` tokens that regains one every `interval`. `None` where either is zero, or burst ×
    /// interval is over [`Gcra::MAX_CAPACITY`].
    pub const fn new(interval: Span, burst: u64) -> Option<Gcra> {
        match interval.as_nanos().checked_mul(burst) {
            Some(1..=Gcra::MAX_CAPACITY) => Some(Gcra { interval, burst }),
            _ => None,
        }
    }

    /// The most that burst × interval may be: about 292 years, in nanoseconds. Half of what a [`Span`] can hold, so
    /// that a sum that saturates is always over the capacity, and refused.
    pub const MAX_CAPACITY: u64 = u64::MAX / 2;

    /// The time in which one token comes back (the emission interval T).
    pub const fn interval(&self) -> Span {
        self.interval
    }

    /// The bucket's whole capacity, in tokens.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// The time in which an empty bucket fills up: burst × interval.
    pub const fn capacity(&self) -> Span {
        self.interval.times(self.burst)
    }

    /// The tolerance τ: how far ahead of an admission the slot it owns may lie, (burst − 1) × interval.
    pub const fn tolerance(&self) -> Span {
        self.interval.times(self.burst.saturating_sub(1))
    }

    /// Takes `cost` tokens at `now` from the bucket whose TAT is `tat`: its new TAT, or how long to wait.
    ///
    /// # Errors
    /// [`NotBefore`] where the bucket holds less than `cost`; the bucket is unchanged. A `cost` above the
    /// burst can never be met and is refused when the configuration is read.
    pub fn take(&self, tat: Time, now: Time, cost: u64) -> Result<Time, NotBefore> {
        let taken = tat.since(now).plus(self.interval.times(cost));
        let moved = now.plus(taken);
        match taken.saturating_sub(self.capacity()) {
            // Where time ends, a TAT cannot move on: what it did not record must not be admitted.
            Span::ZERO if moved.since(now) < taken => Err(NotBefore { wait: self.capacity() }),
            Span::ZERO => Ok(moved),
            wait => Err(NotBefore { wait }),
        }
    }

    /// The TAT to keep at `now` in place of `tat`: the earlier of it and a full debt's, and of what may be leased `ahead` of that.
    ///
    /// No take and no lease leaves more behind, so what lies further ahead comes from a clock that stepped, a limit that shrank
    /// or a damaged row. It is cut down, so that nobody is locked out for longer.
    pub fn settle(&self, tat: Time, now: Time, ahead: Span) -> Time {
        tat.min(now.plus(self.capacity()).plus(ahead))
    }

    /// Whole tokens in the bucket at `now`.
    pub fn available(&self, tat: Time, now: Time) -> u64 {
        let free = self.capacity().saturating_sub(tat.since(now));
        free.as_nanos().checked_div(self.interval.as_nanos()).unwrap_or(0)
    }

    /// How long until the bucket holds one whole token more than at `now`; zero where it is full.
    pub fn until_more(&self, tat: Time, now: Time) -> Span {
        let debt = tat.since(now);
        let beyond = debt.saturating_sub(self.capacity());
        match debt.as_nanos().checked_rem(self.interval.as_nanos()) {
            _ if debt == Span::ZERO => Span::ZERO,
            _ if beyond > Span::ZERO => beyond.plus(self.interval),
            None | Some(0) => self.interval,
            Some(rest) => Span::from_nanos(rest),
        }
    }
}
