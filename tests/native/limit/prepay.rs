//! The sizes and the windows of what is prepaid.

use penstock::limit::gcra::Gcra;
use penstock::limit::lease::{
    HORIZON, Horizon, LONGEST_HORIZON, Lease, SHARE, SavedTat, SlowStart, Wish, grant, max_lead,
};
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

const NOW: Time = Time::from_millis(1_795_975_200_000);
const MS: Span = Span::from_millis(1);

fn gcra(interval: Span, burst: u64) -> Gcra {
    Gcra::new(interval, burst).unwrap()
}

fn buckets() -> impl Strategy<Value = Gcra> {
    (1..2_000_000_000_u64, 1..5_000_u64).prop_map(|(interval, burst)| gcra(Span::from_nanos(interval), burst))
}

#[test]
fn a_slot_is_good_from_the_tolerance_before_it_to_itself_and_not_a_nanosecond_longer() {
    let ten = gcra(Span::from_secs(1), 10);
    let first = Span::from_secs(20);
    let slot = NOW.plus(first);
    let opens = slot.minus(ten.tolerance());
    let spends = |at| Lease::new(first, 1, NOW, NOW).spend(&ten, 1, at).is_some();
    assert!(!spends(opens.minus(Span::from_nanos(1))));
    assert!(spends(opens));
    assert!(spends(slot));
    assert!(!spends(slot.plus(Span::from_nanos(1))));
}

#[test]
fn the_slots_of_a_lease_go_by_one_by_one() {
    let ten = gcra(Span::from_secs(1), 10);
    let mut lease = Lease::new(Span::from_secs(5), 4, NOW, NOW);
    let at = |secs| NOW.plus(Span::from_secs(secs));
    assert_eq!([4, 5, 6, 7, 8, 9].map(|secs| lease.left(&ten, at(secs))), [4, 4, 3, 2, 1, 0]);
    assert!(lease.spend(&ten, 2, at(7)).is_some());
    assert!(lease.spend(&ten, 1, at(7)).is_none());
}

#[test]
fn what_was_spent_and_not_used_can_be_spent_again_once() {
    let ten = gcra(Span::from_secs(1), 10);
    let mut lease = Lease::new(Span::from_secs(5), 2, NOW, NOW.plus(MS));
    let spent = lease.spend(&ten, 1, NOW.plus(MS)).unwrap();
    assert_eq!(lease.rejoin(&ten, spent), Ok(()));
    assert_eq!(lease.left(&ten, NOW.plus(MS)), 2);
    assert_eq!(lease.rejoin(&ten, spent), Err(spent), "it is not the one before the first any more");
}

#[test]
fn a_slow_holder_wishes_for_nothing_and_a_fast_one_for_twice_as_much_until_it_is_enough() {
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
    assert!(fast.wish(NOW.plus(Span::from_secs(60)), Span::from_millis(250)) < 2, "and it falls back");
}

#[test]
fn an_actor_with_too_many_calls_stretches_its_horizon_and_lets_it_back() {
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
    fn whatever_the_trip_a_slot_is_spent_within_its_keepers_window(
        gcra in buckets(),
        first in 0..5_000_000_000_u64,
        count in 1..100_u64,
        (out, back) in (0..500_000_000_u64, 0..500_000_000_u64),
        tries in prop::collection::vec(0..3_000_000_000_u64, 1..60),
    ) {
        // The keeper's clock is an hour and a bit ahead of the holder's; both run at the same rate.
        let skew = Span::from_nanos(3_723_456_789_012);
        let asked = NOW;
        let kept = asked.plus(Span::from_nanos(out));
        let heard = kept.plus(Span::from_nanos(back));
        let mut lease = Lease::new(Span::from_nanos(first), count, asked, heard);
        let mut left = count;
        let mut now = heard;
        for later in tries {
            now = now.plus(Span::from_nanos(later));
            let before = lease.left(&gcra, now);
            prop_assert!(before <= left);
            left = before;
            if lease.spend(&gcra, 1, now).is_some() {
                let slot = kept.plus(skew).plus(Span::from_nanos(first)).plus(gcra.interval().times(count - left));
                let spent = now.plus(skew);
                prop_assert!(slot.minus(gcra.tolerance()) <= spent && spent <= slot);
                left -= 1;
            }
        }
    }

    #[test]
    fn a_grant_is_a_share_at_most_and_never_beyond_what_settling_leaves_alone(
        gcra in buckets(),
        debt in 0..20_000_000_000_u64,
        wish in 1..10_000_u64,
        each in 1..5_u64,
        horizon in 500..10_000_u64,
    ) {
        let tat = gcra.clamp_tat(NOW.plus(Span::from_nanos(debt)), NOW, max_lead(&gcra, 1));
        let Some(granted) = grant(&gcra, tat, NOW, Wish { ahead: wish, waiting: 0 }, each, MS.times(horizon)) else { return Ok(()) };
        let start = NOW.plus(granted.first);
        prop_assert!(start >= tat, "no slot twice");
        prop_assert!((1..=wish).contains(&granted.count));
        prop_assert_eq!(granted.count % each, 0, "whole requests");
        prop_assert_eq!(granted.tat, start.plus(gcra.interval().times(granted.count)));
        let room = gcra.capacity().plus(gcra.tolerance()).as_nanos() / gcra.interval().as_nanos();
        prop_assert!(granted.count <= room / SHARE + 1);
        prop_assert_eq!(gcra.clamp_tat(granted.tat, NOW, max_lead(&gcra, 1)), granted.tat);
    }

    #[test]
    fn those_who_wait_get_what_each_of_them_would_have_got(
        gcra in buckets(),
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

    #[test]
    fn what_is_saved_covers_what_is_handed_out_and_is_ahead_by_a_share_at_most(
        gcra in buckets(),
        takes in prop::collection::vec((0..2_000_000_000_u64, 1..5_u64), 1..100),
    ) {
        let mut saved = SavedTat::default();
        let (mut tat, mut now) = (NOW, NOW);
        for (later, cost) in takes {
            now = now.plus(Span::from_nanos(later));
            tat = tat.max(now).plus(gcra.interval().times(cost));
            saved = saved.cover(&gcra, tat, now).unwrap_or(saved);
            prop_assert!(saved.tat() >= tat);
            let most = Span::from_nanos(gcra.capacity().as_nanos() / SHARE);
            prop_assert!(saved.tat().since(tat) <= most);
            if gcra.burst() < 2 * SHARE {
                prop_assert_eq!(saved.tat(), tat, "a small bucket is never ahead");
            }
        }
    }
}
