//! The protocol between isolates and actors.
//!
//! - [`rates`]: questions and answers about rates and quotas
//! - [`rates_wire`]: their text form
//! - [`permits`]: questions and answers about the permits of a cap
//! - [`permits_wire`]: their text form
//! - [`circuit_breaker`]: leaves an actor, or D1, alone while it fails
//! - [`validate`]: rejects answers that no correct actor could give

pub mod circuit_breaker;
pub mod permits;
pub mod permits_wire;
pub mod rates;
pub mod rates_wire;
pub mod validate;
