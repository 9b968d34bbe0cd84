//! The decision: a plan of limits to meet → whoever holds their state → a verdict. Pure: the world is behind [`ports`].

mod ask;
pub mod budget;
pub mod circuit;
pub mod decide;
pub mod fair;
pub mod held;
mod item;
pub mod known;
mod least;
pub mod local;
pub mod on_error;
pub mod plan;
pub mod ports;
pub mod refill;
pub mod returns;
pub mod sense;
pub mod slots;
pub mod verdict;
pub mod wallet;
