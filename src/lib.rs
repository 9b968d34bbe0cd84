//! Penstock is a rate limiter: a Worker in front of an origin, which decides at the edge whether a
//! request may go on.
//!
//! The modules, in the order in which a request meets them:
//!
//! - [`http`]: the request arrives, and in the end is forwarded or refused
//! - [`policy`]: the configuration, validated, and the binding that the request's route matches
//! - [`identity`]: the client's address and the caller's key, as digests
//! - [`gate`]: the limits that the request meets, and the decision
//! - [`concurrency`]: the caps on the requests that are in flight at once
//! - [`protocol`]: the questions of isolates to actors, and the replies
//! - [`actor`]: the Durable Objects that keep buckets and lend permits
//! - [`ledger`]: the daily quotas in D1
//!
//! The modules that it meets all along:
//!
//! - [`runtime`]: promises, timers, the clock and the time zones of the Workers runtime
//! - [`log`]: the log lines about refusals, and warnings
//! - [`limit`]: the arithmetic of rates, quotas and leases
//!
//! `policy`, `identity`, `gate`, `concurrency`, `protocol` and `limit` are pure: they know nothing
//! of Workers, and take the time as an argument. Without the feature `worker` they are the whole
//! crate, a plain library.
//!
//! `wasm_exports` has the functions of the WebAssembly module, which `entry.js` calls for the
//! runtime.

#![forbid(unsafe_code)]

#[cfg(feature = "worker")]
pub mod actor;
pub mod concurrency;
pub mod gate;
#[cfg(feature = "worker")]
pub mod http;
pub mod identity;
#[cfg(feature = "worker")]
pub mod ledger;
pub mod limit;
#[cfg(feature = "worker")]
pub mod log;
pub mod policy;
pub mod protocol;
#[cfg(feature = "worker")]
pub mod runtime;
#[cfg(feature = "worker")]
mod wasm_exports;
