//! The measures of a run.

use penstock::limit::jitter::SplitMix64;

/// The counts of a run, without its first seconds.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub requests: u64,
    pub passed: u64,
    pub waited: u64,
    /// Requests that were decided by `on_error`.
    pub unchecked: u64,
    pub calls: u64,
    pub rows: u64,
    /// The measured seconds.
    pub seconds: f64,
    /// The most tokens by which any span of the run saw more admissions than burst + span × rate.
    pub over: f64,
    /// Admitted requests, in percent of the limit or of the demand, whichever is smaller.
    pub used: f64,
}

/// Returns the most tokens by which any two of `times` have more admissions between them than burst
/// + elapsed / interval.
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

    /// Draws the nanoseconds until the next event, of events that come `rate` times a second at
    /// random.
    pub fn wait(&mut self, rate: f64) -> u64 {
        (-self.unit().ln() / rate * 1e9) as u64
    }
}
