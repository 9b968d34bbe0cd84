//! Points and spans of time, in whole nanoseconds. Every operation saturates: a broken clock can
//! make a limit stricter, and can never make it panic.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A point in time: nanoseconds since the Unix epoch (until the year 2554).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A span of time in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    /// The latest time that can be expressed. It also stands for a time that could not be read,
    /// since the latest time is the strictest.
    pub const MAX: Time = Time(u64::MAX);

    /// The time `nanos` nanoseconds after the Unix epoch.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// The time `millis` milliseconds after the Unix epoch, as `Date.now()` counts.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the Unix epoch, rounded up. JavaScript numbers hold them exactly;
    /// they cannot hold nanoseconds.
    pub const fn as_micros_up(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Whole seconds since the Unix epoch, rounded up: a client that waits until then waits long
    /// enough.
    pub const fn as_secs_up(self) -> u64 {
        self.0.div_ceil(1_000_000_000)
    }

    /// The span from `earlier` to this time; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The time `span` after this one.
    pub const fn plus(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// The time `span` before this one.
    pub const fn minus(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// A span of zero nanoseconds.
    pub const ZERO: Span = Span(0);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs.saturating_mul(1_000_000_000))
    }

    /// This span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This span in whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// This span in whole seconds, rounded up: a client that waits so many seconds waits long
    /// enough.
    pub const fn as_secs_up(self) -> u64 {
        self.0.div_ceil(1_000_000_000)
    }

    /// This span in whole seconds for `Retry-After`: rounded up, and at least 1, so that a client
    /// that waits so many seconds waits long enough.
    pub const fn retry_after_secs(self) -> u64 {
        let secs = self.as_secs_up();
        if secs == 0 { 1 } else { secs }
    }

    /// The sum of this span and `other`.
    pub const fn plus(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// This span less `other`; zero if `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Half of this span.
    pub const fn half(self) -> Span {
        Span(self.0 / 2)
    }

    /// `factor` times this span.
    pub const fn times(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Span {
    /// Prints the shortest exact form: `90s`, `250ms`, `1500ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n % 1_000_000_000 == 0 => write!(f, "{}s", n / 1_000_000_000),
            n if n % 1_000_000 == 0 => write!(f, "{}ms", n / 1_000_000),
            n => write!(f, "{n}ns"),
        }
    }
}
