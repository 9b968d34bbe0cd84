//! The bounds of the cap, whatever isolates report.

use crate::support::EVENING;
use penstock::limit::adaptive::{AdaptiveCap, Sample};
use penstock::limit::time::Span;

#[test]
fn arbitrary_samples_leave_the_cap_within_its_bounds() {
    let mut random = 7_u64;
    let mut draw = move |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % most.max(1)
    };
    let mut adaptive = AdaptiveCap::new(20, 90);
    let mut now = EVENING;
    for _ in 0..20_000 {
        let wild = |value: u64, odd: u64| if odd == 0 { u64::MAX } else { value };
        let sample = Sample {
            ended: wild(draw(1_000), draw(50)),
            failed: draw(200),
            mean_latency: Span::from_nanos(wild(draw(1_000_000_000), draw(50))),
            max_in_flight: draw(200),
            refused: draw(3),
            cap: wild(draw(200), draw(50)),
        };
        now = if draw(20) == 0 {
            now.minus(Span::from_secs(draw(100)))
        } else {
            now.plus(Span::from_millis(draw(4_000)))
        };
        adaptive.record(&sample, now);
        assert!((20..=90).contains(&adaptive.cap()), "{}", adaptive.cap());
    }
}
