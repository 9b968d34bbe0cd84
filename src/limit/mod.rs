//! What a limit is: pure arithmetic on times that are passed in. Nothing here reads a clock, does I/O or fails
//! for a reason outside its arguments.

pub mod adaptive;
pub mod bucket_table;
pub mod calendar;
pub mod day_counter;
pub mod gcra;
pub mod lease;
pub mod monotonic;
pub mod parse;
pub mod parse_error;
pub mod rate;
pub mod time;
pub mod warmup;
