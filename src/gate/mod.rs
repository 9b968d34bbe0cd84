//! The decision about one request: which rates and quotas it meets, and whether each lets it pass.
//!
//! - [`plan`]: the limits that a request meets, in order, grouped by the actor that holds their state
//! - [`decide`]: meets them one after the other, within one deadline
//! - [`pending`]: a limit while it is being decided
//! - [`ask_actors`]: asks the actors for what the isolate cannot decide alone
//! - [`on_error`]: decides what happens at a limit that cannot be checked
//! - [`decision`]: the result
//! - [`retry_after`]: the wait that a refused caller is told
//! - [`background`]: refills and returns after the answer
//! - [`state`]: what the isolate remembers between requests

mod ask_actors;
pub mod background;
pub mod decide;
pub mod decision;
pub mod on_error;
mod pending;
pub mod plan;
mod retry_after;
pub mod state;
