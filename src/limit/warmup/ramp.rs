//! The arithmetic of a ramp: how fast a rate opens, and how ramp time passes.

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};

/// Added to a real span for the parts that were rounded down on the way.
const ROUNDING: Span = Span::from_nanos(1_000);

/// A rate that grows linearly from one emission interval to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// When the ramp starts.
    pub start: Time,
    /// How long it takes.
    pub length: Span,
    /// The emission interval at its start.
    pub start_interval: Span,
    /// The emission interval at its end, and from then on.
    pub end_interval: Span,
}

/// How ramp time passes from some moment on: at the pace `now + gain × t` for `left` nanoseconds,
/// and then at the full pace.
pub(super) struct Pace {
    /// Ramp time per true time at the moment itself, below 1.
    pub now: f64,
    /// The growth of the pace per nanosecond.
    gain: f64,
    /// The nanoseconds until ramp time passes at the full pace.
    left: f64,
}

impl Ramp {
    /// The emission interval in force at `now`, in nanoseconds.
    pub(super) fn interval_at(&self, now: Time) -> f64 {
        let end = self.end_interval.as_nanos() as f64;
        let start = self.start_interval.as_nanos().max(1) as f64;
        let done = now.since(self.start).as_nanos() as f64 / self.length.as_nanos().max(1) as f64;
        if done >= 1.0 { end } else { 1.0 / (1.0 / start + (1.0 / end - 1.0 / start) * done) }
    }

    /// How ramp time passes for the bucket `gcra` from `now` on. `None` once it passes at the full
    /// pace.
    pub(super) fn pace(&self, gcra: &Gcra, now: Time) -> Option<Pace> {
        let interval = gcra.interval().as_nanos() as f64;
        let pace = interval / self.interval_at(now);
        let ramp_left = self.length.saturating_sub(now.since(self.start)).as_nanos() as f64;
        if pace >= 1.0 || ramp_left <= 0.0 {
            return None;
        }
        let gain = (interval / self.end_interval.as_nanos().max(1) as f64 - pace) / ramp_left;
        let left = ((1.0 - pace) / gain).min(ramp_left);
        (left != 0.0).then_some(Pace { now: pace, gain, left })
    }

    /// How far ramp time moves from `then` to `now`: now − then or less.
    pub(super) fn ramp_time(&self, gcra: &Gcra, then: Time, now: Time) -> Span {
        let real = now.since(then);
        let Some(pace) = self.pace(gcra, then) else { return real };
        let nanos = real.as_nanos() as f64;
        let slow = nanos.min(pace.left);
        Span::from_nanos((pace.passed(slow) + (nanos - slow)) as u64).min(real)
    }

    /// How long it takes from `now` until ramp time has moved by `span`: `span` or longer. The
    /// inverse of [`ramp_time`](Ramp::ramp_time), rounded up.
    pub(super) fn real_span(&self, gcra: &Gcra, now: Time, span: Span) -> Span {
        let Some(pace) = self.pace(gcra, now).filter(|_| span != Span::ZERO) else { return span };
        let span = span.as_nanos() as f64;
        let passed_by_end = pace.passed(pace.left);
        let real = if span < passed_by_end {
            2.0 * span / (pace.now + (pace.now * pace.now + 2.0 * pace.gain * span).sqrt())
        } else {
            pace.left + (span - passed_by_end)
        };
        Span::from_nanos(real as u64).plus(ROUNDING)
    }
}

impl Pace {
    /// How far ramp time moves in the next `nanos` nanoseconds, at most `left`.
    fn passed(&self, nanos: f64) -> f64 {
        nanos * (self.now + self.gain * nanos / 2.0)
    }
}
