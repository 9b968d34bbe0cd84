//! What all isolates have seen of an origin within a few seconds.

use crate::limit::time::{Span, Time};

/// A window is at least this long: about as long as an isolate takes to report, so that each has reported once.
const SHORTEST: Span = Span::from_millis(2_500);

/// A window that still has too few requests is closed after this time.
const LONGEST: Span = Span::from_secs(10);

/// With as many requests a window need not wait for more: a mean of as many is off by a fourteenth where latency is as variable as
/// it is long.
const ENOUGH: f64 = 200.0;

/// What one isolate has seen since it last reported. The smallest latency is not in it: that is luck, the same when the origin is idle
/// and when it is crowded, and whoever measures against it takes every ordinary request for a slow one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Requests that came back from the origin, or were given up.
    pub ended: u64,
    /// How many of these failed: with a 5xx, a timeout, or no connection.
    pub failed: u64,
    /// The mean latency of those that did not fail. A failure may be quicker or slower than anything the origin does in earnest.
    pub mean: Span,
    /// The most that were at the origin at once, as far as is known: here, or here and what others last told.
    pub highest: u64,
    /// Requests that found the cap reached.
    pub refused: u64,
    /// The cap that this isolate was last told of: the one that these requests met.
    pub under: u64,
}

/// The samples of one window, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    since: Time,
    good: f64,
    failed: f64,
    /// The sum of the latencies, in nanoseconds.
    busy: f64,
    highest: f64,
    refused: u64,
    /// The sum of the caps that the requests met.
    under: f64,
}

/// A closed window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Requests that did not fail.
    pub good: f64,
    /// The part of all that failed.
    pub failed: f64,
    /// The mean latency of those that did not, in nanoseconds.
    pub mean: f64,
    /// How many were at the origin on average: by Little's law arrivals × latency, which adds up over isolates without
    /// knowing which they are.
    pub in_flight: f64,
    /// The most that were there at once, as far as anybody told.
    pub highest: f64,
    pub refused: bool,
    /// The cap that they met, on average.
    pub base: f64,
}

impl Window {
    pub(super) fn add(&mut self, sample: &Sample, now: Time) {
        if self.good + self.failed == 0.0 && now.since(self.since) > LONGEST {
            self.since = now.minus(SHORTEST);
        }
        let failed = sample.failed.min(sample.ended);
        let good = sample.ended.saturating_sub(failed) as f64;
        self.good += good;
        self.failed += failed as f64;
        self.busy += good * sample.mean.as_nanos() as f64;
        self.highest = self.highest.max(sample.highest as f64);
        self.under += sample.ended as f64 * sample.under as f64;
        self.refused = self.refused.saturating_add(sample.refused);
    }

    /// What was seen, if the window is over. The next one begins.
    pub(super) fn close(&mut self, now: Time) -> Option<Seen> {
        let span = now.since(self.since);
        let all = self.good + self.failed;
        if all == 0.0 || span < SHORTEST || (all < ENOUGH && span < LONGEST) {
            return None;
        }
        let mean = self.busy / self.good.max(1.0);
        let seen = Seen {
            good: self.good,
            failed: self.failed / all,
            mean,
            in_flight: all * mean / span.as_nanos() as f64,
            highest: self.highest,
            refused: self.refused > 0,
            base: self.under / all,
        };
        *self = Window { since: now, ..Window::default() };
        Some(seen)
    }
}
