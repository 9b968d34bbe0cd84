//! What a configuration may say of a limit, and how it reads: `100/s burst 200`, `5/min`, `1000/30d`, or a
//! calendar quota, `100000/day Asia/Shanghai`.
//!
//! Bounds: counts and bursts from 1 to [`MAX_COUNT`], periods to [`MAX_PERIOD`], and an empty bucket must be full
//! again within [`MAX_REFILL`]. So an interval is at least a nanosecond, and no time computed from a limit
//! saturates before the year 2544.

use crate::limit::calendar::Zone;
use crate::limit::gcra::Gcra;
use crate::limit::parse_error::Invalid;
use crate::limit::time::Span;
use core::fmt;

/// The largest count and the largest burst.
pub const MAX_COUNT: u64 = 1_000_000_000;

/// The longest period: 366 days.
pub const MAX_PERIOD: Span = Span::from_secs(366 * DAY);

/// The longest time in which an empty bucket may fill up (burst × interval): ten years of 365 days.
pub const MAX_REFILL: Span = Span::from_secs(3_650 * DAY);

pub(super) const SECOND: u64 = 1;
pub(super) const MINUTE: u64 = 60;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

/// A rolling limit: `count` tokens per `period`, up to `burst` at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    count: u64,
    period: Span,
    gcra: Gcra,
}

/// A calendar quota: so many tokens per local day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    count: u64,
    zone: Zone,
}

/// One entry of `per_ip`, `per_key` or `global`. How it reads is in [`read`](crate::limit::parse).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// Who is too fast.
    Rate(Rate),
    /// Who has used up the day.
    Quota(Quota),
}

impl Rate {
    /// `count` tokens per `period`, up to `burst` at once.
    ///
    /// # Errors
    /// Where a number is out of its bounds (see the module), or the period is no whole number of seconds.
    pub fn new(count: u64, period: Span, burst: u64) -> Result<Rate, Invalid> {
        within("count", count)?;
        within("burst", burst)?;
        let whole = period.as_nanos().is_multiple_of(1_000_000_000);
        if period == Span::ZERO || period > MAX_PERIOD || !whole {
            return Err(Invalid::new(format!(
                "period {period} is out of bounds, expected whole seconds from 1s to 366d"
            )));
        }
        // Rounded up, so that rounding never admits more. What is lost is less than one part in as many as the
        // interval has nanoseconds: nothing to speak of at a thousand per second, one part in a thousand at a million.
        let interval = Span::from_nanos(period.as_nanos().div_ceil(count.max(1)));
        Gcra::new(interval, burst)
            .filter(|gcra| gcra.capacity() <= MAX_REFILL)
            .map(|gcra| Rate { count, period, gcra })
            .ok_or_else(|| {
                let most = MAX_REFILL.as_nanos().checked_div(interval.as_nanos()).unwrap_or(0);
                Invalid::new(format!(
                    "burst {burst} takes more than ten years to fill up at this rate, expected at most {most}"
                ))
            })
    }

    /// Tokens per period, as written.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The period, as written: a whole number of seconds.
    pub fn period(&self) -> Span {
        self.period
    }

    /// The bucket that enforces it; its interval is `period / count`, rounded up to a whole nanosecond.
    pub fn gcra(&self) -> Gcra {
        self.gcra
    }
}

impl Quota {
    /// `count` tokens per day of `zone`.
    ///
    /// # Errors
    /// Where the count is out of its bounds (see the module).
    pub fn new(count: u64, zone: Zone) -> Result<Quota, Invalid> {
        within("count", count)?;
        Ok(Quota { count, zone })
    }

    /// Tokens per local day, at least 1.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The zone whose midnights bound the day.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }
}

/// `what` must be from 1 to [`MAX_COUNT`].
pub(super) fn within(what: &str, number: u64) -> Result<(), Invalid> {
    match number {
        1..=MAX_COUNT => Ok(()),
        _ => Err(Invalid::new(format!("{what} {number} is out of bounds, expected 1 to {MAX_COUNT}"))),
    }
}

impl fmt::Display for Rate {
    /// Prints the one canonical form, which reads as the same rate: `5/min`, `100/s burst 200`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.count)?;
        match self.period.as_secs_up() {
            SECOND => f.write_str("s"),
            MINUTE => f.write_str("min"),
            HOUR => f.write_str("h"),
            // Not `1d`, which looks too much like `day`, a calendar day.
            DAY => f.write_str("24h"),
            secs if secs % DAY == 0 => write!(f, "{}d", secs / DAY),
            secs if secs % HOUR == 0 => write!(f, "{}h", secs / HOUR),
            secs if secs % MINUTE == 0 => write!(f, "{}min", secs / MINUTE),
            secs => write!(f, "{secs}s"),
        }?;
        match self.gcra.burst() {
            burst if burst == self.count => Ok(()),
            burst => write!(f, " burst {burst}"),
        }
    }
}

impl fmt::Display for Quota {
    /// Prints the one canonical form, which reads as the same quota: `100/day`, `100/day Asia/Shanghai`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/day", self.count)?;
        if self.zone == Zone::utc() { Ok(()) } else { write!(f, " {}", self.zone) }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Rate(rate) => rate.fmt(f),
            Allowance::Quota(quota) => quota.fmt(f),
        }
    }
}
