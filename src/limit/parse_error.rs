//! The error of a text, or of a set of numbers, that is not a limit.

use core::fmt;

/// One sentence for the operator: the value at fault, and a value that would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(String);

impl ParseError {
    pub(super) fn new(problem: impl Into<String>) -> ParseError {
        ParseError(problem.into())
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ParseError {}

impl From<ParseError> for String {
    fn from(error: ParseError) -> String {
        error.0
    }
}
