//! The native tests: one binary, so that everything is linked once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects
)]

mod actor;
mod bin {
    mod check;
}
mod concurrency;
mod docs;
mod gate;
mod http;
mod identity;
mod limit;
mod log;
mod model;
mod policy;
mod protocol;
mod reading;
mod support;
