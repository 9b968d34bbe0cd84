//! The only file that reads a clock. Everything else takes the time as an argument.

use crate::limit::time::Time;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use worker::js_sys::Date;

thread_local! {
    /// The time at which the current poll began. `None` outside of [`read_once_per_poll`].
    static POLL_TIME: Cell<Option<Time>> = const { Cell::new(None) };
}

/// The wall clock, in whole milliseconds. In a Worker it stands still between I/O events.
pub fn now() -> Time {
    POLL_TIME.get().unwrap_or_else(read)
}

/// Runs `work`, and reads the clock once for each of its polls. The clock stands still within a
/// poll anyway. A request's decision asks for the time about two dozen times, and each reading is a
/// call into JavaScript.
pub async fn read_once_per_poll<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        POLL_TIME.set(Some(read()));
        let polled = work.as_mut().poll(context);
        POLL_TIME.set(None);
        polled
    })
    .await
}

#[expect(clippy::disallowed_methods, reason = "this is the only file that reads a clock")]
fn read() -> Time {
    // `worker`'s own `Date::now` makes an object for each instant. A clock before 1970 reads as
    // 1970.
    Time::from_millis(Date::now() as u64)
}
