//! When a holder asks for its part again, before it has to.

use crate::limit::share::demand_meter::{DemandMeter, seconds};
use crate::limit::share::holder::PartHolder;
use crate::limit::time::{Span, Time};

/// A renewal should be asked for so many tokens before the term ends.
const TOKENS_BEFORE_END: f64 = 3.0;
/// The shortest and the longest time before the end of a term, the latter as a part of the term.
const SHORTEST_BEFORE_END: f64 = 0.3;
const LONGEST_BEFORE_END: f64 = 0.2;
/// A holder of fewer tokens per second lets its part end, and asks when the next request comes.
const RENEWS_FROM: f64 = 1.0;
/// A holder of more tokens per second asks for more when a quarter of its room is left.
const TOPS_UP_FROM: f64 = 5.0;
/// The least time between two questions for more, in seconds.
const TOPS_UP_EVERY: f64 = 0.5;

/// A holder's demand, and its next questions in good time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Renewal {
    /// The tokens per second that the holder is asked for.
    pub meter: DemandMeter,
    /// How long before the end of its term the part is renewed.
    early: Span,
    /// The holder asks for more at this time or later.
    top_up_at: Time,
}

impl Renewal {
    /// A holder that has asked nothing before `now`.
    pub fn new(now: Time) -> Renewal {
        Renewal { meter: DemandMeter::new(now), ..Renewal::default() }
    }

    /// Whether the part in hand should be renewed at `now`: its term ends soon, or a busy holder
    /// has little left. Without a part nothing is due: the next request asks for its tokens anyway.
    pub fn is_due(&self, holder: &PartHolder, now: Time) -> bool {
        let Some(part) = holder.part(now) else { return false };
        let rate = self.meter.rate();
        let is_ending = rate > RENEWS_FROM && part.until().since(now) < self.early;
        let is_low = || rate > TOPS_UP_FROM && now > self.top_up_at && part.tokens(now).floor() < part.room() / 4;
        is_ending || is_low()
    }

    /// Notes at `now` that the actor gave a part for `term`, and should not be asked again before
    /// `again` has passed.
    pub fn heard(&mut self, now: Time, term: Span, again: Span) {
        let term = seconds(term);
        let rate = self.meter.rate().max(1e-9);
        let early = SHORTEST_BEFORE_END.max((TOKENS_BEFORE_END / rate).min(LONGEST_BEFORE_END * term));
        self.early = span(early);
        self.top_up_at = now.plus(span(TOPS_UP_EVERY).max(again.times(5)));
    }
}

fn span(seconds: f64) -> Span {
    Span::from_nanos((seconds * 1e9) as u64)
}
