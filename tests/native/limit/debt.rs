//! Debts under edits: used tokens stay used, raises help, and no window admits more than the larger
//! of both limits.

use crate::support::EVENING;
use penstock::limit::debt::{Debt, SIDE_BY_SIDE};
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::{HORIZON, Lease, Wish, grant};
use penstock::limit::rate::Allowance;
use penstock::limit::time::{Span, Time};
use proptest::prelude::*;

fn rate(text: &str) -> Gcra {
    match text.parse::<Allowance>().unwrap() {
        Allowance::Rate(rate) => rate.gcra(),
        Allowance::Quota(_) => panic!("{text}"),
    }
}

/// Takes `tokens` under `gcra`, one by one; returns how many there were.
fn take(debt: &mut Debt, gcra: &Gcra, now: Time, tokens: u64) -> u64 {
    debt.ask(gcra, now);
    (0..tokens).filter(|_| debt.take(gcra, now, 1).map(|tat| debt.give(tat, 1, now)).is_ok()).count() as u64
}

fn wait(debt: &Debt, gcra: &Gcra, now: Time) -> Span {
    debt.take(gcra, now, 1).err().map_or(Span::ZERO, |no| no.wait)
}

/// The debt as an actor that has just woken up finds it.
fn restored(debt: &Debt, now: Time) -> Debt {
    Debt::restored(debt.saved(now))
}

#[test]
fn cfg_10_used_tokens_stay_used_and_are_at_most_a_full_bucket() {
    for (before, used, after, left, seconds) in [
        ("5/h", 4, "6/h", 2, 0),
        ("5/h", 5, "6/h", 1, 0),
        ("5/h", 4, "500/h", 496, 0),
        ("10/h", 4, "5/h", 1, 0),
        ("10/h", 10, "5/h", 0, 720),
        ("10/h", 6, "5/h", 0, 720),
        ("5/h", 5, "5/h burst 8", 3, 0),
        ("5/h", 3, "5/h burst 2", 0, 720),
        ("5/h", 5, "10/h burst 5", 0, 360),
        ("1000/30d", 1_000, "2000/30d", 1_000, 0),
        ("100/s burst 200", 150, "1000/s burst 200", 50, 0),
        // The token that was given may be unspent for as long as it could be before.
        ("1/min", 1, "1/s", 0, 60),
        ("2/min", 2, "2/s", 0, 30),
    ] {
        let (before, after) = (rate(before), rate(after));
        let mut debt = Debt::default();
        assert_eq!(take(&mut debt, &before, EVENING, used), used);
        for mut debt in [debt.clone(), restored(&debt, EVENING)] {
            debt.ask(&after, EVENING);
            let told = (debt.available(&after, EVENING), wait(&debt, &after, EVENING));
            assert_eq!(told, (left, Span::from_secs(seconds)), "{used} of {before:?} under {after:?}");
            let then = EVENING.plus(told.1);
            debt.ask(&after, then);
            assert!(debt.take(&after, then, 1).is_ok(), "a caller that waits as told passes");
        }
    }
}

#[test]
fn unknown_terms_are_those_of_the_next_question() {
    let hourly = rate("5/h");
    let mut debt = Debt::of_tat(EVENING.plus(Span::from_secs(4 * 720)));
    assert_eq!(debt.saved(EVENING).interval, Span::ZERO);
    assert!(!debt.ask(&hourly, EVENING));
    assert_eq!((debt.available(&hourly, EVENING), debt.saved(EVENING).burst), (1, 5));
}

/// A lower limit cuts a debt down, and an isolate with the larger one asks again and again.
#[test]
fn cut_under_one_configuration_gives_nothing_under_the_other() {
    let (large, small) = (rate("100/h"), rate("5/h"));
    let mut debt = Debt::default();
    assert_eq!(take(&mut debt, &large, EVENING, 200), 100);
    for _ in 0..50 {
        assert_eq!(take(&mut debt, &large, EVENING, 10), 0);
        assert_eq!(take(&mut debt, &small, EVENING, 10), 0);
    }
    // The cut stands once the larger limit is not asked for any more.
    let later = EVENING.plus(SIDE_BY_SIDE);
    debt.ask(&small, later);
    assert!(!debt.is_edited());
    assert_eq!(wait(&debt, &small, later), Span::from_secs(660));
}

#[test]
fn saved_form_is_the_largest_debt_of_all_terms() {
    let (large, small) = (rate("100/h"), rate("5/h"));
    let mut debt = Debt::default();
    take(&mut debt, &large, EVENING, 100);
    debt.ask(&small, EVENING);
    let saved = debt.saved(EVENING);
    assert_eq!((saved.interval, saved.burst), (small.interval(), 100));
    assert_eq!(saved.tat.since(EVENING), small.interval().times(100));
    let mut again = Debt::restored(saved);
    assert_eq!(take(&mut again, &large, EVENING, 1), 0, "a crash forgives nothing");
}

fn any_rate(periods: &'static [u64]) -> impl Strategy<Value = Gcra> {
    let count = prop_oneof![1..20_u64, 1..400_u64];
    (count, prop::sample::select(periods), prop_oneof![Just(None), (1..300_u64).prop_map(Some)]).prop_map(
        |(count, secs, burst)| {
            let interval = Span::from_nanos((secs * 1_000_000_000).div_ceil(count));
            Gcra::new(interval, burst.unwrap_or(count)).unwrap()
        },
    )
}

const HOURLY: &[u64] = &[3_600];
const QUICK: &[u64] = &[1, 1, 10, 60];

