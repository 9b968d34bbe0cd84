//! Faults in the configuration, each with its location.

use core::fmt;

use serde_json::Value;

/// One fault in the configuration, in words for its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The var and field: `LIMIT_LOGIN.per_ip`, `LIMIT_API.route[1]` (counted from 0), `KEY`.
    pub location: String,
    /// The fault itself, with the value that was found and the form that was expected.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.problem)
    }
}

/// All faults found so far. A reader records its faults here and goes on, so that one reading finds
/// all of them.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, location: impl Into<String>, problem: impl Into<String>) {
        self.0.push(Fault { location: location.into(), problem: problem.into() });
    }

    /// Returns the value that was read at `location`. `None`: it could not be read, and the problem
    /// is recorded as a fault.
    pub(super) fn value_or_record<T>(&mut self, location: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|problem| self.add(location, problem)).ok()
    }

    /// Returns the number of faults so far.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_vec(self) -> Vec<Fault> {
        self.0
    }
}

/// Returns the first 60 characters of `value` as JSON, for a message.
pub(super) fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
