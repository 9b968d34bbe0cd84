//! The arithmetic of limits, against tables, laws and simple models.

mod adaptive;
mod bucket_table;
mod calendar;
mod counted;
mod day_counter;
mod debt;
mod gcra;
mod jitter;
mod lease;
mod monotonic;
mod parse;
mod rate;
mod share;
mod warmup;

use penstock::limit::rate::{Allowance, Rate};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

/// The rate that `text` reads as.
fn rate(text: &str) -> Rate {
    match text.parse() {
        Ok(Allowance::Rate(rate)) => rate,
        other => panic!("{text:?} is not a rate: {other:?}"),
    }
}

/// Rates of every size: from one token a year to a billion a second.
fn any_rate() -> impl Strategy<Value = Rate> {
    let size = |most: u32| (0..=most).prop_flat_map(|bits| 1..=(1_u64 << bits));
    (size(29), size(24), size(29)).prop_map(|(count, secs, burst)| {
        let period = Span::from_secs(secs);
        Rate::new(count, period, burst).or_else(|_| Rate::new(count, period, 1)).unwrap()
    })
}

/// `millis` milliseconds after a moment of an ordinary year.
fn at(millis: u64) -> Time {
    Time::from_millis(1_795_000_000_000 + millis)
}
