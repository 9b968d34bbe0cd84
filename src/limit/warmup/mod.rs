//! Warm-up: a `global` rate that opens slowly after a cold start, or after it was raised.
//!
//! - `ramp`: how fast the rate opens, as arithmetic.
//! - `saved`: the part of the state that an actor keeps on disk.
//!
//! A bucket that warms up lives in a time of its own, *ramp time*. Ramp time passes at a part of
//! the true pace: at a tenth after a cold start, at old rate / new rate after a raise, and at the
//! full pace in the end. In ramp time the bucket is like any other. From the start of a ramp to any
//! moment, it therefore admits at most:
//!
//! > the part of the burst that the ramp begins with + the tokens that the ramp has let in since
//!
//! The lag of ramp time behind true time is added to the bucket's TAT, as slots that nobody gets. A
//! TAT still only grows, and each slot is still given away once. A warm-up therefore never admits
//! more than the limit allows, only less.

mod ramp;
mod saved;

pub use ramp::Ramp;
pub use saved::SavedWarmup;

use crate::limit::gcra::Gcra;
use crate::limit::lease::PREPAY_DIVISOR;
use crate::limit::time::{Span, Time};

/// The longest ramp.
pub const LONGEST: Span = Span::from_secs(10 * 60);

/// A cold start begins at one part in `COLD_PART` of the rate and of the burst.
const COLD_PART: u64 = 10;

/// A bucket that no request has asked for in this time is cold. A rate that no isolate has asked
/// for in this time belongs to an old configuration.
const FORGOTTEN_AFTER: Span = Span::from_secs(60);

/// How often the state of a bucket in use is saved. A saved bucket may have been in use
/// for this much longer than its row says.
const SAVE_EVERY: Span = Span::from_secs(30);

/// The warm-up state of one bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// The last ramp; it may be over.
    ramp: Ramp,
    /// The time up to which the lag of ramp time has been added to the TAT.
    lag_added_until: Time,
    /// When the bucket was last asked for.
    last_asked: Time,
    /// When it was last asked for at the rate that the ramp ends with.
    last_asked_at_end_rate: Time,
    /// When the state was last saved.
    saved_at: Time,
}

/// The result of [`Warmup::advance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupStep {
    /// The bucket's new warm-up state.
    pub warmup: Warmup,
    /// The bucket's new TAT, not earlier than before.
    pub tat: Time,
    /// The state to save before any token is handed out; `None` if no save is due.
    pub save: Option<SavedWarmup>,
    /// Whether a ramp starts. The TAT has to be saved too then.
    pub ramp_starts: bool,
}

impl Warmup {
    /// Restores the state that an earlier life of the actor saved.
    pub fn restore(saved: SavedWarmup, now: Time) -> Warmup {
        let SavedWarmup { ramp, last_asked } = saved;
        // No time may lie in the future, since the clock may have stepped back since the save. The
        // lag since the save is added once more: a crash may cost admissions, and never gives any.
        let ramp = Ramp { start: ramp.start.min(now), length: ramp.length.min(LONGEST), ..ramp };
        let (saved_at, asked) = (last_asked.min(now), last_asked.plus(SAVE_EVERY).min(now));
        Warmup { ramp, lag_added_until: saved_at, last_asked: asked, last_asked_at_end_rate: asked, saved_at }
    }

    /// Brings the bucket up to `now`, when a request of `cost` tokens asks for it: adds the lag of
    /// ramp time to its TAT `tat`, and starts a ramp of `length` if the bucket is cold or `gcra` is
    /// faster than its last rate. `known` is `None` for a bucket without warm-up state.
    pub fn advance(known: Option<Warmup>, gcra: &Gcra, length: Span, tat: Time, now: Time, cost: u64) -> WarmupStep {
        let interval = gcra.interval();
        let (warmup, open_part) = Warmup::current(known, gcra, length, tat, now, cost);
        let lag_from = warmup.lag_added_until;
        let lag = now.since(lag_from).saturating_sub(warmup.ramp.ramp_time(gcra, lag_from, now));
        let mut step = WarmupStep {
            warmup: Warmup { lag_added_until: now, last_asked: now, ..warmup },
            tat,
            save: None,
            ramp_starts: open_part < 1.0,
        };
        if tat > lag_from {
            step.tat = tat.plus(lag);
        }
        if step.ramp_starts {
            let missing = Span::from_nanos((gcra.capacity().as_nanos() as f64 * (1.0 - open_part)) as u64);
            // One request passes, however small the bucket is.
            let most = gcra.capacity().saturating_sub(interval.times(cost));
            step.tat = step.tat.max(now.plus(missing.min(most)));
        }
        if interval == warmup.ramp.end_interval {
            step.warmup.last_asked_at_end_rate = now;
        }
        if step.ramp_starts || now.since(warmup.saved_at) >= SAVE_EVERY {
            step.warmup.saved_at = now;
            step.save = Some(SavedWarmup { ramp: warmup.ramp, last_asked: now });
        }
        step
    }

