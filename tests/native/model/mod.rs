//! The protocol between isolates, actors and D1, explored exhaustively.
//!
//! The product's own code runs: wallets, gates, errands, actors. What surrounds it is a small world in which every message, crash and
//! step of a clock is a move that the search chooses; after each, the limits must hold, whatever was lost or reordered.

mod case;
mod check;
mod planted;
mod ports;
mod quotas;
mod rates;
mod search;
mod world;
