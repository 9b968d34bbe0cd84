//! The TAT that runs ahead on disk.

use super::{NOW, any_bucket};
use penstock::limit::lease::{PREPAY_DIVISOR, SavedTat};
use penstock::limit::time::Span;
use proptest::prelude::*;

proptest! {
    #[test]
    fn saved_tat_covers_the_true_one_and_leads_by_at_most_a_share(
        gcra in any_bucket(),
        takes in prop::collection::vec((0..2_000_000_000_u64, 1..5_u64), 1..100),
    ) {
        let mut saved = SavedTat::default();
        let (mut tat, mut now) = (NOW, NOW);
        for (later, cost) in takes {
            now = now.plus(Span::from_nanos(later));
            tat = tat.max(now).plus(gcra.interval().times(cost));
            saved = saved.cover(&gcra, tat, now).unwrap_or(saved);
            prop_assert!(saved.tat() >= tat);
            let most = Span::from_nanos(gcra.capacity().as_nanos() / PREPAY_DIVISOR);
            prop_assert!(saved.tat().since(tat) <= most);
            if gcra.burst() < 2 * PREPAY_DIVISOR {
                prop_assert_eq!(saved.tat(), tat, "a small bucket is never ahead");
            }
        }
    }
}
