//! Records samples, and resizes the cap after each window.

use crate::limit::adaptive::state::{AdaptiveCap, Descent, Phase, ROOM};
use crate::limit::adaptive::window::{Sample, WindowStats};
use crate::limit::time::Time;

/// A latency above the base latency by this factor is a sign of a queue.
pub(super) const QUEUEING: f64 = 1.2;

/// In the start, the cap grows at most to this multiple of the requests that were in flight. They
/// were counted a window and a half ago.
const MAX_OVERSHOOT: f64 = 3.0;

/// A larger part of failures lowers the cap. Some origins always have a few.
const FAILING: f64 = 0.1;

/// The part of a small difference that is followed at once.
const GAIN: f64 = 0.6;

/// The mean of this many requests is followed half as far as the mean of very many.
pub(super) const NOISY: f64 = 100.0;

/// The largest factor on growth, after a long time without a sign of a queue.
const MAX_BOOST: f64 = 5.0;

/// The number of windows in use after which the base latency is measured again.
pub(super) const PROBE_AFTER: u32 = 24;

/// The window number to go on from after a doubtful measurement, so that the next one comes soon.
pub(super) const PROBE_SOON: u32 = 20;

impl AdaptiveCap {
    /// Records an isolate's sample. Returns whether the cap may have changed.
    pub fn record(&mut self, sample: &Sample, now: Time) -> bool {
        self.window.add(sample, now);
        let Some(window) = self.window.close(now) else { return false };
        self.follow(&window);
        self.size = self.size.clamp(self.floor, self.ceiling);
        true
    }

    /// Resizes the cap after a window.
    ///
    /// The `fit` is the new cap that the window's latency asks for, as a part of the cap in force
    /// then: base latency × (1 + [`ROOM`]) / latency.
    fn follow(&mut self, window: &WindowStats) {
        let cap = window.cap.max(1.0);
        if window.failed > FAILING {
            // The latency of the other requests says little about a queue then.
            self.back_off(window, cap);
            return;
        }
        // A cap counts as used if half of it was in flight; with refusals, a quarter. Refusals by
        // themselves may be of a cap that was raised long ago.
        let parts = if window.refused { 4.0 } else { 2.0 };
        let peak = window.mean_in_flight.max(window.max_in_flight);
        let used = peak * parts >= cap;
        self.measure(window, used, cap);
        if let Phase::Probe(windows) = self.phase {
            // The first window is still about the time before the probe. The second one counts.
            self.phase = if windows == 0 { Phase::Probe(1) } else { Phase::Follow };
            return;
        }
        if !used {
            return;
        }
        let latency = window.mean_latency;
        let fit = (self.base_latency * (1.0 + ROOM) / latency.max(1.0)).clamp(0.5, 1.0 + 2.0 * ROOM);
        self.usual_latency =
            if self.usual_latency == 0.0 { latency } else { self.usual_latency + 0.3 * (latency - self.usual_latency) };
        self.resize(window, fit, cap, peak);
        self.doubt_descent(window, fit, cap);
        self.windows_since_measured = self.windows_since_measured.saturating_add(1);
        if self.windows_since_measured >= PROBE_AFTER && self.phase == Phase::Follow {
            self.windows_since_measured = 0;
            self.phase = Phase::Probe(0);
        }
    }

    /// Lowers the cap by half of the failing part.
    fn back_off(&mut self, window: &WindowStats, cap: f64) {
        if !matches!(self.phase, Phase::Recover(_)) {
            self.phase = Phase::Recover(self.size / 2.0);
        }
        self.size = self.size.min(cap * (1.0 - window.failed / 2.0));
        self.boost = 1.0;
    }

    /// Resizes a cap in use by the rule of its phase. `peak` is the number of requests in flight.
    fn resize(&mut self, window: &WindowStats, fit: f64, cap: f64, peak: f64) {
        let trust = window.succeeded / (window.succeeded + NOISY);
        let latency = window.mean_latency;
        match self.phase {
            Phase::Start | Phase::Suspect if latency < self.base_latency * (QUEUEING + window.noise()) => {
                // Bounded by the requests in flight, or it would be no cap when a load comes.
                self.size = (self.size * 2.0).min(self.size.max(peak * MAX_OVERSHOOT));
                self.phase = Phase::Start;
            }
            Phase::Start => self.phase = Phase::Suspect,
            Phase::Suspect => {
                self.size = self.size.min(cap * fit);
                self.phase = Phase::Follow;
                self.windows_since_measured = PROBE_SOON;
                self.deep = true;
            }
            Phase::Recover(to) if self.size < to && latency < self.base_latency * QUEUEING => {
                self.size = (self.size * 1.5).min(to);
            }
            // Far too large, or too large twice in a row. A smaller or single difference may be
            // chance.
            _ if fit < 1.0 - 2.0 * ROOM / trust || (self.low_fit < 1.0 && fit < 1.0 - ROOM / trust) => {
                self.cut(fit, cap);
            }
            _ => {
                self.phase = Phase::Follow;
                self.low_fit = if fit < 1.0 - ROOM / trust { fit } else { 1.0 };
                self.boost = if fit > 1.0 + ROOM / 2.0 / trust { (self.boost + 1.0).min(MAX_BOOST) } else { 1.0 };
                self.size *= 1.0 + GAIN * trust * (fit - 1.0) * (self.boost - 1.0).max(1.0);
            }
        }
    }

    /// Lowers the cap at once to where the measurement puts it.
    fn cut(&mut self, fit: f64, cap: f64) {
        self.phase = Phase::Follow;
        let fit = if self.low_fit < 1.0 { f64::midpoint(fit, self.low_fit) } else { fit };
        self.low_fit = 1.0;
        if !self.deep {
            self.windows_since_measured = self.windows_since_measured.min(PROBE_AFTER / 2);
        }
        self.usual_latency = 0.0;
        self.size = self.size.min(cap * fit);
        self.boost = 1.0;
    }

    /// Starts again if the cap is being lowered for nothing: the latency of a queue falls with the
    /// number of requests in flight, and the latency of a slower origin does not.
    fn doubt_descent(&mut self, window: &WindowStats, fit: f64, cap: f64) {
        let latency = window.mean_latency;
        let Some(descent) = self.descent else {
            self.descent = (fit < 1.0 - ROOM).then_some(Descent { slowest: latency, cap });
            return;
        };
        if fit >= 1.0 {
            self.descent = None;
        } else if latency >= descent.slowest {
            self.descent = Some(Descent { slowest: latency, cap });
        } else if (cap < descent.cap * 0.55 || cap <= self.floor) && latency > descent.slowest * 0.8 {
            self.restart(window);
        }
    }

    /// Takes the window's latency for the base latency, and starts like a new cap.
    fn restart(&mut self, window: &WindowStats) {
        self.set_base_latency(window);
        self.descent = None;
        self.phase = Phase::Start;
    }
}
