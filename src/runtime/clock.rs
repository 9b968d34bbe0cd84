//! The one place that reads a clock. Everything else is told what time it is.

use crate::limit::time::Time;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use worker::js_sys::Date;

thread_local! {
    /// What the clock read when the turn that is running began.
    static TURN: Cell<Option<Time>> = const { Cell::new(None) };
}

/// The wall clock, in whole milliseconds. In a Worker it stands still between I/O events.
pub fn now() -> Time {
    TURN.get().unwrap_or_else(read)
}

/// Does `work` with one look at the clock for each of its turns. It stands still within one anyway, and a request's
/// decision asks for the time two dozen times, each of them a call into JavaScript.
pub async fn once_a_turn<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        TURN.set(Some(read()));
        let polled = work.as_mut().poll(context);
        TURN.set(None);
        polled
    })
    .await
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn read() -> Time {
    // Not worker's own `Date::now`, which makes an object of each instant. A clock before 1970 reads as 1970.
    Time::from_millis(Date::now() as u64)
}
