//! The state of an adaptive cap.

use crate::limit::adaptive::saved::SavedCap;
use crate::limit::adaptive::window::Window;
use crate::limit::time::Span;

/// How far above the knee the cap is kept, as a part of the knee.
pub(super) const ROOM: f64 = 0.1;

/// The factor by which a probe lowers the cap: from [`ROOM`] above the knee to a little below it.
const PROBE: f64 = 0.8;

/// The factor by which a deep probe lowers it, when the cap may be far above the knee.
const DEEP_PROBE: f64 = 0.65;

/// The largest number of requests that the base latency rests on. A window of as many requests then
/// counts for half. With a larger number, a changed origin would be noticed later.
pub(super) const MAX_CONFIDENCE: f64 = 400.0;

/// The rule by which the cap is resized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// The cap doubles.
    Start,
    /// The start has seen one sign of a queue. A second one in a row ends it.
    Suspect,
    /// The cap follows the latency.
    Follow,
    /// Failures have lowered the cap. It grows back quickly, up to this size: half of the old one.
    Recover(f64),
    /// The cap is lowered to measure the base latency, since this number of windows.
    Probe(u32),
}

/// The slowest window of a descent, in which the cap is lowered from window to window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    /// The mean latency of the slowest window, in nanoseconds.
    pub(super) slowest: f64,
    /// The cap in that window.
    pub(super) cap: f64,
}

/// A cap that adapts to its origin: floor ≤ cap ≤ ceiling.
#[derive(Clone, Debug)]
pub struct AdaptiveCap {
    pub(super) floor: f64,
    pub(super) ceiling: f64,
    /// The cap, except that a probe uses less of it.
    pub(super) size: f64,
    pub(super) window: Window,
    pub(super) phase: Phase,

    /// The mean latency without a queue, in nanoseconds; zero before the first measurement.
    pub(super) base_latency: f64,
    /// The number of requests that `base_latency` rests on, at most [`MAX_CONFIDENCE`]. Zero after
    /// the first window, which contains only the requests that were quick enough to end in it.
    pub(super) confidence: f64,
    /// The moving mean of the latency over windows in use, in nanoseconds; zero if there is none
    /// yet.
    pub(super) usual_latency: f64,
    /// The number of windows in use since the base latency was measured. At
    /// `PROBE_AFTER` it is measured again; a doubtful measurement sets the
    /// number higher than zero, so that the next one comes sooner.
    pub(super) windows_since_measured: u32,
    /// Whether the next probe is a deep one.
    pub(super) deep: bool,

    /// The factor on growth while there is no sign of a queue, from 1 up.
    pub(super) boost: f64,
    /// The last window's fit, if it was far too low; else 1. See [`follow`](AdaptiveCap::follow).
    pub(super) low_fit: f64,
    /// The slowest window since the cap began to be lowered; `None` while it is not being lowered.
    pub(super) descent: Option<Descent>,
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
}
