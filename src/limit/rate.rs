//! The limits that a configuration may name: a rolling rate (`100/s burst 200`, `5/min`,
//! `1000/30d`), or a calendar quota (`100000/day Asia/Shanghai`).
//!
//! Bounds:
//! - 1 ≤ count, burst ≤ [`MAX_COUNT`];
//! - 1 s ≤ period ≤ [`MAX_PERIOD`], in whole seconds;
//! - burst × interval ≤ [`MAX_REFILL`].
//!
//! It follows that an interval is at least a nanosecond, and that no time computed from a limit
//! saturates before the year 2544.

use crate::limit::calendar::Zone;
use crate::limit::gcra::Gcra;
use crate::limit::parse_error::ParseError;
use crate::limit::time::Span;
use core::fmt;

/// The largest count and the largest burst, in tokens.
pub const MAX_COUNT: u64 = 1_000_000_000;

/// The longest period: 366 days.
pub const MAX_PERIOD: Span = Span::from_secs(366 * DAY);

/// The longest time that an empty bucket may take to fill up (burst × interval): ten years of
/// 365 days.
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

/// A calendar quota: `count` tokens per local day of `zone`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    count: u64,
    zone: Zone,
}

/// One entry of `per_ip`, `per_key` or `global`. The module [`parse`](crate::limit::parse) defines
/// its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// A limit over a rolling period, decided by GCRA.
    Rate(Rate),
    /// A limit per calendar day, counted by D1.
    Quota(Quota),
}

impl Rate {
    /// `count` tokens per `period`, up to `burst` at once.
    ///
    /// # Errors
    /// A number is out of its bounds (see the module), or the period is not a whole number of
    /// seconds.
    pub fn new(count: u64, period: Span, burst: u64) -> Result<Rate, ParseError> {
        check_bounds("count", count)?;
        check_bounds("burst", burst)?;
        let whole = period.as_nanos().is_multiple_of(1_000_000_000);
        if period == Span::ZERO || period > MAX_PERIOD || !whole {
            return Err(ParseError::new(format!(
                "period {period} is out of bounds, expected whole seconds from 1s to 366d"
            )));
        }
        // Rounded up, so that rounding never admits more. The rate loses at most 1 ns per interval:
        // one part in a million at 1000 tokens per second, one in a thousand at a million per
        // second.
        let interval = Span::from_nanos(period.as_nanos().div_ceil(count.max(1)));
        Gcra::new(interval, burst)
            .filter(|gcra| gcra.capacity() <= MAX_REFILL)
            .map(|gcra| Rate { count, period, gcra })
            .ok_or_else(|| {
                let most = MAX_REFILL.as_nanos().checked_div(interval.as_nanos()).unwrap_or(0);
                ParseError::new(format!(
                    "burst {burst} takes more than ten years to fill up at this rate, expected at most {most}"
                ))
            })
    }

    /// Tokens per period, as configured.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The period, as configured: a whole number of seconds.
    pub fn period(&self) -> Span {
        self.period
    }

    /// The bucket that enforces the rate. Its interval is `period / count`, rounded up to a whole
    /// nanosecond.
    pub fn gcra(&self) -> Gcra {
        self.gcra
    }
}

impl Quota {
    /// `count` tokens per day of `zone`.
    ///
    /// # Errors
    /// The count is out of its bounds (see the module).
    pub fn new(count: u64, zone: Zone) -> Result<Quota, ParseError> {
        check_bounds("count", count)?;
        Ok(Quota { count, zone })
    }

    /// Tokens per local day, at least 1.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The zone whose midnights begin and end the day.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }
}

/// Checks that 1 ≤ `number` ≤ [`MAX_COUNT`]; the error calls the number `name`.
pub(super) fn check_bounds(name: &str, number: u64) -> Result<(), ParseError> {
    match number {
        1..=MAX_COUNT => Ok(()),
        _ => Err(ParseError::new(format!("{name} {number} is out of bounds, expected 1 to {MAX_COUNT}"))),
    }
}

impl fmt::Display for Rate {
    /// Prints the canonical text, which reads as the same rate: `5/min`, `100/s burst 200`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.count)?;
        match self.period.as_secs_up() {
            SECOND => f.write_str("s"),
            MINUTE => f.write_str("min"),
            HOUR => f.write_str("h"),
            // `1d` would be mistaken for `day`, a calendar day.
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
    /// Prints the canonical text, which reads as the same quota: `100/day`,
    /// `100/day Asia/Shanghai`.
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
