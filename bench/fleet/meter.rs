//! The measures of a run.

use penstock::limit::jitter::SplitMix64;

/// What was seen after the warming up.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub requests: u64,
    pub passed: u64,
    pub waited: u64,
    /// Requests that passed or were refused without the limit having been checked.
    pub unchecked: u64,
    pub calls: u64,
    pub rows: u64,
    /// Seconds that were measured.
    pub seconds: f64,
    /// Tokens admitted over what burst and rate allow, at worst, in the whole run.
    pub over: f64,
    /// Passed, in hundredths of the smaller of demand and limit.
    pub used: f64,
}

/// Measures admissions against the envelope: no more than burst + elapsed / interval between any two.
pub fn over(times: &mut [u64], interval: u64, burst: u64) -> f64 {
    times.sort_unstable();
    let (mut level, mut last, mut worst) = (0.0_f64, 0, f64::NEG_INFINITY);
    for time in times.iter() {
        level = (level - (time - last) as f64 / interval as f64).max(0.0) + 1.0;
        last = *time;
        worst = worst.max(level - burst as f64);
    }
    worst
}

/// Random numbers that are the same in every run.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Draws a number from (0, 1], all equally likely.
    pub fn unit(&mut self) -> f64 {
        ((self.0.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Nanoseconds until the next of events that come `rate` times a second.
    pub fn wait(&mut self, rate: f64) -> u64 {
        (-self.unit().ln() / rate * 1e9) as u64
    }
}