proptest! {
    /// Tokens in use, as plain arithmetic has them, over edits that a restart or nothing separates.
    #[test]
    fn cfg_10_used_tokens_are_kept_under_random_edits(
        edits in prop::collection::vec((any_rate(HOURLY), 0..300_u64, any::<bool>()), 1..8),
    ) {
        let (mut debt, mut now, mut used) = (Debt::default(), EVENING, 0.0_f64);
        for (gcra, wanted, restarts) in edits {
            if restarts {
                debt = restored(&debt, now);
            }
            debt.ask(&gcra, now);
            used = used.min(gcra.burst() as f64);
            let left = gcra.burst() as f64 - used;
            prop_assert!((debt.available(&gcra, now) as f64 - left).abs() <= 1.0, "{left} left");
            let taken = take(&mut debt, &gcra, now, wanted);
            used += taken as f64;
            prop_assert!(taken as f64 <= left + 1e-6 && (taken == wanted || taken as f64 > left - 1.0 - 1e-6));
            // Until the earlier terms are forgotten.
            now = now.plus(SIDE_BY_SIDE);
            debt.ask(&gcra, now);
            prop_assert!(!debt.is_edited());
            used = (used - SIDE_BY_SIDE.as_nanos() as f64 / gcra.interval().as_nanos() as f64).max(0.0);
        }
    }

    #[test]
    fn cfg_10_after_a_raise_no_caller_waits_longer(
        before in any_rate(QUICK), faster in 1..50_u64, more in 0..50_u64, wanted in 0..400_u64, after in 0..20_000_u64,
    ) {
        let raised = Gcra::new(Span::from_nanos(before.interval().as_nanos() / faster), before.burst() + more).unwrap();
        let mut debt = Debt::default();
        take(&mut debt, &before, EVENING, wanted);
        let now = EVENING.plus(Span::from_millis(after));
        let told = wait(&debt, &before, now);
        debt.ask(&raised, now);
        prop_assert!(wait(&debt, &raised, now) <= told);
    }

    #[test]
    fn caller_passes_after_the_wait_and_not_before(
        rates in prop::collection::vec(any_rate(QUICK), 2..4), wanted in 0..300_u64,
    ) {
        let mut debt = Debt::default();
        for gcra in &rates {
            take(&mut debt, gcra, EVENING, wanted);
        }
        let gcra = &rates[rates.len() - 1];
        let told = wait(&debt, gcra, EVENING);
        let passes = |now: Time| {
            let mut debt = debt.clone();
            debt.ask(gcra, now);
            debt.take(gcra, now, 1).is_ok()
        };
        prop_assert!(passes(EVENING.plus(told)));
        prop_assert!(told == Span::ZERO || !passes(EVENING.plus(told.saturating_sub(Span::from_nanos(3)))));
    }

    /// Isolates with several configurations ask side by side, take and lease tokens, give some back
    /// to themselves, and spend them as late as they may.
    #[test]
    fn cfg_10_no_window_admits_more_than_the_larger_of_both(
        rates in prop::collection::vec(any_rate(QUICK), 2..4),
        steps in prop::collection::vec((0..4_usize, 0..6_u8, 0..1_500_u64), 1..120),
    ) {
        let mut debt = Debt::default();
        let mut now = EVENING;
        let mut held: Vec<(usize, Lease)> = Vec::new();
        let mut asked = vec![EVENING; rates.len()];
        let mut admitted: Vec<Time> = Vec::new();
        for (which, action, millis) in steps {
            let which = which % rates.len();
            let gcra = &rates[which];
            match action {
                0 => now = now.plus(Span::from_millis(millis)),
                // A restart; isolates keep their tokens.
                1 if millis < 100 => debt = restored(&debt, now),
                2 => {
                    debt.ask(gcra, now);
                    asked[which] = now;
                    let wish = Wish { ahead: 1 + millis % 40, waiting: 0 };
                    let slots = grant(gcra, debt.tat(), now, wish, 1, HORIZON).filter(|_| debt.lends(now));
                    if let Some(slots) = slots {
                        debt.give(slots.tat, slots.count, now);
                        held.push((which, Lease::new(slots.first, slots.count, now, now)));
                    }
                }
                3 => {
                    // Taken for a request that another limit refused: back in hand.
                    debt.ask(gcra, now);
                    asked[which] = now;
                    let slot = debt.next_slot(now);
                    if take(&mut debt, gcra, now, 1) == 1 {
                        held.push((which, Lease::new(slot, 1, now, now)));
                    }
                }
                4 => {
                    for (which, lease) in &mut held {
                        if now < asked[*which].plus(SIDE_BY_SIDE) {
                            while lease.spend(&rates[*which], 1, now).is_some() {
                                admitted.push(now);
                            }
                        }
                    }
                }
                _ => {
                    asked[which] = now;
                    let taken = take(&mut debt, gcra, now, 1 + millis % 30);
                    admitted.extend((0..taken).map(|_| now));
                }
            }
        }
        let burst = rates.iter().map(Gcra::burst).max().unwrap();
        let interval = rates.iter().map(Gcra::interval).min().unwrap();
        for (first, from) in admitted.iter().enumerate() {
            for (last, to) in admitted.iter().enumerate().skip(first) {
                let count = (last - first + 1) as u64;
                let least = interval.times(count.saturating_sub(burst));
                prop_assert!(least <= to.since(*from), "{} within {} of {:?}", count, to.since(*from), rates);
            }
        }
    }
}
