//! The stored text of a warm-up.

use penstock::limit::time::Span;
use penstock::limit::warmup::SavedWarmup;

#[test]
fn stored_text_is_unchanged() {
    let text = "1795975200000000000 30000000000 100000000 10000000 1795975230000000000";
    let saved = SavedWarmup::read(text).unwrap();
    assert_eq!((saved.ramp.start_interval, saved.ramp.end_interval), (Span::from_millis(100), Span::from_millis(10)));
    assert_eq!(saved.write(), text);
    for bad in ["", "1 2 3 4", "1 2 3 4 x", "1 2 3 4 -5"] {
        assert_eq!(SavedWarmup::read(bad), None, "{bad:?}");
    }
}
