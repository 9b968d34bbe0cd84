//! Delays that are drawn, and delays that follow from a digest.

use penstock::limit::jitter::{SplitMix64, whole_seconds};
use penstock::limit::time::Span;

#[test]
fn split_mix_draws_the_published_numbers() {
    let mut random = SplitMix64::new(0);
    let drawn = [random.draw(), random.draw(), random.draw()];
    assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    assert_eq!(SplitMix64::new(0).draw_byte(), 0xe2);
}

#[test]
fn digest_decides_on_one_of_the_seconds_below_the_bound() {
    let digest = |first: u8| [first; 16];
    let secs = |first, below| whole_seconds(digest(first), below).as_secs_up();
    let spread: Vec<u64> = (0..=255).map(|first| secs(first, Span::from_secs(4))).collect();
    for second in 0..4 {
        assert_eq!(spread.iter().filter(|secs| **secs == second).count(), 64);
    }
    assert_eq!(secs(255, Span::from_millis(1_500)), 1, "one and a half seconds count as two");
    assert_eq!(secs(255, Span::ZERO), 0);
}
