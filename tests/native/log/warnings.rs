//! Keeping repeated warnings out of the log.

use super::with_limit;
use penstock::gate::decision::Unchecked;
use penstock::limit::time::{Span, Time};
use penstock::log::warnings::RecentWarnings;
use penstock::protocol::rates::CallError;

#[test]
fn sto_04_repeated_trouble_is_one_warning_per_limit_and_interval() {
    with_limit(|limit| {
        let mut warnings = RecentWarnings::default();
        let unchecked = Unchecked { limit, error: Some(CallError::Overloaded) };
        let at = |secs| Time::from_millis(1_000_000).plus(Span::from_secs(secs));
        let line = warnings.unchecked(&unchecked, at(0)).unwrap();
        assert!(line.contains(r#""place":"base/ip""#) && line.contains("overloaded"), "{line}");
        assert!((0..10_000).all(|_| warnings.unchecked(&unchecked, at(9)).is_none()));
        assert!(warnings.unchecked(&unchecked, at(10)).is_some());
    });
}
