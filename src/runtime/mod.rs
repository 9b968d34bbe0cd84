//! Glue to the Workers runtime: promises, timers, the clock.
//!
//! - [`clock`]: the one place that reads a clock
//! - [`promise`]: a future for a JavaScript promise or a timer, which leaks nothing when dropped
//! - [`sync_first`]: polls a future once and makes a promise only where one is needed; work after the answer
//! - [`timeout`]: a future with a deadline
//! - [`cancel_on_gc`]: drops a request's future once the runtime has dropped the request

pub mod cancel_on_gc;
pub mod clock;
pub mod promise;
pub mod sync_first;
pub mod timeout;
