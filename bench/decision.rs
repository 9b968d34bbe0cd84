//! Times one GCRA decision, natively: what is left of a limiter's cost when every call and write is taken away.
#![allow(clippy::disallowed_methods, reason = "a benchmark is about real time")]
#![allow(clippy::expect_used, clippy::arithmetic_side_effects)]

use std::hint::black_box;
use std::time::Instant;

use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};

const DECISIONS: u64 = 20_000_000;
const ROUNDS: usize = 5;

/// Nanoseconds per decision, for callers that come every `gap`.
fn round(gcra: Gcra, gap: Span) -> f64 {
    let mut now = Time::from_millis(1_764_439_200_000);
    let mut tat = Time::from_nanos(0);
    let began = Instant::now();
    for _ in 0..DECISIONS {
        now = now.plus(gap);
        if let Ok(later) = black_box(gcra).take(tat, black_box(now), 1) {
            tat = later;
        }
    }
    black_box(tat);
    began.elapsed().as_nanos() as f64 / DECISIONS as f64
}

fn main() {
    let gcra = Gcra::new(Span::from_millis(10), 200).expect("100/s burst 200");
    println!("One GCRA decision (100/s burst 200), best of {ROUNDS} rounds of {DECISIONS}:");
    for (what, gap) in [("all admitted", 12), ("nine in ten refused", 1)] {
        let best = (0..ROUNDS).map(|_| round(gcra, Span::from_millis(gap))).fold(f64::INFINITY, f64::min);
        println!("  {what:<20} {best:6.2} ns");
    }
}
