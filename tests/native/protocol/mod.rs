//! The protocol between isolates and actors: its texts, its bounds, and the circuit breaker.

mod circuit_breaker;
mod permits;
mod permits_wire;
mod rates_wire;
mod validate;
