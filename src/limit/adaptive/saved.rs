//! What is kept of a cap that was found.

use crate::limit::time::Span;

/// What survives an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedCap {
    /// The cap.
    pub cap: u64,
    /// The mean latency without a queue.
    pub level: Span,
}

impl SavedCap {
    /// As it is kept: the cap, and the latency in nanoseconds.
    pub fn write(&self) -> String {
        let numbers = [self.cap, self.level.as_nanos()];
        numbers.map(|number| number.to_string()).join(" ")
    }

    /// Reads what [`write`](SavedCap::write) has written.
    pub fn read(text: &str) -> Option<SavedCap> {
        let (cap, level) = text.split_once(' ')?;
        Some(SavedCap { cap: cap.parse().ok()?, level: Span::from_nanos(level.parse().ok()?) })
    }

    /// Whether it is worth a row where `saved` is written already.
    pub fn differs(&self, saved: Option<SavedCap>) -> bool {
        saved.is_none_or(|saved| self.cap.abs_diff(saved.cap) > saved.cap / 4)
    }
}
