//! The warm-up state that an actor keeps on disk.

use crate::limit::time::{Span, Time};
use crate::limit::warmup::Ramp;

/// The saved state of one bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedWarmup {
    /// The bucket's last ramp; it may be over.
    pub ramp: Ramp,
    /// When the bucket was last asked for; up to 30 s before the true time.
    pub last_asked: Time,
}

impl SavedWarmup {
    /// The stored text: five whole numbers, the times in nanoseconds since the Unix epoch, the
    /// spans in nanoseconds.
    pub fn write(&self) -> String {
        let SavedWarmup { ramp: Ramp { start, length, start_interval, end_interval }, last_asked } = self;
        let numbers = [
            start.as_nanos(),
            length.as_nanos(),
            start_interval.as_nanos(),
            end_interval.as_nanos(),
            last_asked.as_nanos(),
        ];
        numbers.map(|number| number.to_string()).join(" ")
    }

    /// Reads the text of [`write`](SavedWarmup::write). `None` for any other text.
    pub fn read(text: &str) -> Option<SavedWarmup> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (start, length, start_interval, end_interval, last_asked) = (next()?, next()?, next()?, next()?, next()?);
        let ramp = Ramp {
            start: Time::from_nanos(start),
            length: Span::from_nanos(length),
            start_interval: Span::from_nanos(start_interval),
            end_interval: Span::from_nanos(end_interval),
        };
        Some(SavedWarmup { ramp, last_asked: Time::from_nanos(last_asked) })
    }
}
