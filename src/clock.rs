//! The one place that reads a clock. Everything else is told what time it is.

use crate::limit::time::Time;

/// The wall clock, in whole milliseconds. In a Worker it stands still between I/O events.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> Time {
    Time::from_millis(worker::Date::now().as_millis())
}
