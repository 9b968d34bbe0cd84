//! The actor's side of a lease: how many slots it grants, and for how long they should last.

use crate::limit::gcra::Gcra;
use crate::limit::lease::bounds::{HORIZON, LONGEST_HORIZON, PREPAY_DIVISOR};
use crate::limit::time::{Span, Time};

/// The shortest useful hold: a grant has to outlast its own way to the holder. A bucket whose τ is
/// too short for that is not leased from, and each of its requests asks the actor.
const SHORTEST_HOLD: Span = Span::from_millis(20);

/// The calls per second above which an actor stretches its horizon. An actor can serve about 1,000.
const MAX_CALLS_PER_SEC: u64 = 400;

/// How often an actor adapts its horizon.
const WINDOW: Span = Span::from_millis(500);

/// A slice of a bucket's schedule, given to a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantedSlots {
    /// How far the first slot lies ahead of the actor's now.
    pub first: Span,
    /// The number of slots, one interval apart.
    pub count: u64,
    /// The bucket's TAT after the grant.
    pub tat: Time,
}

/// How far leases may move a bucket's TAT beyond a full debt, if a request costs `cost` tokens. If
/// a holder is lost, a caller may have to wait for so much longer.
///
/// A lease is at most one part in [`PREPAY_DIVISOR`] of the slots up to the hold beyond a full
/// debt, so one of a single slot leaves seven others. Zero for a bucket with longer intervals, and
/// for one that is not [`leasable`]: its callers never wait longer than burst × interval.
pub fn max_lead(gcra: &Gcra, cost: u64) -> Span {
    let hold = hold_within(gcra, LONGEST_HORIZON).filter(|_| leasable(gcra, cost)).unwrap_or_default();
    hold.saturating_sub(gcra.interval().times(PREPAY_DIVISOR.saturating_sub(1)))
}

/// Whether tokens may be leased for requests of `cost` tokens: two of them fit into a burst, and a
/// slot can be held for long enough to be worth it.
pub fn leasable(gcra: &Gcra, cost: u64) -> bool {
    cost <= gcra.burst() / 2 && hold_within(gcra, HORIZON).is_some()
}

/// How long a slice may be held before it is spent: `min(horizon, τ / 2)`. Its slots begin that far
/// ahead of now, so that they are still good when they are spent. In return, a leased bucket stays
/// that far in debt. `None` if the bucket is too small to be leased from.
fn hold_within(gcra: &Gcra, horizon: Span) -> Option<Span> {
    let hold = horizon.min(Span::from_nanos(gcra.tolerance().as_nanos() / 2));
    (hold >= SHORTEST_HOLD).then_some(hold)
}

/// The number of tokens that a holder would like to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Tokens to spend later, without asking.
    pub ahead: u64,
    /// Tokens for requests that wait for this very answer. Isolates leave one of the two at zero.
    /// If both are set, the larger number is granted, from the next slots.
    pub waiting: u64,
}

/// Grants slots of the bucket whose TAT is `tat` in reply to `wish`. `None` if there is nothing to
/// grant.
///
/// - Slots to spend later: at most one part in [`PREPAY_DIVISOR`] of the free slots, counted up to
///   the hold beyond a full debt.
/// - Slots for waiting requests: the next slots, all free ones if need be. The requests get exactly
///   the slots that they would have got one by one.
///
/// The count is a multiple of `per_request`, the cost of one request. Left-over tokens too few for
/// a request could not be spent; a caller that asks again and again would get some each time, and
/// never enough.
pub fn grant(gcra: &Gcra, tat: Time, now: Time, wish: Wish, per_request: u64, horizon: Span) -> Option<GrantedSlots> {
    let hold = hold_within(gcra, horizon)?;
    let full_debt = now.plus(gcra.capacity());
    let (start, end, divisor) = if wish.waiting > 0 {
        (tat.max(now), full_debt, 1)
    } else {
        (tat.max(now.plus(hold)), full_debt.plus(hold), PREPAY_DIVISOR)
    };
    let free = end.since(start).as_nanos().checked_div(gcra.interval().as_nanos())?;
    let most = wish.ahead.max(wish.waiting).min(free.checked_div(divisor)?);
    let count = most.checked_div(per_request)?.saturating_mul(per_request);
    if count == 0 {
        return None;
    }
    Some(GrantedSlots { first: start.since(now), count, tat: start.plus(gcra.interval().times(count)) })
}

/// How long an actor's grants should last. The horizon grows while the actor has too many calls,
/// and shrinks again when they become fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    span: Span,
    window_start: Time,
    /// The calls since `window_start`.
    calls: u64,
}

impl Default for Horizon {
    fn default() -> Horizon {
        Horizon { span: HORIZON, window_start: Time::default(), calls: 0 }
    }
}

impl Horizon {
    /// Records a call at `now`, and returns the horizon for its grants:
    /// [`HORIZON`] ≤ horizon ≤ [`LONGEST_HORIZON`].
    pub fn record_call(&mut self, now: Time) -> Span {
        let elapsed = now.since(self.window_start);
        if elapsed >= WINDOW {
            let allowed = MAX_CALLS_PER_SEC.saturating_mul(elapsed.as_millis()) / 1_000;
            self.span = if self.calls > allowed {
                let stretch = (self.calls as f64 / allowed.max(1) as f64).min(4.0);
                Span::from_nanos((self.span.as_nanos() as f64 * stretch) as u64).min(LONGEST_HORIZON)
            } else {
                Span::from_nanos(self.span.as_nanos() / 10).times(9).max(HORIZON)
            };
            self.window_start = now;
            self.calls = 0;
        }
        self.calls = self.calls.saturating_add(1);
        self.span
    }
}
