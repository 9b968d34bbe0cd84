//! Glue to the Workers runtime: promises, timers, the clock, time zones.
//!
//! - [`clock`]: the only file that reads a clock
//! - [`promise`]: a future for a JavaScript promise or timer, which leaks nothing when it is
//!   dropped
//! - [`sync_first`]: polls a future at once, and makes a promise only when it has to wait; runs
//!   work after the response
//! - [`timeout`]: a future with a deadline
//! - [`cancel_on_gc`]: drops a request's future once the runtime has dropped the request
//! - [`zones`]: the runtime's time zones
//! - [`zone_names`]: the spelling of their names

pub mod cancel_on_gc;
pub mod clock;
pub mod promise;
pub mod sync_first;
pub mod timeout;
pub mod zone_names;
pub mod zones;
