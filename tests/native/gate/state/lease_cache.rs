//! The entries that stay when there are more callers than the cache has room for.

use crate::support::EVENING;
use penstock::gate::state::lease_cache::{LeaseCache, LimitKey};
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::Span;
use penstock::protocol::rates::Terms;

const CALLERS: u64 = 30_000;

/// The key of one limit for the caller of this number.
fn key(number: u64) -> LimitKey {
    LimitKey { limit: 0, subject: Some(Subject::from_bytes(u128::from(number).to_be_bytes())) }
}

#[test]
fn full_cache_drops_a_part_of_the_entries_in_debt() {
    let terms = Terms::Rate(Gcra::new(Span::from_secs(12), 5).unwrap());
    let mut lease_cache = LeaseCache::default();
    for number in 0..CALLERS {
        lease_cache.add_debt(key(number), &terms, 2, EVENING);
    }
    let known = |number: &u64| lease_cache.starting_point(key(*number), EVENING).debt > Span::ZERO;
    let kept = (0..CALLERS).filter(known).count();
    assert!((15_000..=20_000).contains(&kept), "{kept} kept");
}

#[test]
fn unreported_debt_outlives_entries_of_no_worth() {
    let terms = Terms::Rate(Gcra::new(Span::from_secs(12), 5).unwrap());
    let mut lease_cache = LeaseCache::default();
    for number in 0..10_000 {
        lease_cache.add_debt(key(number), &terms, 2, EVENING);
    }
    for number in 10_000..60_000 {
        lease_cache.wish_for(key(number), &terms, 1, EVENING, Span::from_millis(250));
    }
    let mut owed = |number| lease_cache.wish_for(key(number), &terms, 1, EVENING, Span::from_millis(250)).1;
    assert_eq!((0..10_000).filter(|number| owed(*number) == 2).count(), 10_000);
}
