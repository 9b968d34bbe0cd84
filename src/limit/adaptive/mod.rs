//! An in-flight cap that finds itself, from what requests at the origin take and how many fail (`in_flight = "auto"`).
//!
//! An origin that serves c requests at once takes the same time for each while there are fewer; with more, the rest queue and the
//! mean latency grows in proportion. So where the cap is reached, cap × (latency without a queue / latency now) is c, the knee, whatever
//! the cap is. This is the idea of TCP Vegas (Brakmo and Peterson, 1994) and of the gradient limiters after it. The cap is
//! kept [`ROOM`] above the knee, or it would never find out that there is more to be had.
//!
//! Where such limiters go wrong, and what is done about it here:
//!
//! - *The latency without a queue* is a mean, never a minimum: of requests that naturally differ the quickest says nothing. It is measured
//!   where no queue can be: while the cap is not used, and by lowering it a little for two windows when it has been in use for a minute.
//! - *It may have changed*: an origin may have grown slower without being crowded. Latency that stays when there is less at the origin
//!   is no queue's.
//! - *An idle system drifts up*: the cap grows only where at least half of it is in use, or somebody was refused. Nor does latency lower a
//!   cap that is not in use.
//! - *It starts too slowly*: it doubles with each window, as far as that is used, until the first signs of a queue, and grows faster the longer there is none.
//! - *It oscillates*: isolates report every few seconds, so a change shows late. Latency is held against the cap
//!   that its isolate had been told of, and small differences are followed by half.
//! - *It wanders down*: below the knee latency says nothing of the cap, so one that thinks too little of the latency without a queue would lower it
//!   for ever. What is measured is never left out for being high, but for as much as chance cannot explain.

mod saved;
mod window;

pub use saved::SavedCap;
pub use window::Sample;

use crate::limit::time::{Span, Time};
use window::{Seen, Window};

/// How far above the knee the cap is kept: one part in ten.
const ROOM: f64 = 0.1;

/// Latency above the unqueued one by this factor ends the start.
const QUEUEING: f64 = 1.2;

/// How far beyond what was seen in use the start may go: what was seen is of a window and a half ago.
const FURTHEST: f64 = 3.0;

/// More failures than this part lower the cap. Some origins always have a few.
const FAILING: f64 = 0.1;

/// How much of a small difference is followed at once.
const GAIN: f64 = 0.6;

/// The mean of as many requests is followed by half as much as that of very many.
const NOISY: f64 = 100.0;

/// How many times faster the cap grows at most, when there has long been no sign of a queue.
const BOOST: f64 = 5.0;

/// What the cap is lowered to, to measure the latency without a queue: from [`ROOM`] above the knee to a little below it.
const PROBE: f64 = 0.8;

/// The same after the start, when it is not known how far above the knee the cap is.
const DEEP: f64 = 0.65;

/// After so many windows in use the unqueued latency is measured again.
const PROBE_AFTER: u32 = 24;

/// Where that count begins when what was measured is doubtful.
const SOON: u32 = 20;

/// A window of as many requests counts for half when the unqueued latency is measured.
const HALF_SURE: f64 = 400.0;

/// What an origin can take, as far as is known.
#[derive(Clone, Debug)]
pub struct AdaptiveCap {
    floor: f64,
    ceiling: f64,
    limit: f64,
    window: Window,
    /// The mean latency without a queue, in nanoseconds; zero before it was measured.
    level: f64,
    /// How many requests that rests on, at most [`HALF_SURE`]. The first window counts for nothing: it knows those alone that were quick.
    sure: f64,
    phase: Phase,
    boost: f64,
    /// What the last window said the cap should be, as a part of itself, where that was far too high; else one.
    low: f64,
    /// Whether the next measurement is the first after a start.
    deep: bool,
    /// The mean latency of the last windows in use.
    usual: f64,
    /// Windows in use since the unqueued latency was measured.
    unsure: u32,
    /// The slowest window since the cap began to be lowered: its mean latency, and the cap in force.
    descent: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubling.
    Start,
    /// The first sign of a queue. A second one in a row is believed.
    Sign,
    /// Following.
    Follow,
    /// Failures have lowered it: quickly back to so much, half of what it was.
    UnusedTokens(f64),
    /// The cap is lowered; so many windows ago.
    Probe(u32),
}

