//! A fault in the configuration, and its place.

use core::fmt;

use serde_json::Value;

/// One thing that is wrong with the configuration, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `LIMIT_LOGIN.per_ip`, `LIMIT_API.route[1]` (counted from 0), `KEY`.
    pub place: String,
    /// What, with the value at fault and what would be right.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// Every fault found so far. Readers put theirs here and go on, so that one reading finds all.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.0.push(Fault { place: place.into(), problem: problem.into() });
    }

    /// The value read at `place`, or nothing and one more fault.
    pub(super) fn keep<T>(&mut self, place: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|problem| self.add(place, problem)).ok()
    }

    pub(super) fn into_vec(self) -> Vec<Fault> {
        self.0
    }
}

/// `value` as JSON, for a message: cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
