//! What the keeper of a bucket gives away.

use crate::limit::gcra::Gcra;
use crate::limit::lease::{HORIZON, LONGEST_HORIZON, SHARE};
use crate::limit::time::{Span, Time};

/// A grant has to outlast its own way to the holder. Where τ is too short for that, each request asks.
const SHORTEST_HOLD: Span = Span::from_millis(20);

/// Calls per second that one actor should not exceed; it can serve about 1,000.
const CALLS: u64 = 400;

/// How often the horizon is looked at again.
const WINDOW: Span = Span::from_millis(500);

/// A slice of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// How far its first slot lies ahead of the keeper's now.
    pub first: Span,
    /// How many slots it has.
    pub count: u64,
    /// The bucket's TAT after it.
    pub tat: Time,
}

/// How far beyond a full debt a bucket's TAT may lie: what is leased of a schedule that has not begun. A caller may have to
/// wait for as much longer, if whoever holds it is lost.
///
/// Nothing where a request costs more than half a burst: so nobody waits for longer than burst × interval, and such requests are
/// never leased for.
pub fn ahead(gcra: &Gcra, cost: u64) -> Span {
    if leasable(gcra, cost) { hold(gcra, LONGEST_HORIZON).unwrap_or_default() } else { Span::ZERO }
}

/// Whether tokens may be held for requests that cost as much, for long enough to be worth it.
pub fn leasable(gcra: &Gcra, cost: u64) -> bool {
    cost <= gcra.burst() / 2 && hold(gcra, HORIZON).is_some()
}

/// How long a slice may lie before it is spent: its slots begin that far ahead, so that they are still good by then. The
/// price is that a leased bucket floats as much in debt. `None` where the bucket is too small to be leased from.
fn hold(gcra: &Gcra, horizon: Span) -> Option<Span> {
    let hold = horizon.min(Span::from_nanos(gcra.tolerance().as_nanos() / 2));
    (hold >= SHORTEST_HOLD).then_some(hold)
}

/// How many slots a holder would like to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// To spend later, without asking.
    pub ahead: u64,
    /// For requests that wait for this very answer; instead of the others.
    pub waiting: u64,
}

/// Grants what is wished for of the bucket whose TAT is `tat`, and as many slots as some requests of `each` tokens take. A rest too small for
/// a request could not be spent, and a caller who asks again and again would be given one each time, and wait for ever.
///
/// What is held ahead is at most a share of what is left and of a horizon ahead. Those who wait get what they would have got had
/// each of them asked: the next slots, up to all that are left.
pub fn grant(gcra: &Gcra, tat: Time, now: Time, wish: Wish, each: u64, horizon: Span) -> Option<Granted> {
    let hold = hold(gcra, horizon)?;
    let full = now.plus(gcra.capacity());
    let (start, end, share) =
        if wish.waiting > 0 { (tat.max(now), full, 1) } else { (tat.max(now.plus(hold)), full.plus(hold), SHARE) };
    let free = end.since(start).as_nanos().checked_div(gcra.interval().as_nanos())?;
    let most = wish.ahead.max(wish.waiting).min(free.checked_div(share)?);
    let count = most.checked_div(each)?.saturating_mul(each);
    if count == 0 {
        return None;
    }
    Some(Granted { first: start.since(now), count, tat: start.plus(gcra.interval().times(count)) })
}

/// How long an actor's grants should last: longer while it has too many calls, shorter again when they grow fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    span: Span,
    since: Time,
    calls: u64,
}

impl Default for Horizon {
    fn default() -> Horizon {
        Horizon { span: HORIZON, since: Time::default(), calls: 0 }
    }
}

impl Horizon {
    /// Notes a call at `now`; the horizon to go by.
    pub fn call(&mut self, now: Time) -> Span {
        let elapsed = now.since(self.since);
        if elapsed >= WINDOW {
            let allowed = CALLS.saturating_mul(elapsed.as_millis()) / 1_000;
            self.span = if self.calls > allowed {
                let stretch = (self.calls as f64 / allowed.max(1) as f64).min(4.0);
                Span::from_nanos((self.span.as_nanos() as f64 * stretch) as u64).min(LONGEST_HORIZON)
            } else {
                Span::from_nanos(self.span.as_nanos() / 10).times(9).max(HORIZON)
            };
            self.since = now;
            self.calls = 0;
        }
        self.calls = self.calls.saturating_add(1);
        self.span
    }
}
