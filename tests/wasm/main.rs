//! Tests of the values that pass between Rust and JavaScript, run in a JavaScript engine.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects
)]

mod actor {
    mod call;
}
mod http {
    mod isolate;
    mod proxy;
}
mod ledger {
    mod d1;
}
#[path = "../native/limit/calendar/reference.rs"]
mod reference;
mod runtime {
    mod zones;
}
