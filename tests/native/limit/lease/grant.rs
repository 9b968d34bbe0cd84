//! The size and place of a grant, and how long grants last.

use super::{MS, NOW, any_bucket};
use penstock::limit::lease::{HORIZON, Horizon, LONGEST_HORIZON, PREPAY_DIVISOR, Wish, grant, max_lead};
use penstock::limit::time::Span;
use proptest::prelude::*;

#[test]
fn too_many_calls_stretch_the_horizon_and_fewer_shrink_it() {
    let mut horizon = Horizon::default();
    let mut now = NOW;
    let mut calls = |every: Span, count: u32| {
        (0..count).fold(Span::ZERO, |_, _| {
            now = now.plus(every);
            horizon.record_call(now)
        })
    };
    assert_eq!(calls(MS.times(5), 1_000), HORIZON, "200 a second are fine");
    let stretched = calls(MS, 2_000);
    assert!(stretched > HORIZON.times(2) && stretched <= LONGEST_HORIZON, "{stretched}");
    assert_eq!(calls(MS, 60_000), LONGEST_HORIZON);
    assert_eq!(calls(MS.times(10), 10_000), HORIZON);
}

proptest! {
    #[test]
    fn grant_is_at_most_a_share_and_moves_no_tat_beyond_its_clamp(
        gcra in any_bucket(),
        debt in 0..20_000_000_000_u64,
        wish in 1..10_000_u64,
        per_request in 1..5_u64,
        horizon in 500..10_000_u64,
    ) {
        let tat = gcra.clamp_tat(NOW.plus(Span::from_nanos(debt)), NOW, max_lead(&gcra, 1));
        let Some(granted) = grant(&gcra, tat, NOW, Wish { ahead: wish, waiting: 0 }, per_request, MS.times(horizon)) else { return Ok(()) };
        let start = NOW.plus(granted.first);
        prop_assert!(start >= tat, "no slot twice");
        prop_assert!((1..=wish).contains(&granted.count));
        prop_assert_eq!(granted.count % per_request, 0, "whole requests");
        prop_assert_eq!(granted.tat, start.plus(gcra.interval().times(granted.count)));
        let room = gcra.capacity().plus(gcra.tolerance()).as_nanos() / gcra.interval().as_nanos();
        prop_assert!(granted.count <= room / PREPAY_DIVISOR + 1);
        prop_assert_eq!(gcra.clamp_tat(granted.tat, NOW, max_lead(&gcra, 1)), granted.tat);
    }

    #[test]
    fn waiting_requests_get_the_slots_that_each_would_have_got(
        gcra in any_bucket(),
        debt in 0..20_000_000_000_u64,
        waiting in 1..10_000_u64,
    ) {
        let tat = gcra.clamp_tat(NOW.plus(Span::from_nanos(debt)), NOW, max_lead(&gcra, 1));
        let granted = grant(&gcra, tat, NOW, Wish { ahead: 0, waiting }, 1, HORIZON);
        let (mut alone, mut count) = (tat, 0);
        while let Ok(taken) = gcra.take(alone, NOW, 1) && count < waiting {
            (alone, count) = (taken, count + 1);
        }
        match granted {
            Some(granted) => prop_assert_eq!((granted.count, granted.tat), (count, alone)),
            None => prop_assert!(count == 0 || max_lead(&gcra, 1) == Span::ZERO, "{} of a bucket that can be leased from", count),
        }
    }
}
