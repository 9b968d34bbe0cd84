//! What an isolate keeps when there are more callers than it has room for.

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
fn a_flood_of_callers_that_matter_takes_the_place_of_some_of_them_not_of_all() {
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
fn what_is_owed_outlives_callers_of_whom_nothing_would_be_lost() {
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
