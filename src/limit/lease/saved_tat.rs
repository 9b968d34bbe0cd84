//! How far ahead of the true TAT the saved one is.

use crate::limit::gcra::Gcra;
use crate::limit::lease::SHARE;
use crate::limit::time::{Span, Time};

/// Saves further apart than this are a slow bucket's, each for its own request.
const FAST: Span = Span::from_secs(1);

/// A TAT further ahead than this is not saved, however large the bucket.
const FURTHEST: Span = Span::from_secs(10);

/// What is on the disk for one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedTat {
    /// The saved TAT. A crash wakes the bucket with it: later than the true one, so fewer are admitted, never more.
    saved: Time,
    at: Time,
    step: Span,
}

impl SavedTat {
    /// As it was found on the disk.
    pub fn found(saved: Time) -> SavedTat {
        SavedTat { saved, ..SavedTat::default() }
    }

    /// What has to be saved before the bucket's TAT may become `tat` at `now`; `None` where what is saved covers it.
    pub fn cover(&self, gcra: &Gcra, tat: Time, now: Time) -> Option<SavedTat> {
        if tat <= self.saved {
            return None;
        }
        let most = Span::from_nanos(gcra.capacity().as_nanos() / SHARE).min(FURTHEST);
        // Being ahead by less than two tokens would cost a caller of a small limit time, and save next to nothing.
        let worth_it = most >= gcra.interval().times(2) && now.since(self.at) < FAST;
        let step = if worth_it { self.step.times(2).max(gcra.interval()).min(most) } else { Span::ZERO };
        Some(SavedTat { saved: tat.plus(step), at: now, step })
    }

    /// The saved TAT.
    pub fn saved(&self) -> Time {
        self.saved
    }
}
