//! Limits as pure arithmetic. Every time is a parameter: no code here reads a clock, does I/O, or
//! fails for a reason outside its arguments.
//!
//! - [`time`]: points and spans of time that saturate.
//! - [`parse`]: the text of a limit, such as `100/s burst 200`, to a rate or a quota.
//! - [`parse_error`]: the sentence that tells an operator why a text is not a limit.
//! - `suggestion`: the period or zone that was probably meant, for `make check`.
//! - [`rate`]: a rate or quota with its bounds, and its canonical text.
//! - [`calendar`]: time zones, and the local day that a quota counts.
//! - [`gcra`]: the algorithm that decides about a rate.
//! - [`debt`]: the debt of a bucket, and what becomes of it when its limit is edited.
//! - [`bucket_table`]: the state of many buckets, in bounded memory.
//! - [`day_counter`]: the tokens used of one day's quota.
//! - [`lease`]: tokens taken ahead of their use, and why no more are admitted by it.
//! - [`share`]: a bucket cut into parts that last for minutes, and why no more are admitted by it.
//! - [`warmup`]: a rate that opens slowly after a cold start.
//! - [`adaptive`]: a cap on requests in flight that finds its own size.
//! - [`counted`]: a count and its noun, as sentences have them.
//! - [`jitter`]: draws by chance, and delays that stay the same for one caller.
//! - [`monotonic`]: a clock that never steps back, made from one that may.

pub mod adaptive;
pub mod bucket_table;
pub mod calendar;
pub mod counted;
pub mod day_counter;
pub mod debt;
pub mod gcra;
pub mod jitter;
pub mod lease;
pub mod monotonic;
pub mod parse;
pub mod parse_error;
pub mod rate;
pub mod share;
#[cfg(not(target_arch = "wasm32"))]
mod suggestion;
pub mod time;
pub mod warmup;
