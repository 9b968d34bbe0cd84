//! The permits of a cap in its actor.
//!
//! - [`lender`]: lends permits to isolates for a term
//! - `holding`: the lender's memory of one holder
//! - `isolate_shares`: the share of each holder while there are too few permits for all
//! - `service`: the half of the Durable Object that serves them
//! - [`store`]: the permits' rows in the actor's SQLite
//! - [`calls`]: the isolate's side of a call

pub mod calls;
mod holding;
mod isolate_shares;
pub mod lender;
pub(crate) mod service;
pub mod store;
