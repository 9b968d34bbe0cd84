//! Keeps repeated warnings out of the log: at most one per place and interval, however many
//! requests meet the same trouble.

use crate::gate::decision::Unchecked;
use crate::limit::time::{Span, Time};
use crate::log::lines::{event_line, warning_line, without_urls};
use crate::policy::{Cap, Limit};
use crate::protocol::rates::CallError;
use std::collections::BTreeMap;

/// The least time between two warnings about the same place.
const INTERVAL: Span = Span::from_secs(10);

/// The last warning about each place.
#[derive(Debug, Default)]
pub struct RecentWarnings {
    last: BTreeMap<String, Time>,
}

impl RecentWarnings {
    /// Returns the line of a warning about `place`. `None` within the interval after the last one.
    pub fn warning(&mut self, place: &str, problem: &str, now: Time) -> Option<String> {
        self.is_due(place.to_owned(), now).then(|| warning_line(place, &without_urls(problem)))
    }

    /// Returns the warning that `cap` could not be checked. `None` within the interval.
    pub fn unchecked_cap(&mut self, cap: &Cap, error: &CallError, now: Time) -> Option<String> {
        let Cap { name, on_error, .. } = cap;
        self.warning(name, &format!("cannot be checked ({error}); on_error = \"{on_error}\""), now)
    }

    /// Returns the warning that a limit could not be checked. `None` within the interval.
    pub fn unchecked(&mut self, unchecked: &Unchecked<'_>, now: Time) -> Option<String> {
        let Limit { name, on_error, .. } = unchecked.limit;
        let cause = match &unchecked.error {
            Some(error) => error.to_string(),
            None => "D1 does not answer, or lacks a migration: wrangler d1 migrations apply DB".to_string(),
        };
        let guarantee = on_error.guarantee();
        self.warning(name, &format!("cannot be checked ({cause}); on_error = \"{on_error}\": {guarantee}"), now)
    }

    /// Returns the line that the limit or cap called `name` is checked again. `None` within the
    /// interval.
    pub fn restored(&mut self, name: &str, now: Time) -> Option<String> {
        self.is_due(format!("{name} again"), now).then(|| event_line("restored", name, "is checked again"))
    }

    /// Whether the interval after the last line about `key` is over. If it is, begins another. It
    /// is also over when the clock has stepped back behind that line.
    pub fn is_due(&mut self, key: String, now: Time) -> bool {
        let is_recent = self.last.get(&key).is_some_and(|last| now < last.plus(INTERVAL) && now >= *last);
        if !is_recent {
            self.last.insert(key, now);
        }
        !is_recent
    }
}
