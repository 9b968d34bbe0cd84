//! Rates and quotas in an actor.
//!
//! - [`buckets`]: the buckets of one actor, and its answer to a question
//! - [`quota`]: the daily quotas among them, prepaid from D1
//! - [`prepaid_quota`]: quota tokens that the actor has prepaid and not given out
//! - [`warmup`]: shared rates that open slowly
//! - [`store`]: what the actor keeps in its SQLite
//! - [`client`]: the isolate's side of a call

pub mod buckets;
pub mod client;
pub mod prepaid_quota;
mod quota;
pub mod store;
mod warmup;
