//! The wait of a refused request: it gets in then, and not before.

use super::Random;
use super::world::{MILLI, span, time};
use penstock::limit::gcra::Gcra;
use penstock::limit::share::{CutBucket, Fraction, PartSize, Question};
use penstock::limit::time::{Span, Time};

#[test]
fn a_caller_that_is_alone_gets_in_after_its_wait_and_not_3_ns_before() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let (interval, burst) = (random.one_of(&[7, MILLI + 1, 10 * MILLI]), random.one_of(&[1, 4, 40, 400]));
        let gcra = Gcra::new(span(interval), burst).unwrap();
        let mut bucket = CutBucket::new(gcra, Time::default(), Time::default(), Span::from_secs(10));
        let mut now = 0;
        for holder in 1..random.whole(1, 6) {
            now += random.whole(0, interval * 5);
            let size = PartSize {
                fraction: Fraction::from_f64(random.one_of(&[0.02, 0.3, 0.6, 1.0])),
                room: random.whole(1, burst),
                tokens: random.whole(0, burst),
                term: span(random.whole(1, interval * burst * 2)),
                written: true,
            };
            bucket.part(time(now), &Question { holder, seq: 1, ..Question::default() }, &size);
        }
        while bucket.take(time(now), 1).is_ok() {}
        for _ in 0..3 {
            let wait = bucket.wait(time(now), 1).as_nanos();
            assert!(wait > 0, "seed {seed}");
            if wait > 3 {
                let mut early = bucket.clone();
                assert!(early.take(time(now + wait - 3), 1).is_err(), "seed {seed}: 3 ns early");
            }
            now += wait;
            assert!(bucket.take(time(now), 1).is_ok(), "seed {seed}: in time");
        }
    }
}

#[test]
fn a_refusal_says_the_wait() {
    let gcra = Gcra::new(span(10 * MILLI), 100).unwrap();
    let mut bucket = CutBucket::new(gcra, Time::default(), Time::default(), Span::from_secs(10));
    let size =
        PartSize { fraction: Fraction::one_in(2), room: 100, tokens: 0, term: Span::from_secs(60), written: true };
    bucket.part(time(0), &Question { holder: 1, seq: 1, ..Question::default() }, &size);
    // The part has room for the whole burst, so nothing else passes until its term ends.
    assert_eq!(bucket.take(time(0), 1).unwrap_err().wait, Span::from_secs(60).plus(gcra.interval()));
}
