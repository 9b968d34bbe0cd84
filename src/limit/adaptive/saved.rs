//! The state of an adaptive cap that an actor keeps on disk.

use crate::limit::time::Span;

/// The part of an [`AdaptiveCap`](crate::limit::adaptive::AdaptiveCap) that survives an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedCap {
    /// The cap, in requests.
    pub cap: u64,
    /// The mean latency without a queue.
    pub base_latency: Span,
}

impl SavedCap {
    /// The stored text: two whole numbers, the cap and the latency in nanoseconds.
    pub fn write(&self) -> String {
        let numbers = [self.cap, self.base_latency.as_nanos()];
        numbers.map(|number| number.to_string()).join(" ")
    }

    /// Reads the text of [`write`](SavedCap::write). `None` for any other text.
    pub fn read(text: &str) -> Option<SavedCap> {
        let (cap, latency) = text.split_once(' ')?;
        Some(SavedCap { cap: cap.parse().ok()?, base_latency: Span::from_nanos(latency.parse().ok()?) })
    }

    /// Whether this state is worth a write in place of the last one saved: always if there is none,
    /// and else if the cap differs from the saved one by more than a quarter of it.
    pub fn is_worth_saving(&self, last: Option<SavedCap>) -> bool {
        last.is_none_or(|last| self.cap.abs_diff(last.cap) > last.cap / 4)
    }
}
