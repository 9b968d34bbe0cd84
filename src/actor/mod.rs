//! The Durable Object's side. One class serves every rate, quota and cap; only the objects' names differ.
//!
//! - [`durable_object`]: the class, its requests and its alarm
//! - [`call`]: one call to an object, as the isolate makes it
//! - [`name`]: which object holds which state
//! - [`rates`]: buckets of rates and quotas
//! - [`permits`]: permits of caps (`in_flight`, `sockets`)

pub mod call;
pub mod durable_object;
pub mod name;
pub mod permits;
pub mod rates;
mod sql;
