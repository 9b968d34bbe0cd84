//! Warming up: a shared rate that opens slowly after a cold start, or after it was raised.
//!
//! A bucket that warms up lives in a time of its own, which passes at a part of the true pace: a tenth at first (or what the old
//! rate is of the new one), all of it in the end. In that time it is a bucket like any other. So from the start to any moment no more is
//! admitted than the part of the burst that it begins with, and what the ramp has let in since.
//!
//! What the bucket's own time lags behind is added to its TAT, as slots that nobody gets. A TAT still only grows, slots are still
//! given away once, and so no more is ever admitted than the limit allows: only less.

use crate::limit::gcra::Gcra;
use crate::limit::lease::SHARE;
use crate::limit::time::{Span, Time};

/// No ramp takes longer.
pub const LONGEST: Span = Span::from_secs(10 * 60);

/// Where a cold start begins: at one part in so many.
const COLD: u64 = 10;

/// A bucket that nobody has asked for in this time is cold; a rate that nobody has asked for in it is not the limit's any more.
const FORGOTTEN: Span = Span::from_secs(60);

/// How much later than it was saved a bucket may have been in use.
const SAVE_EVERY: Span = Span::from_secs(30);

/// How warm one bucket is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// When the ramp began, and how long it takes.
    start: Time,
    span: Span,
    /// The emission intervals at its beginning and at its end.
    from: Span,
    to: Span,
    /// Up to when its own time is known to have passed.
    seen: Time,
    /// When the bucket was last asked for, and at its full rate.
    used: Time,
    full: Time,
    saved: Time,
}

/// What is kept of it on disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedWarmup {
    /// When the ramp began.
    pub start: Time,
    /// How long it takes.
    pub span: Span,
    /// The emission interval at its beginning.
    pub from: Span,
    /// The emission interval at its end.
    pub to: Span,
    /// When the bucket was in use, or up to 30 s later.
    pub used: Time,
}

/// What a look at a bucket has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    /// How warm it is.
    pub warm: Warmup,
    /// Its TAT.
    pub tat: Time,
    /// What has to be on disk before anything is handed out.
    pub save: Option<SavedWarmup>,
    /// Whether a ramp begins. Then the TAT has to be saved as well.
    pub begins: bool,
}

impl Warmup {
    /// As it was found on disk by a life that begins at `now`.
    pub fn found(saved: SavedWarmup, now: Time) -> Warmup {
        let SavedWarmup { start, span, from, to, used: saved } = saved;
        // A clock may have stepped back since. What has passed since it was saved passes for a second time: a crash may cost
        // admissions, and gives none away.
        let (start, seen, used) = (start.min(now), saved.min(now), saved.plus(SAVE_EVERY).min(now));
        Warmup { start, span: span.min(LONGEST), from, to, seen, used, full: used, saved: seen }
    }

    /// Looks at the bucket of `gcra` whose TAT is `tat`, for a request that costs `cost`. Its ramps take `span`.
    pub fn look(known: Option<Warmup>, gcra: &Gcra, span: Span, tat: Time, now: Time, cost: u64) -> Looked {
        let interval = gcra.interval();
        let (warm, part) = match known {
            Some(warm) if now.since(warm.wanted(gcra, tat, cost)) < FORGOTTEN => {
                if interval < warm.to {
                    let from = Span::from_nanos(warm.interval(now) as u64).max(interval);
                    (Warmup::begin(from, interval, span, now), interval.as_nanos() as f64 / from.as_nanos() as f64)
                } else if interval > warm.to && now.since(warm.full) >= FORGOTTEN {
                    // It was lowered. Before that, it is an isolate of the old version that still asks.
                    (Warmup { start: Time::default(), to: interval, saved: Time::default(), ..warm }, 1.0)
                } else {
                    (warm, 1.0)
                }
            }
            // It has been in use, while nothing was said of a ramp.
            None if now.since(tat) < FORGOTTEN => {
                let open = Warmup::begin(interval, interval, span, now);
                (Warmup { start: Time::default(), saved: Time::default(), ..open }, 1.0)
            }
            _ => (Warmup::begin(interval.times(COLD), interval, span, now), 1.0 / COLD as f64),
        };
        let lag = now.since(warm.seen).saturating_sub(warm.passed(gcra, warm.seen, now));
        let mut looked = Looked { warm: Warmup { seen: now, used: now, ..warm }, tat, save: None, begins: part < 1.0 };
        if tat > warm.seen {
            looked.tat = tat.plus(lag);
        }
        if looked.begins {
            let missing = Span::from_nanos((gcra.capacity().as_nanos() as f64 * (1.0 - part)) as u64);
            // One request is let in, however small the bucket.
            let most = gcra.capacity().saturating_sub(interval.times(cost));
            looked.tat = looked.tat.max(now.plus(missing.min(most)));
        }
        if interval == warm.to {
            looked.warm.full = now;
        }
        if looked.begins || now.since(warm.saved) >= SAVE_EVERY {
            looked.warm.saved = now;
            let Warmup { start, span, from, to, .. } = warm;
            looked.save = Some(SavedWarmup { start, span, from, to, used: now });
        }
        looked
    }

