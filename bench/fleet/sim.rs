//! The clock and the value that arrives later, which the fleet shares with the model of the tests.

#[path = "../../tests/native/model/sim.rs"]
mod shared;

pub use shared::{OneShot, set_wall, wall};
