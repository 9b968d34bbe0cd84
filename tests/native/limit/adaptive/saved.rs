//! The state that survives an eviction, and its stored text.

use penstock::limit::adaptive::{AdaptiveCap, SavedCap};
use penstock::limit::time::Span;

#[test]
fn saved_cap_survives_an_eviction() {
    let saved = SavedCap { cap: 300, base_latency: Span::from_millis(80) };
    let resumed = AdaptiveCap::resume(10, 1_000, saved);
    assert_eq!((resumed.cap(), resumed.saved()), (300, Some(saved)));
    assert_eq!(AdaptiveCap::resume(10, 200, saved).cap(), 200, "under a lower ceiling");
    assert_eq!(AdaptiveCap::new(10, 1_000).saved(), None);
}

#[test]
fn row_that_cannot_be_read_is_ignored() {
    for bad in ["", "12", "x 5", "12 -5", "1 2 3"] {
        assert_eq!(SavedCap::read(bad), None, "{bad:?}");
    }
}
