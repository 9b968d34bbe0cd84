//! The generic cell rate algorithm, GCRA (ITU-T I.371, appendix I; also called "leaky bucket as a
//! meter").
//!
//! The whole state of a bucket is one time, its *theoretical arrival time* (TAT): the moment at
//! which everything taken so far has been repaid. The debt at `now` is `max(TAT − now, 0)`. A
//! request of `cost` tokens passes if
//!
//! > debt + cost × interval ≤ burst × interval
//!
//! and then moves the TAT to `max(TAT, now) + cost × interval`. A window would have an edge at
//! which twice as much passes; GCRA has no window.

use crate::limit::time::{Span, Time};

/// The shape of a bucket: its interval and its burst. Both are at least 1, and their product is at
/// most [`Gcra::MAX_CAPACITY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gcra {
    interval: Span,
    burst: u64,
}

/// A refusal: the bucket has too few tokens now, and has enough after `wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBefore {
    /// How long to wait, if no other request takes from the bucket; at most burst × interval.
    pub wait: Span,
}

impl Gcra {
    /// A bucket of `burst` tokens that regains one every `interval`. `None` if either is zero, or
    /// if burst × interval exceeds [`Gcra::MAX_CAPACITY`].
    pub const fn new(interval: Span, burst: u64) -> Option<Gcra> {
        match interval.as_nanos().checked_mul(burst) {
            Some(1..=Gcra::MAX_CAPACITY) => Some(Gcra { interval, burst }),
            _ => None,
        }
    }

    /// The largest burst × interval, in nanoseconds: about 292 years. It is half of the longest
    /// [`Span`], so a sum that saturates always exceeds the capacity, and is refused.
    pub const MAX_CAPACITY: u64 = u64::MAX / 2;

    /// The emission interval T: the time in which the bucket regains one token.
    pub const fn interval(&self) -> Span {
        self.interval
    }

    /// The number of tokens in a full bucket.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// The time in which an empty bucket fills up: burst × interval. It is also the largest debt.
    pub const fn capacity(&self) -> Span {
        self.interval.times(self.burst)
    }

    /// The tolerance τ = (burst − 1) × interval: how far ahead of its admission a request's slot
    /// may lie.
    pub const fn tolerance(&self) -> Span {
        self.interval.times(self.burst.saturating_sub(1))
    }

    /// Takes `cost` tokens at `now` from the bucket whose TAT is `tat`, and returns its new TAT.
    ///
    /// # Errors
    /// [`NotBefore`] if the bucket holds fewer than `cost` tokens; the bucket is unchanged. A
    /// `cost` above the burst could never pass, so the configuration rejects it.
    pub fn take(&self, tat: Time, now: Time, cost: u64) -> Result<Time, NotBefore> {
        let debt = tat.since(now).plus(self.interval.times(cost));
        let new_tat = now.plus(debt);
        match debt.saturating_sub(self.capacity()) {
            // At the end of time the TAT saturates. A take that it cannot record must not pass.
            Span::ZERO if new_tat.since(now) < debt => Err(NotBefore { wait: self.capacity() }),
            Span::ZERO => Ok(new_tat),
            wait => Err(NotBefore { wait }),
        }
    }

    /// Whether time may have repaid `cost` tokens by `now` that were taken at `since` or later.
    /// While it cannot have, every token taken after them lies behind them in the schedule.
    pub fn may_be_repaid(&self, cost: u64, since: Time, now: Time) -> bool {
        since.plus(self.interval.times(cost)) <= now
    }

    /// The TAT to keep at `now` in place of `tat`: `min(tat, now + capacity + lead)`. The `lead` is
    /// the span beyond a full debt that leases may take, see
    /// [`max_lead`](crate::limit::lease::max_lead).
    ///
    /// No take and no lease moves a TAT further than that. A later TAT comes from a clock that
    /// stepped, a limit that shrank or a damaged row, and would lock a caller out for too long.
    pub fn clamp_tat(&self, tat: Time, now: Time, lead: Span) -> Time {
        tat.min(now.plus(self.capacity()).plus(lead))
    }

    /// Whole tokens in the bucket at `now`.
    pub fn available(&self, tat: Time, now: Time) -> u64 {
        let free = self.capacity().saturating_sub(tat.since(now));
        free.as_nanos().checked_div(self.interval.as_nanos()).unwrap_or(0)
    }

    /// How long until the bucket holds one whole token more than at `now`; zero if it is full.
    pub fn until_next_token(&self, tat: Time, now: Time) -> Span {
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
