//! The permits of a cap in its actor.
//!
//! - [`lender`]: lends permits to isolates for a term
//! - [`fair_share`]: how many each isolate gets while there are too few
//! - [`store`]: what the actor keeps in its SQLite
//! - [`client`]: the isolate's side of a call

pub mod client;
mod fair_share;
pub mod lender;
pub mod store;
