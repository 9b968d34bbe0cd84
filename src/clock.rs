//! The one place that reads a clock. Everything else is told what time it is.

use crate::limit::time::Time;
use worker::js_sys::Date;

/// The wall clock, in whole milliseconds. In a Worker it stands still between I/O events.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Time {
    // Not worker's own `Date::now`, which makes an object of each instant. A clock before 1970 reads as 1970.
    Time::from_millis(Date::now() as u64)
}
