//! Prepaying: leases, grants, saved TATs and the size of wishes.

mod grant;
mod saved_tat;
mod slice;
mod slow_start;

use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

const NOW: Time = Time::from_millis(1_795_975_200_000);
const MS: Span = Span::from_millis(1);

fn gcra(interval: Span, burst: u64) -> Gcra {
    Gcra::new(interval, burst).unwrap()
}

fn any_bucket() -> impl Strategy<Value = Gcra> {
    (1..2_000_000_000_u64, 1..5_000_u64).prop_map(|(interval, burst)| gcra(Span::from_nanos(interval), burst))
}
