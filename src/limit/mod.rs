//! What a limit is: pure arithmetic on times that are passed in. Nothing here reads a clock, does I/O or fails
//! for a reason outside its arguments.

pub mod adaptive;
pub mod day;
pub mod gcra;
pub mod invalid;
pub mod prepay;
pub mod rate;
pub mod read;
pub mod steady;
pub mod table;
pub mod tally;
pub mod time;
pub mod warm;
