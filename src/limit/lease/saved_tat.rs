//! The TAT that an actor's disk has for a bucket. It runs ahead of the true TAT, so that most
//! requests need no write.

use crate::limit::gcra::Gcra;
use crate::limit::lease::bounds::PREPAY_DIVISOR;
use crate::limit::time::{Span, Time};

/// Saves further apart than this belong to a slow bucket, which saves its exact TAT at each
/// request.
const FAST: Span = Span::from_secs(1);

/// The largest lead of a saved TAT, however large the bucket is.
const MAX_LEAD: Span = Span::from_secs(10);

/// The last save of one bucket's TAT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedTat {
    /// The TAT on disk. After a crash the bucket starts with it. It is never earlier than the true
    /// TAT, so a crash admits fewer requests, never more.
    tat: Time,
    /// When it was saved.
    saved_at: Time,
    /// How far it was ahead of the true TAT then.
    lead: Span,
}

impl SavedTat {
    /// The state of a bucket whose disk has exactly `tat`.
    pub fn exact(tat: Time) -> SavedTat {
        SavedTat { tat, ..SavedTat::default() }
    }

    /// The save that is due before the bucket's TAT may become `tat` at `now`. `None` if the saved
    /// TAT is not earlier, so that no write is needed.
    ///
    /// The lead starts at one interval, and doubles with each save of a fast bucket, up to one part
    /// in [`PREPAY_DIVISOR`] of the bucket, and up to 10 s.
    pub fn cover(&self, gcra: &Gcra, tat: Time, now: Time) -> Option<SavedTat> {
        if tat <= self.tat {
            return None;
        }
        let most = Span::from_nanos(gcra.capacity().as_nanos() / PREPAY_DIVISOR).min(MAX_LEAD);
        // A lead below two tokens would cost a caller of a small limit time, and save few writes.
        let worth_it = most >= gcra.interval().times(2) && now.since(self.saved_at) < FAST;
        let lead = if worth_it { self.lead.times(2).max(gcra.interval()).min(most) } else { Span::ZERO };
        Some(SavedTat { tat: tat.plus(lead), saved_at: now, lead })
    }

    /// The TAT on disk.
    pub fn tat(&self) -> Time {
        self.tat
    }
}