    /// How long it really is until the bucket's own time is `span` further than at `now`.
    pub fn truly(&self, gcra: &Gcra, now: Time, span: Span) -> Span {
        let (pace, gain, rest) = self.ramp(gcra, now);
        let span = span.as_nanos() as f64;
        let within = rest * (pace + gain * rest / 2.0);
        if rest == 0.0 || span == 0.0 {
            return Span::from_nanos(span as u64);
        }
        let really = if span < within {
            2.0 * span / (pace + (pace * pace + 2.0 * gain * span).sqrt())
        } else {
            rest + (span - within)
        };
        // A microsecond for what was rounded down on the way.
        Span::from_nanos(really as u64).plus(Span::from_nanos(1_000))
    }

    /// How many slots may be leased of the bucket whose TAT is `tat`. Slots are leased up to `ahead` beyond a full debt, so that they
    /// last as long as the way to whoever holds them; of a bucket that warms up, by so much less.
    pub fn leasable(&self, gcra: &Gcra, tat: Time, now: Time, ahead: Span) -> u64 {
        let (pace, _, rest) = self.ramp(gcra, now);
        if rest == 0.0 {
            return u64::MAX;
        }
        let ahead = ahead.as_nanos().min(gcra.tolerance().as_nanos() / 2);
        let ahead = Span::from_nanos((ahead as f64 * pace) as u64);
        let free = gcra.capacity().plus(ahead).saturating_sub(tat.since(now));
        free.as_nanos().checked_div(gcra.interval().as_nanos()).unwrap_or(0) / SHARE
    }

    /// When what was saved of it may be deleted.
    pub fn cold_at(saved: &SavedWarmup) -> Time {
        saved.used.plus(SAVE_EVERY).plus(FORGOTTEN)
    }

    fn begin(from: Span, to: Span, span: Span, now: Time) -> Warmup {
        Warmup { start: now, span, from, to, seen: now, used: now, full: now, saved: now }
    }

    /// When the bucket was last asked for, or would have been by those who know that it had no room for `cost` until then.
    fn wanted(&self, gcra: &Gcra, tat: Time, cost: u64) -> Time {
        let room = tat.plus(gcra.interval().times(cost)).minus(gcra.capacity());
        self.used.max(self.seen.plus(self.truly(gcra, self.seen, room.since(self.seen))))
    }

    /// The emission interval in force at `now`, in nanoseconds.
    fn interval(&self, now: Time) -> f64 {
        let to = self.to.as_nanos() as f64;
        let from = self.from.as_nanos().max(1) as f64;
        let done = now.since(self.start).as_nanos() as f64 / self.span.as_nanos().max(1) as f64;
        if done >= 1.0 { to } else { 1.0 / (1.0 / from + (1.0 / to - 1.0 / from) * done) }
    }

    /// The pace of the bucket's own time at `now`, by how much it gains per nanosecond, and for how many it still does.
    fn ramp(&self, gcra: &Gcra, now: Time) -> (f64, f64, f64) {
        let interval = gcra.interval().as_nanos() as f64;
        let pace = interval / self.interval(now);
        let left = self.span.saturating_sub(now.since(self.start)).as_nanos() as f64;
        if pace >= 1.0 || left <= 0.0 {
            return (1.0, 0.0, 0.0);
        }
        let gain = (interval / self.to.as_nanos().max(1) as f64 - pace) / left;
        (pace, gain, ((1.0 - pace) / gain).min(left))
    }

    /// How far the bucket's own time has come from `then` to `now`.
    fn passed(&self, gcra: &Gcra, then: Time, now: Time) -> Span {
        let (pace, gain, rest) = self.ramp(gcra, then);
        let really = now.since(then).as_nanos() as f64;
        let slow = really.min(rest);
        Span::from_nanos((slow * (pace + gain * slow / 2.0) + (really - slow)) as u64).min(now.since(then))
    }
}

impl SavedWarmup {
    /// As it is kept: five whole numbers, the times in nanoseconds since the Unix epoch, the spans in nanoseconds.
    pub fn write(&self) -> String {
        let SavedWarmup { start, span, from, to, used } = self;
        let numbers = [start.as_nanos(), span.as_nanos(), from.as_nanos(), to.as_nanos(), used.as_nanos()];
        numbers.map(|number| number.to_string()).join(" ")
    }

    /// Reads what [`write`](SavedWarmup::write) has written.
    pub fn read(text: &str) -> Option<SavedWarmup> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (start, span, from, to, used) = (next()?, next()?, next()?, next()?, next()?);
        Some(SavedWarmup {
            start: Time::from_nanos(start),
            span: Span::from_nanos(span),
            from: Span::from_nanos(from),
            to: Span::from_nanos(to),
            used: Time::from_nanos(used),
        })
    }
}
