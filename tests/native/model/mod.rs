//! The protocol between isolates, actors and D1, explored exhaustively.
//!
//! The product's own code runs: lease caches, gates, background work and actors. Around it is a
//! small world in which every message, crash and step of a clock is a move that the search chooses.
//! After each move the limits must hold, whatever was lost or reordered.
//!
//! - `rates`, `quotas`: the cases
//! - `refused`: requests that a shared limit refuses, with bugs planted there
//! - `edits`: isolates with two configurations side by side
//! - `planted`: cases with a planted bug, which the search must find
//! - `search`: every schedule of a case, and random walks
//! - `check`: everything that must hold
//! - `case`: a case, its moves, faults and planted bugs
//! - `world`: the world; its moves are in `requests`, `calls`, `time_and_d1` and `faults`
//! - `state_key`: the key of a state
//! - `parts`: isolates, actors, calls and tasks
//! - `ports`: the ports of gates and actors to this world
//! - `sim`: a clock to set, and a value that arrives later

mod calls;
mod case;
mod check;
mod edits;
mod faults;
mod parts;
mod planted;
mod ports;
mod quotas;
mod rates;
mod refused;
mod requests;
mod search;
mod sim;
mod state_key;
mod time_and_d1;
mod world;
