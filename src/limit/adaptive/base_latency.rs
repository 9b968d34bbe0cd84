//! Learns the base latency: the mean latency of requests that meet no queue.

use crate::limit::adaptive::follow::{NOISY, PROBE_SOON, QUEUEING};
use crate::limit::adaptive::state::{AdaptiveCap, MAX_CONFIDENCE, Phase, ROOM};
use crate::limit::adaptive::window::WindowStats;

impl AdaptiveCap {
    /// Learns from a window without a queue, measured under `cap`. `used` tells whether that cap
    /// was in use.
    pub(super) fn measure(&mut self, window: &WindowStats, used: bool, cap: f64) {
        let noise = window.noise();
        let latency = window.mean_latency;
        let free = self.is_without_queue(window, used, cap);
        // A smaller dip while the cap is in use is chance. To follow each one would lower the base
        // latency for ever.
        let dip = latency < self.base_latency * (1.0 - 2.0 * ROOM - noise) && window.succeeded >= NOISY;
        if !free && !dip {
            return;
        }
        if dip {
            // Half of the window may be about the time before, and the cap was right for that time.
            (self.confidence, self.deep) = (0.0, true);
            self.windows_since_measured = self.windows_since_measured.max(PROBE_SOON);
        }
        let before = self.base_latency;
        self.base_latency += (latency - before) * window.succeeded / (window.succeeded + self.confidence);
        self.confidence = if before == 0.0 { 0.0 } else { (self.confidence + window.succeeded).min(MAX_CONFIDENCE) };
        if free {
            // A result that differs from the one before is measured again soon.
            let settled = (self.base_latency / before - 1.0).abs() < ROOM / 2.0 + noise;
            self.windows_since_measured = if settled { 0 } else { PROBE_SOON };
            // The queue has become shorter, and may still be there.
            self.deep = !settled && self.base_latency < before;
        }
    }

    /// Replaces the base latency by the latency of `window`.
    pub(super) fn set_base_latency(&mut self, window: &WindowStats) {
        self.base_latency = window.mean_latency;
        self.confidence = window.succeeded.min(MAX_CONFIDENCE);
    }

    /// Whether the requests of `window` met no queue.
    fn is_without_queue(&self, window: &WindowStats, used: bool, cap: f64) -> bool {
        let noise = window.noise();
        let latency = window.mean_latency;
        match self.phase {
            Phase::Start | Phase::Suspect => {
                self.confidence < MAX_CONFIDENCE || latency < self.base_latency * (QUEUEING + noise)
            }
            // If fewer requests are slower, the origin itself has changed. `follow` finds that out.
            Phase::Probe(windows) => {
                windows > 0
                    && latency < (self.usual_latency * (1.0 + noise)).min(self.base_latency * (QUEUEING + 2.0 * noise))
            }
            // At the floor there can be no queue but the floor's own.
            Phase::Follow | Phase::Recover(_) => !used || cap <= self.floor,
        }
    }
}
