//! A cap that finds its own size (`in_flight = "auto"`), from the latency of requests at the origin
//! and from how many of them fail.
//!
//! - `follow`: resizes the cap after each window.
//! - `base_latency`: learns the latency without a queue.
//! - `window`: adds up the reports of all isolates over a few seconds.
//! - `saved`: the part of the state that an actor keeps on disk.
//!
//! **The idea.** An origin that serves c requests at once takes the same time for each while there
//! are fewer. With more, the rest queue, and the mean latency grows in proportion. Wherever the cap
//! is reached, therefore:
//!
//! > c = cap × base latency / latency
//!
//! The base latency is the mean latency without a queue, and c is called the knee. TCP Vegas
//! (Brakmo and Peterson, 1994) and the gradient limiters after it use the same idea. The cap is
//! kept [`ROOM`] above the knee, since a cap at the knee would never notice that the origin can
//! take more.
//!
//! **Where such limiters go wrong, and the remedy here:**
//!
//! - *The base latency is a minimum.* If requests differ by nature, the quickest one says nothing
//!   about the others. Here it is a mean, measured while there can be no queue: while the cap is
//!   not used, and in a probe, which lowers the cap a little for two windows after a minute of use.
//! - *The base latency changes.* An origin may become slower without a queue. Latency that stays
//!   the same when fewer requests are at the origin does not come from a queue.
//! - *An idle cap drifts up.* The cap grows only while at least half of it is in use, or while
//!   requests are refused. Latency does not lower a cap that is not in use either.
//! - *The start is slow.* The cap doubles with each window in which it is used, until the first
//!   signs of a queue. Later it grows faster the longer there is no queue.
//! - *The cap oscillates.* Isolates report every few seconds, so the effect of a change shows late.
//!   Latency is compared with the cap that its isolate knew then, and small differences are
//!   followed only in part.
//! - *The cap wanders down.* Below the knee, latency says nothing about the cap. A base latency
//!   that is too low would therefore lower the cap for ever. A measurement counts even if it is
//!   high, unless it is higher than chance explains.

mod base_latency;
mod follow;
mod saved;
mod window;

pub use saved::SavedCap;
pub use window::Sample;

use crate::limit::time::{Span, Time};
use base_latency::MAX_CONFIDENCE;
use follow::{Descent, Phase};
use window::Window;

/// How far above the knee the cap is kept, as a part of the knee.
const ROOM: f64 = 0.1;

/// The factor by which a probe lowers the cap: from [`ROOM`] above the knee to a little below it.
const PROBE: f64 = 0.8;

/// The factor by which a deep probe lowers it, when the cap may be far above the knee.
const DEEP_PROBE: f64 = 0.65;

/// A cap that adapts to its origin: floor ≤ cap ≤ ceiling.
#[derive(Clone, Debug)]
pub struct AdaptiveCap {
    floor: f64,
    ceiling: f64,
    /// The cap, except that a probe uses less of it.
    size: f64,
    window: Window,
    phase: Phase,

    /// The mean latency without a queue, in nanoseconds; zero before the first measurement.
    base_latency: f64,
    /// The number of requests that `base_latency` rests on, at most [`MAX_CONFIDENCE`]. Zero after
    /// the first window, which contains only the requests that were quick enough to end in it.
    confidence: f64,
    /// The moving mean of the latency over windows in use, in nanoseconds; zero if there is none
    /// yet.
    usual_latency: f64,
    /// The number of windows in use since the base latency was measured. At
    /// [`PROBE_AFTER`](follow::PROBE_AFTER) it is measured again; a doubtful measurement sets the
    /// number higher than zero, so that the next one comes sooner.
    windows_since_measured: u32,
    /// Whether the next probe is a deep one.
    deep: bool,

    /// The factor on growth while there is no sign of a queue, from 1 up.
    boost: f64,
    /// The last window's fit, if it was far too low; else 1. See [`follow`](AdaptiveCap::follow).
    low_fit: f64,
    /// The slowest window since the cap began to be lowered; `None` while it is not being lowered.
    descent: Option<Descent>,
}

impl AdaptiveCap {
    /// A new cap between `floor` and `ceiling`, in requests. It starts at the floor.
    pub fn new(floor: u64, ceiling: u64) -> AdaptiveCap {
        let floor = floor.max(1) as f64;
        AdaptiveCap {
            floor,
            ceiling: (ceiling as f64).max(floor),
            size: floor,
            window: Window::default(),
            phase: Phase::Start,
            base_latency: 0.0,
            confidence: 0.0,
            usual_latency: 0.0,
            windows_since_measured: 0,
            deep: false,
            boost: 1.0,
            low_fit: 1.0,
            descent: None,
        }
    }

    /// A cap that goes on from the state that an earlier life of the actor saved.
    pub fn resume(floor: u64, ceiling: u64, saved: SavedCap) -> AdaptiveCap {
        let mut adaptive = AdaptiveCap::new(floor, ceiling);
        adaptive.size = (saved.cap as f64).clamp(adaptive.floor, adaptive.ceiling);
        adaptive.base_latency = saved.base_latency.as_nanos() as f64;
        adaptive.confidence = MAX_CONFIDENCE;
        adaptive.phase = Phase::Follow;
        adaptive
    }

    /// Sets the bounds, which a new configuration may have changed.
    pub fn set_bounds(&mut self, floor: u64, ceiling: u64) {
        self.floor = floor.max(1) as f64;
        self.ceiling = (ceiling as f64).max(self.floor);
        self.size = self.size.clamp(self.floor, self.ceiling);
    }

    /// The cap that holds now, in requests.
    pub fn cap(&self) -> u64 {
        let factor = match self.phase {
            Phase::Probe(_) if self.deep => DEEP_PROBE,
            Phase::Probe(_) => PROBE,
            _ => 1.0,
        };
        (self.size * factor).max(self.floor) as u64
    }

    /// The state to save, so that it survives an eviction; `None` while nothing has been measured.
    pub fn saved(&self) -> Option<SavedCap> {
        let base_latency = Span::from_nanos(self.base_latency as u64);
        (self.confidence > 0.0).then_some(SavedCap { cap: self.size as u64, base_latency })
    }

    /// Records an isolate's sample. Returns whether the cap may have changed.
    pub fn record(&mut self, sample: &Sample, now: Time) -> bool {
        self.window.add(sample, now);
        let Some(window) = self.window.close(now) else { return false };
        self.follow(&window);
        self.size = self.size.clamp(self.floor, self.ceiling);
        true
    }
}
