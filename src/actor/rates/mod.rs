//! Rates and quotas in an actor.
//!
//! - [`answer`]: the answer to a question, step by step
//! - [`buckets`]: the actor's memory
//! - [`cuts`]: the buckets that are cut into parts
//! - `demand_bucket`: one demand of a question, and the place of its state
//! - `former_names`: the takeover of state that an earlier version has kept under printed names
//! - `hand_out`: steps of handing tokens out
//! - `moved_state`: the takeover from objects in which an earlier version has kept shared limits
//! - `part_store`: the rows of parts in the actor's SQLite
//! - `quota`: the daily quotas of a question, prepaid from D1
//! - [`prepaid_quota`]: quota tokens that the actor has prepaid and not handed out
//! - `takeover`: the steps of a takeover
//! - `warmup`: `global` rates that open slowly
//! - `service`: the half of the Durable Object that serves them
//! - [`store`]: the buckets' rows in the actor's SQLite
//! - [`calls`]: the isolate's side of a call

pub mod answer;
pub mod buckets;
pub mod calls;
pub mod cuts;
mod demand_bucket;
mod former_names;
mod hand_out;
pub mod moved_state;
mod part_store;
pub mod prepaid_quota;
mod quota;
pub(crate) mod service;
pub mod store;
mod takeover;
mod warmup;
