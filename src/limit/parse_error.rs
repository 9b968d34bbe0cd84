//! Why a text, or a set of numbers, is no limit.

use core::fmt;

/// One sentence for the person who wrote it: the value at fault, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(String);

impl Invalid {
    pub(super) fn new(problem: impl Into<String>) -> Invalid {
        Invalid(problem.into())
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Invalid {}

impl From<Invalid> for String {
    fn from(invalid: Invalid) -> String {
        invalid.0
    }
}
