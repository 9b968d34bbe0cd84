//! The rate at which a holder's requests ask for tokens, measured.

use crate::limit::time::{Span, Time};

/// A measurement over a shorter span than this says little: the short-term rate stands for it.
const SHORTEST: Span = Span::from_millis(200);

/// The longest span that a measurement looks back. A longer one is steadier, and later to notice a
/// slow change.
const LONGEST_SECS: f64 = 20.0;

/// The span over which the short-term rate forgets, in seconds.
const QUICK_SECS: f64 = 2.0;

/// The tokens that a holder is asked for, whether it has them or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemandMeter {
    /// Tokens asked for since `since`.
    seen: u64,
    since: Time,
    last: Time,
    /// Tokens per second over the last two seconds or so.
    quick: f64,
    /// Tokens per second, as measured last.
    rate: f64,
    /// How many seconds `rate` was measured over; zero if it was not yet.
    observed: f64,
}

impl DemandMeter {
    /// A meter that begins at `now`.
    pub fn new(now: Time) -> DemandMeter {
        DemandMeter { since: now, last: now, ..DemandMeter::default() }
    }

    /// Notes that a request asks for `tokens` at `now`.
    pub fn record(&mut self, now: Time, tokens: u64) {
        self.quick = self.quick_at(now) + tokens as f64 / QUICK_SECS;
        self.last = self.last.max(now);
        self.seen = self.seen.saturating_add(tokens);
    }

    /// The tokens per second, as measured last.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Measures the tokens per second up to `now`. The result follows at once where the rate has
    /// changed by more than chance explains, or has doubled within two seconds.
    pub fn measure(&mut self, now: Time) -> f64 {
        let span = seconds(now.since(self.since));
        let seen = self.seen as f64;
        let quick = self.quick_at(now);
        if span < seconds(SHORTEST) {
            self.rate = self.rate.max(quick);
            return self.rate;
        }
        let measured = seen / span;
        let by_chance = 3.0 * (measured.max(self.rate) / span).sqrt();
        let is_new = self.observed <= 0.0 || (measured - self.rate).abs() > by_chance || span > LONGEST_SECS;
        (self.rate, self.observed) = if is_new {
            (measured, span)
        } else {
            let mean = (self.rate * self.observed + seen) / (self.observed + span);
            (mean, (self.observed + span).min(LONGEST_SECS))
        };
        if span >= 2.0 * QUICK_SECS && quick > 2.0 * measured && quick > 2.0 {
            (self.rate, self.observed) = (quick, 1.0);
        }
        (self.since, self.seen) = (now, 0);
        self.rate
    }

    /// The short-term rate, which has decayed since the last request.
    fn quick_at(&self, now: Time) -> f64 {
        let x = seconds(now.since(self.last)) / QUICK_SECS;
        // Close to e^-x, without the code of an exponential.
        self.quick / (1.0 + x + x * x / 2.0)
    }
}

/// `span` in seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e9
}
