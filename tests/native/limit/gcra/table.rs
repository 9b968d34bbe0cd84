//! Cases worked out by hand, and the public faults of other limiters.

use super::super::{at, rate};
use super::Bucket;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};

/// (step, milliseconds, cost, whether it passes, tokens left, milliseconds to wait, reason)
type Row = (u32, u64, u64, bool, u64, u64, &'static str);

fn check(limit: &str, rows: &[Row]) {
    let mut bucket = Bucket::new(limit);
    for &(step, millis, cost, passes, left, wait, why) in rows {
        let now = at(millis);
        let answer = bucket.take(now, cost);
        let seen = (answer.is_ok(), bucket.gcra.available(bucket.tat, now), answer.err().unwrap_or_default());
        assert_eq!(seen, (passes, left, Span::from_millis(wait)), "{limit}, step {step}: {why}");
    }
}

#[test]
fn bucket_of_five_per_minute_regains_one_every_12_seconds() {
    check(
        "5/min",
        &[
            (1, 0, 1, true, 4, 0, "a new bucket is full"),
            (2, 0, 1, true, 3, 0, "five at once may pass"),
            (3, 0, 1, true, 2, 0, "five at once may pass"),
            (4, 0, 1, true, 1, 0, "five at once may pass"),
            (5, 0, 1, true, 0, 0, "the fifth is the last"),
            (6, 0, 1, false, 0, 12_000, "one comes back every 12 s"),
            (7, 1_000, 1, false, 0, 11_000, "the denial has cost nothing"),
            (8, 11_999, 1, false, 0, 1, "one millisecond early"),
            (9, 12_000, 1, true, 0, 0, "exactly when promised"),
            (10, 12_000, 1, false, 0, 12_000, "and only one"),
            (11, 36_000, 1, true, 1, 0, "two came back, one is taken"),
            (12, 36_000, 2, false, 1, 12_000, "two asked, one there: the second is 12 s away"),
            (13, 36_000, 1, true, 0, 0, "the one is still there"),
            (14, 96_000, 1, true, 4, 0, "full again after a minute"),
        ],
    );
}

#[test]
fn burst_other_than_the_count_is_the_capacity() {
    check(
        "100/s burst 3",
        &[
            (1, 0, 2, true, 1, 0, "capacity is the burst, not the count"),
            (2, 0, 2, false, 1, 10, "one is 10 ms away"),
            (3, 10, 2, true, 0, 0, "both are there"),
            (4, 29, 3, false, 1, 11, "29 ms after: 19 of 30 ms repaid"),
            (5, 40, 3, true, 0, 0, "the whole bucket at once"),
            (6, 10_000, 4, false, 3, 10, "more than the bucket holds can never pass, however long it idles"),
        ],
    );
}

#[test]
fn burst_of_one_spaces_every_request() {
    check(
        "10/s burst 1",
        &[
            (1, 0, 1, true, 0, 0, "the first passes"),
            (2, 99, 1, false, 0, 1, "99 ms later is too early"),
            (3, 100, 1, true, 0, 0, "100 ms later is not"),
            (4, 250, 1, true, 0, 0, "idle time is not saved up"),
            (5, 300, 1, false, 0, 50, "the next slot counts from the last pass"),
        ],
    );
}

#[test]
fn time_until_next_token_counts_down_to_a_whole_token() {
    let gcra = rate("5/min").gcra();
    let tat = gcra.take(Time::default(), at(0), 2).unwrap();
    let secs = |s| Span::from_secs(s);
    assert_eq!(gcra.until_next_token(tat, at(0)), secs(12));
    assert_eq!(gcra.until_next_token(tat, at(5_000)), secs(7));
    assert_eq!((gcra.available(tat, at(11_999)), gcra.available(tat, at(12_000))), (3, 4));
    assert_eq!(gcra.until_next_token(tat, at(12_000)), secs(12));
    assert_eq!(gcra.until_next_token(tat, at(24_000)), Span::ZERO, "full");
}

#[test]
fn gcr_01_full_bucket_admits_exactly_its_burst() {
    assert_eq!(Bucket::new("5/24h").passes(at(0), 6), 5);
    assert_eq!(Bucket::new("1/30d").passes(at(0), 6), 1);
    assert_eq!(Bucket::new("7/s burst 2").passes(at(0), 6), 2);
}

#[test]
fn gcr_02_bucket_with_zeros_or_overflow_cannot_be_made() {
    assert_eq!(Gcra::new(Span::ZERO, 5), None);
    assert_eq!(Gcra::new(Span::from_secs(1), 0), None);
    assert_eq!(Gcra::new(Span::from_nanos(2), u64::MAX), None);
    assert_eq!(Gcra::new(Span::from_nanos(u64::MAX), 1), None);
    assert!(Gcra::new(Span::from_nanos(u64::MAX / 2), 1).is_some());
}

#[test]
fn gcr_03_cost_up_to_the_burst_passes_and_above_it_never() {
    assert_eq!(Bucket::new("10/min").take(at(0), 10), Ok(()));
    for cost in [11, 1_000, u64::MAX] {
        let mut bucket = Bucket::new("10/min");
        assert!(bucket.take(at(0), cost).is_err());
        assert!(bucket.take(at(3_600_000), cost).is_err());
        assert_eq!(bucket.passes(at(3_600_000), 20), 10, "asking for {cost} took nothing");
    }
}

#[test]
fn gcr_05_clock_steps_never_charge_twice_nor_lock_out() {
    let secs = |s: u64| at(1_000 * s);
    let twelve = Err(Span::from_secs(12));
    let mut bucket = Bucket::new("5/min");
    assert_eq!(bucket.passes(secs(10_100), 6), 5);

    // Back by a minute: no debt is repaid or charged again, and the promised wait comes true.
    assert_eq!(bucket.take(secs(10_040), 1), twelve);
    assert_eq!(bucket.passes(secs(10_052), 6), 1);

    // Forward by an hour: a full bucket, and no more.
    assert_eq!(bucket.passes(secs(13_652), 50), 5);

    // Back by an hour: the same, although the TAT now lies far in the future.
    assert_eq!(bucket.take(secs(10_052), 1), twelve);
    assert_eq!(bucket.take(secs(10_063), 1), Err(Span::from_secs(1)));
    assert_eq!(bucket.passes(secs(10_064), 6), 1);
}

#[test]
fn gcr_05_ends_of_time_are_strict_and_do_not_panic() {
    for limit in ["5/min", "1/366d", "1000000000/s", "1/366d burst 9"] {
        let mut bucket = Bucket::new(limit);
        assert_eq!(bucket.passes(Time::MAX, 100), 0, "{limit}: a debt after the end of time cannot be kept");
        bucket.tat = Time::MAX;
        assert_eq!(bucket.passes(Time::default(), 100), 0, "{limit}");
        assert!(bucket.take(Time::default(), 1).unwrap_err() <= bucket.gcra.capacity());
    }
    // Two of five tokens fit before the end of time, so two pass.
    let mut bucket = Bucket::new("5/min");
    assert_eq!(bucket.passes(Time::MAX.minus(Span::from_secs(25)), 100), 2);
}

#[test]
fn gcr_07_idle_bucket_saves_up_one_burst_and_no_more() {
    let mut bucket = Bucket::new("5/min");
    assert_eq!(bucket.passes(at(0), 5), 5);
    assert_eq!(bucket.passes(at(600_000), 15), 5, "after ten idle periods");
    assert_eq!(Bucket::new("10/min burst 20").passes(at(0), 50), 20, "a new bucket");
    // Idle for a whole number of intervals and a fraction.
    let mut bucket = Bucket::new("1/s burst 5");
    assert_eq!(bucket.passes(at(0), 5), 5);
    assert_eq!(bucket.passes(at(7_900), 10), 5);
}

#[test]
fn gcr_09_refusals_do_not_extend_the_wait() {
    let mut bucket = Bucket::new("5/min");
    let passed: Vec<u64> = (0..600).map(|n| n * 100).filter(|&ms| bucket.take(at(ms), 1).is_ok()).collect();
    assert_eq!(passed, [0, 100, 200, 300, 400, 12_000, 24_000, 36_000, 48_000]);
}

#[test]
fn gcr_09_edge_of_a_minute_does_not_double_the_limit() {
    let mut bucket = Bucket::new("10/min");
    assert_eq!(bucket.passes(at(59_900), 10), 10);
    assert_eq!(bucket.passes(at(60_100), 10), 0);
}

#[test]
fn hdr_03_wait_counts_down_and_then_comes_true() {
    let mut bucket = Bucket::new("10/min");
    assert_eq!(bucket.passes(at(0), 10), 10);
    assert_eq!(bucket.take(at(0), 1), Err(Span::from_secs(6)));
    assert_eq!(bucket.take(at(2_000), 1), Err(Span::from_secs(4)));
    assert_eq!(bucket.take(at(6_000), 1), Ok(()));
}

#[test]
fn old_debt_above_a_lowered_limit_counts_as_a_full_one() {
    let hour = Bucket::new("1/h").gcra.take(Time::default(), at(0), 1).unwrap();
    let mut bucket = Bucket { gcra: rate("5/min").gcra(), tat: hour };
    assert_eq!(bucket.take(at(0), 1), Err(Span::from_secs(12)));
    assert_eq!(bucket.passes(at(12_000), 5), 1);
}
