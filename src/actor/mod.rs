//! The actors: Durable Objects that keep the state of rates, quotas and caps. One class serves all
//! of them; only the objects' names differ.
//!
//! - [`durable_object`]: the class, with its requests and its alarm
//! - `alarm`: the one alarm of an object
//! - `failure`: a question that an actor cannot answer
//! - `sql`: access to an object's SQLite
//! - [`rates`]: buckets of rates and quotas
//! - [`permits`]: permits of caps (`in_flight`, `sockets`)
//! - [`name`]: the name of the object that keeps a state
//! - [`call`]: one call to an object, from the isolate's side

mod alarm;
pub mod call;
pub mod durable_object;
mod failure;
pub mod name;
pub mod permits;
pub mod rates;
mod sql;
