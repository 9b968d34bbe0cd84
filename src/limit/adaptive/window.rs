//! Adds up the samples of all isolates over a few seconds.

use crate::limit::time::{Span, Time};

/// The shortest window: about the time between two reports of an isolate, so that each isolate has
/// reported once.
const SHORTEST: Span = Span::from_millis(2_500);

/// A window with too few requests is closed after this time all the same.
const LONGEST: Span = Span::from_secs(10);

/// With this many requests a window need not wait for more. If the deviation of latencies equals
/// their mean, the mean of so many is off by one part in fourteen.
const ENOUGH: f64 = 200.0;

/// An isolate's report on the requests that ended since its last one.
///
/// It has no minimum latency. A minimum is luck, and the same for an idle origin as for a crowded
/// one; beside it, every ordinary request looks slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Requests that the origin answered, or that were given up.
    pub ended: u64,
    /// The number of them that failed: with a 5xx, a timeout, or no connection.
    pub failed: u64,
    /// The mean latency of the others. Failures do not count, since they may be quicker or slower
    /// than any real answer.
    pub mean_latency: Span,
    /// The most requests that were at the origin at once, as far as is known: of this isolate, or
    /// of this isolate and the last reports of the others.
    pub max_in_flight: u64,
    /// Requests that found the cap reached.
    pub refused: u64,
    /// The cap that the isolate knew, which is the one that these requests met.
    pub cap: u64,
}

/// The samples of the current window, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    start: Time,
    succeeded: f64,
    failed: f64,
    /// The sum of the latencies, in nanoseconds.
    latency_sum: f64,
    max_in_flight: f64,
    refused: u64,
    /// The sum over all requests of the cap that each met.
    cap_sum: f64,
}

/// A closed window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowStats {
    /// The number of requests that did not fail.
    pub succeeded: f64,
    /// The part of all requests that failed, from 0 to 1.
    pub failed: f64,
    /// The mean latency of the requests that did not fail, in nanoseconds.
    pub mean_latency: f64,
    /// The mean number of requests at the origin. By Little's law it is arrivals × latency, a sum
    /// over isolates that does not need to know which isolates there are.
    pub mean_in_flight: f64,
    /// The most requests at the origin at once, as far as any sample said.
    pub max_in_flight: f64,
    /// Whether any request found the cap reached.
    pub refused: bool,
    /// The mean of the caps that the requests met.
    pub cap: f64,
}

impl Window {
    /// Adds a sample, which arrives at `now`.
    pub(super) fn add(&mut self, sample: &Sample, now: Time) {
        if self.succeeded + self.failed == 0.0 && now.since(self.start) > LONGEST {
            self.start = now.minus(SHORTEST);
        }
        let failed = sample.failed.min(sample.ended);
        let succeeded = sample.ended.saturating_sub(failed) as f64;
        self.succeeded += succeeded;
        self.failed += failed as f64;
        self.latency_sum += succeeded * sample.mean_latency.as_nanos() as f64;
        self.max_in_flight = self.max_in_flight.max(sample.max_in_flight as f64);
        self.cap_sum += sample.ended as f64 * sample.cap as f64;
        self.refused = self.refused.saturating_add(sample.refused);
    }

    /// Closes the window and begins the next one. `None` if the window is not over at `now`.
    pub(super) fn close(&mut self, now: Time) -> Option<WindowStats> {
        let length = now.since(self.start);
        let ended = self.succeeded + self.failed;
        if ended == 0.0 || length < SHORTEST || (ended < ENOUGH && length < LONGEST) {
            return None;
        }
        let mean_latency = self.latency_sum / self.succeeded.max(1.0);
        let stats = WindowStats {
            succeeded: self.succeeded,
            failed: self.failed / ended,
            mean_latency,
            mean_in_flight: ended * mean_latency / length.as_nanos() as f64,
            max_in_flight: self.max_in_flight,
            refused: self.refused > 0,
            cap: self.cap_sum / ended,
        };
        *self = Window { start: now, ..Window::default() };
        Some(stats)
    }
}

impl WindowStats {
    /// How far the mean latency may be off by chance, as a part of itself, if the deviation of
    /// latencies is twice their mean.
    pub(super) fn noise(&self) -> f64 {
        (4.0 / self.succeeded.max(1.0)).sqrt()
    }
}
