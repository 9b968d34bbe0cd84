//! The decision about one request: which rates and quotas it meets, and whether each lets it pass.
//!
//! - [`plan`]: the limits that a request meets, in order, grouped by the actor that holds their
//!   state
//! - [`decide`]: decides stage by stage, within one deadline; the limits of one stage are decided
//!   together; up to the first stage that refuses
//! - [`deadline`]: the time of one decision, divided among its stages
//! - [`permit_port`]: where a request gets the permits of its caps
//! - `pending`: a limit while it is being decided
//! - [`day_tokens`]: quota tokens that go back if the request does not reach the origin
//! - `taken`: the tokens that a request has taken, which go back if it does not use them
//! - `share_check`: fair shares of contended rates
//! - `ask_actors`: asks the actors for what the isolate cannot decide alone
//! - [`actor_calls`]: one call to an actor, with its permission and its bookkeeping
//! - [`on_error`]: decides what happens at a limit that cannot be checked
//! - [`decision`]: the result
//! - [`usages`]: the tokens that are left of the limits
//! - [`retry_after`]: the wait that a refused client is told
//! - [`background`]: refills and returns after the answer
//! - [`state`]: what the isolate remembers between requests

pub mod actor_calls;
mod ask_actors;
pub mod background;
pub mod day_tokens;
pub mod deadline;
pub mod decide;
pub mod decision;
pub mod on_error;
mod pending;
pub mod permit_port;
pub mod plan;
pub mod retry_after;
mod share_check;
pub mod state;
mod taken;
pub mod usages;
