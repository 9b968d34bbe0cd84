//! Caps on what is at the origin at once (`in_flight`, `sockets`): the isolate's side.
//!
//! - [`plan`]: which caps a request meets
//! - [`caps`]: one request and all of its caps
//! - [`admit`]: gets a request a permit of one cap
//! - [`permit_calls`]: calls to the caps' actors
//! - [`permit_leases`]: the permit leases of one isolate, and the guard of a request's permit
//! - [`permit_lease`]: the permits that the isolate holds of one cap
//! - [`heartbeats`]: which requests are still there
//! - [`per_reserve`]: a number for each class of requests

pub mod admit;
pub mod caps;
pub mod heartbeats;
pub mod per_reserve;
pub mod permit_calls;
pub mod permit_lease;
pub mod permit_leases;
pub mod plan;
