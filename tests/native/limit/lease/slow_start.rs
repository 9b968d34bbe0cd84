//! The size of a holder's wishes.

use super::{MS, NOW};
use penstock::limit::lease::{HORIZON, SlowStart};
use penstock::limit::time::Span;

#[test]
fn slow_holder_wishes_for_nothing_and_a_fast_one_doubles_up_to_its_use() {
    let mut slow = SlowStart::new(NOW);
    for second in 1..20 {
        slow.spend(1);
        assert_eq!(slow.wish(NOW.plus(Span::from_secs(second)), HORIZON), 0);
    }
    let mut fast = SlowStart::new(NOW);
    let wishes: Vec<u64> = (1..8)
        .map(|step| {
            fast.spend(20);
            fast.wish(NOW.plus(MS.times(100 * step)), Span::from_millis(250))
        })
        .collect();
    assert_eq!(wishes, [2, 4, 8, 16, 32, 50, 50], "200 a second for a quarter of a second");
    fast.back_off();
    fast.back_off();
    assert!(fast.wish(NOW.plus(Span::from_secs(60)), Span::from_millis(250)) < 2, "it falls back");
}
