//! The one alarm that the platform gives an object.

use crate::limit::time::{Span, Time};
use crate::runtime::clock;
use std::cell::Cell;
use std::time::Duration;
use worker::{Result, Storage};

/// The least time between two sweeps of an object's rows, since setting an alarm costs a row.
/// Longer, and rows at rest cost storage for longer.
pub(crate) const SWEEP_EVERY: Span = Span::from_secs(60);

/// The longest time until an alarm, since the platform's alarms have a range. A bucket that is in
/// debt for ten years is looked at once a month.
const LONGEST: Span = Span::from_secs(30 * 24 * 60 * 60);

/// The object's alarm, as far as the object knows of it.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Cell<Known>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// The object has just woken up, and an earlier life may have set an alarm.
    #[default]
    Nothing,
    Off,
    At(Time),
}

impl Alarm {
    /// Notes that the alarm has gone off, or was deleted with the storage.
    pub(crate) fn mark_off(&self) {
        self.0.set(Known::Off);
    }

    /// Makes sure that an alarm goes off at `at` or before; returns the rows written, 0 or 1.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) async fn set_by(&self, storage: Storage, at: Time) -> Result<u32> {
        if self.0.get() == Known::Nothing {
            self.0.set(match storage.get_alarm().await? {
                Some(millis) => Known::At(Time::from_millis(u64::try_from(millis).unwrap_or(0))),
                None => Known::Off,
            });
        }
        let before = self.0.get();
        if matches!(before, Known::At(set) if set <= at) {
            return Ok(0);
        }
        self.0.set(Known::At(at));
        let after = at.since(clock::now()).min(LONGEST);
        let result = storage.set_alarm(Duration::from_nanos(after.as_nanos())).await;
        if result.is_err() {
            self.0.set(before);
        }
        result.map(|()| 1)
    }
}