impl AdaptiveCap {
    /// A cap between `floor` and `ceiling`, nothing known yet: at the floor.
    pub fn new(floor: u64, ceiling: u64) -> AdaptiveCap {
        let floor = floor.max(1) as f64;
        AdaptiveCap {
            floor,
            ceiling: (ceiling as f64).max(floor),
            limit: floor,
            window: Window::default(),
            level: 0.0,
            sure: 0.0,
            phase: Phase::Start,
            boost: 1.0,
            low: 1.0,
            deep: false,
            usual: 0.0,
            unsure: 0,
            descent: None,
        }
    }

    /// Goes on from what an earlier life has found.
    pub fn resume(floor: u64, ceiling: u64, found: SavedCap) -> AdaptiveCap {
        let mut adaptive = AdaptiveCap::new(floor, ceiling);
        adaptive.limit = (found.cap as f64).clamp(adaptive.floor, adaptive.ceiling);
        adaptive.level = found.level.as_nanos() as f64;
        adaptive.sure = HALF_SURE;
        adaptive.phase = Phase::Follow;
        adaptive
    }

    /// Takes over other bounds, if they have changed.
    pub fn bound(&mut self, floor: u64, ceiling: u64) {
        self.floor = floor.max(1) as f64;
        self.ceiling = (ceiling as f64).max(self.floor);
        self.limit = self.limit.clamp(self.floor, self.ceiling);
    }

    /// The cap that holds now.
    pub fn cap(&self) -> u64 {
        let lowered = match self.phase {
            Phase::Probe(_) if self.deep => DEEP,
            Phase::Probe(_) => PROBE,
            _ => 1.0,
        };
        (self.limit * lowered).max(self.floor) as u64
    }

    /// What should survive an eviction; `None` while nothing is known.
    pub fn found(&self) -> Option<SavedCap> {
        (self.sure > 0.0).then(|| SavedCap { cap: self.limit as u64, level: Span::from_nanos(self.level as u64) })
    }

    /// Takes in what an isolate has seen. Whether the cap may have changed.
    pub fn sample(&mut self, sample: &Sample, now: Time) -> bool {
        self.window.add(sample, now);
        let Some(seen) = self.window.close(now) else { return false };
        self.step(&seen, seen.base.max(1.0));
        self.limit = self.limit.clamp(self.floor, self.ceiling);
        true
    }

    /// One window's worth of following. The window was measured under a cap of `base`.
    fn step(&mut self, seen: &Seen, base: f64) {
        if seen.failed > FAILING {
            // How long the others took says little then, and nothing of a queue.
            if !matches!(self.phase, Phase::UnusedTokens(_)) {
                self.phase = Phase::UnusedTokens(self.limit / 2.0);
            }
            self.limit = self.limit.min(base * (1.0 - seen.failed / 2.0));
            self.boost = 1.0;
            return;
        }
        // A refusal alone may be of a cap that has long been raised.
        let parts = if seen.refused { 4.0 } else { 2.0 };
        let most = seen.in_flight.max(seen.highest);
        let used = most * parts >= base;
        self.measure(seen, used, base);
        if let Phase::Probe(windows) = self.phase {
            // The first window is still about the time before. The second one counts.
            self.phase = if windows == 0 { Phase::Probe(1) } else { Phase::Follow };
            return;
        }
        if !used {
            return;
        }
        let fit = (self.level * (1.0 + ROOM) / seen.mean.max(1.0)).clamp(0.5, 1.0 + 2.0 * ROOM);
        self.usual = if self.usual == 0.0 { seen.mean } else { self.usual + 0.3 * (seen.mean - self.usual) };
        let trust = seen.good / (seen.good + NOISY);
        match self.phase {
            Phase::Start | Phase::Sign if seen.mean < self.level * (QUEUEING + noise(seen)) => {
                // Not far beyond what was there at once, or it would be no cap when a load comes.
                self.limit = (self.limit * 2.0).min(self.limit.max(most * FURTHEST));
                self.phase = Phase::Start;
            }
            Phase::Start => self.phase = Phase::Sign,
            Phase::Sign => {
                self.limit = self.limit.min(base * fit);
                self.phase = Phase::Follow;
                self.unsure = SOON;
                self.deep = true;
            }
            Phase::UnusedTokens(to) if self.limit < to && seen.mean < self.level * QUEUEING => {
                self.limit = (self.limit * 1.5).min(to);
            }
            // Far too high, or high twice: at once to where the measurement says. Nearer, measurements differ by as much.
            _ if fit < 1.0 - 2.0 * ROOM / trust || (self.low < 1.0 && fit < 1.0 - ROOM / trust) => {
                self.phase = Phase::Follow;
                let fit = if self.low < 1.0 { f64::midpoint(fit, self.low) } else { fit };
                self.low = 1.0;
                if !self.deep {
                    self.unsure = self.unsure.min(PROBE_AFTER / 2);
                }
                self.usual = 0.0;
                self.limit = self.limit.min(base * fit);
                self.boost = 1.0;
            }
            _ => {
                self.phase = Phase::Follow;
                self.low = if fit < 1.0 - ROOM / trust { fit } else { 1.0 };
                self.boost = if fit > 1.0 + ROOM / 2.0 / trust { (self.boost + 1.0).min(BOOST) } else { 1.0 };
                self.limit *= 1.0 + GAIN * trust * (fit - 1.0) * (self.boost - 1.0).max(1.0);
            }
        }
        self.doubt(seen, fit, base);
        self.unsure = self.unsure.saturating_add(1);
        if self.unsure >= PROBE_AFTER && self.phase == Phase::Follow {
            self.unsure = 0;
            self.phase = Phase::Probe(0);
        }
    }

