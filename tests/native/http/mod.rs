//! What a caller reads.

mod log;
mod problem;
mod target;