    /// The state at `now` before the lag is added, and the part of the burst that the bucket begins
    /// with: below 1 if a ramp starts.
    fn current(known: Option<Warmup>, gcra: &Gcra, length: Span, tat: Time, now: Time, cost: u64) -> (Warmup, f64) {
        let interval = gcra.interval();
        match known {
            Some(warmup) if now.since(warmup.wanted_until(gcra, tat, cost)) < FORGOTTEN_AFTER => {
                let end_interval = warmup.ramp.end_interval;
                if interval < end_interval {
                    // The rate was raised: the ramp goes on from the rate that is in force now.
                    let from = Span::from_nanos(warmup.ramp.interval_at(now) as u64).max(interval);
                    let open_part = interval.as_nanos() as f64 / from.as_nanos() as f64;
                    (Warmup::start(from, interval, length, now), open_part)
                } else if interval > end_interval && now.since(warmup.last_asked_at_end_rate) >= FORGOTTEN_AFTER {
                    // The rate was lowered. Until now, an isolate of the old version might have
                    // asked.
                    (warmup.with_open_rate(interval), 1.0)
                } else {
                    (warmup, 1.0)
                }
            }
            // The bucket was in use while its limit had no warm-up: it is warm.
            None if now.since(tat) < FORGOTTEN_AFTER => {
                (Warmup::start(interval, interval, length, now).with_open_rate(interval), 1.0)
            }
            _ => (Warmup::start(interval.times(COLD_PART), interval, length, now), 1.0 / COLD_PART as f64),
        }
    }

    /// The form for the disk.
    pub fn saved(&self) -> SavedWarmup {
        SavedWarmup { ramp: self.ramp, last_asked: self.last_asked }
    }

    /// How long it takes from `now` until ramp time has passed by `span`: `span` or longer.
    pub fn real_span(&self, gcra: &Gcra, now: Time, span: Span) -> Span {
        self.ramp.real_span(gcra, now, span)
    }

    /// The number of slots that may be leased of the bucket whose TAT is `tat`; [`u64::MAX`] once
    /// the ramp is over.
    ///
    /// Slots are leased up to min(`horizon`, τ / 2) beyond a full debt, so that they outlast their
    /// way to the holder. While the bucket warms up, only pace × that span is leased.
    pub fn leasable_slots(&self, gcra: &Gcra, tat: Time, now: Time, horizon: Span) -> u64 {
        let Some(pace) = self.ramp.pace(gcra, now) else { return u64::MAX };
        let lead = horizon.as_nanos().min(gcra.tolerance().as_nanos() / 2);
        let lead = Span::from_nanos((lead as f64 * pace.now) as u64);
        let free = gcra.capacity().plus(lead).saturating_sub(tat.since(now));
        free.as_nanos().checked_div(gcra.interval().as_nanos()).unwrap_or(0) / PREPAY_DIVISOR
    }

    /// When the row of `saved` may be deleted, since the bucket is cold by then.
    pub fn cold_at(saved: &SavedWarmup) -> Time {
        saved.last_asked.plus(SAVE_EVERY).plus(FORGOTTEN_AFTER)
    }

    /// A ramp that starts at `now`.
    fn start(start_interval: Span, end_interval: Span, length: Span, now: Time) -> Warmup {
        Warmup {
            ramp: Ramp { start: now, length, start_interval, end_interval },
            lag_added_until: now,
            last_asked: now,
            last_asked_at_end_rate: now,
            saved_at: now,
        }
    }

    /// This state with a ramp that is over and ends with `interval`. It is due to be saved.
    fn with_open_rate(self, interval: Span) -> Warmup {
        let ramp = Ramp { start: Time::default(), end_interval: interval, ..self.ramp };
        Warmup { ramp, saved_at: Time::default(), ..self }
    }

    /// When the bucket was last asked for. A caller that knows that there is no room for `cost`
    /// until later does not ask before; it counts as asking until there is room.
    fn wanted_until(&self, gcra: &Gcra, tat: Time, cost: u64) -> Time {
        let room_at = tat.plus(gcra.interval().times(cost)).minus(gcra.capacity());
        let since = self.lag_added_until;
        self.last_asked.max(since.plus(self.real_span(gcra, since, room_at.since(since))))
    }
}