    /// Learns what a request takes without a queue, if this window had none. Under the lowest cap there can be nothing but its own.
    fn measure(&mut self, seen: &Seen, used: bool, base: f64) {
        let noise = noise(seen);
        let free = match self.phase {
            Phase::Start | Phase::Sign => self.sure < HALF_SURE || seen.mean < self.level * (QUEUEING + noise),
            // Slower although there is less: the origin has changed meanwhile, and that is for following to find out.
            Phase::Probe(windows) => {
                windows > 0 && seen.mean < (self.usual * (1.0 + noise)).min(self.level * (QUEUEING + 2.0 * noise))
            }
            Phase::Follow | Phase::UnusedTokens(_) => !used || base <= self.floor,
        };
        // A small dip while the cap is in use is chance, and to follow each would lower the level for ever.
        let dip = seen.mean < self.level * (1.0 - 2.0 * ROOM - noise) && seen.good >= NOISY;
        if !free && !dip {
            return;
        }
        if dip {
            // It may be half of the time before, and the cap has been right for that.
            (self.sure, self.deep) = (0.0, true);
            self.unsure = self.unsure.max(SOON);
        }
        let before = self.level;
        self.level += (seen.mean - before) * seen.good / (seen.good + self.sure);
        self.sure = if before == 0.0 { 0.0 } else { (self.sure + seen.good).min(HALF_SURE) };
        if free {
            // What was measured quite otherwise than before is measured again soon.
            let settled = (self.level / before - 1.0).abs() < ROOM / 2.0 + noise;
            self.unsure = if settled { 0 } else { SOON };
            // With less of a queue than before, there may still be one.
            self.deep = !settled && self.level < before;
        }
    }

    /// What was thought to be a queue was none: from here on it is a start like the first.
    fn begin_again(&mut self, seen: &Seen) {
        (self.level, self.sure) = (seen.mean, seen.good.min(HALF_SURE));
        self.descent = None;
        self.phase = Phase::Start;
    }

    /// Looks whether the cap is being lowered for nothing: a queue's latency falls with what is in flight.
    fn doubt(&mut self, seen: &Seen, fit: f64, base: f64) {
        let Some((slowest, then)) = self.descent else {
            self.descent = (fit < 1.0 - ROOM).then_some((seen.mean, base));
            return;
        };
        if fit >= 1.0 {
            self.descent = None;
        } else if seen.mean >= slowest {
            self.descent = Some((seen.mean, base));
        } else if (base < then * 0.55 || base <= self.floor) && seen.mean > slowest * 0.8 {
            self.begin_again(seen);
        }
    }
}

/// What the mean of a window's latencies may be off by, as a part of it, where they differ twice as much as they are long.
fn noise(seen: &Seen) -> f64 {
    (4.0 / seen.good.max(1.0)).sqrt()
}
