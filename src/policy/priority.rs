//! `priority`: the order in which requests are refused when the system is full.

use core::fmt;

/// The rank of a binding's requests when the system is full. Requests of `Low` are refused first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Refused before all others.
    Low,
    /// Refused after the low ones.
    #[default]
    Normal,
    /// Refused last.
    High,
}

/// The values of `priority`.
pub(super) const PRIORITIES: &[(&str, Priority)] =
    &[("high", Priority::High), ("normal", Priority::Normal), ("low", Priority::Low)];

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        })
    }
}
