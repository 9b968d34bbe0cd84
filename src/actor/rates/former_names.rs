//! The takeover of state that is kept under a limit's printed name: an earlier version, whose
//! questions name no counter, has counted under `api/key-2` in place of `api key rate 3600s`.
//!
//! A printed name belongs to the counter that is first asked for under it. From then on that
//! counter takes over each bucket of the name, and questions that name no counter are about this
//! counter.

use crate::protocol::rates::Demand;
use std::borrow::Cow;

/// The printed names that an actor has met.
#[derive(Debug, Default)]
pub(crate) struct FormerNames {
    /// A list, because an actor meets as many names as the configuration has limits.
    known: Vec<FormerName>,
    /// Whether there may be state under a printed name. If not, no takeover is looked for.
    pub(crate) any_state: bool,
}

#[derive(Debug)]
struct FormerName {
    /// The printed name.
    printed: String,
    /// The counter to which the name belongs; the name itself if no counter was asked for yet.
    counter: String,
    /// Whether the disk has it.
    saved: bool,
}

impl FormerNames {
    /// Returns the name under which the demand's state is kept. A counter that is the first under
    /// its printed name gets that name's state.
    pub(crate) fn name_of<'a>(&mut self, demand: &'a Demand) -> Cow<'a, str> {
        let printed = demand.limit.as_str();
        let known = self.find(printed);
        let Some(counter) = demand.known_counter() else {
            return known.map_or(Cow::Borrowed(printed), |name| Cow::Owned(name.counter.clone()));
        };
        if known.is_none_or(|name| name.counter == printed) {
            self.put(printed, counter, false);
        }
        Cow::Borrowed(counter)
    }

    /// Takes over an entry that an earlier life of the actor saved.
    pub(crate) fn restore(&mut self, printed: &str, counter: &str) {
        self.put(printed, counter, true);
    }

    /// Notes that the state of a printed name is here, for the counter that will be asked for.
    pub(crate) fn note_arrived(&mut self, printed: &str) {
        if self.find(printed).is_none() {
            self.put(printed, printed, false);
        }
        self.any_state = true;
    }

    /// Whether the name was met before, in this life or an earlier one.
    pub(crate) fn is_known(&self, printed: &str) -> bool {
        self.find(printed).is_some()
    }

    /// Returns the printed names whose state belongs to `counter`.
    pub(crate) fn names_of(&self, counter: &str) -> Vec<String> {
        let names = self.known.iter().filter(|name| name.counter == counter && name.printed != counter);
        names.map(|name| name.printed.clone()).collect()
    }

    /// Returns the counter of a name that the disk does not have yet; `None` if it has it.
    pub(crate) fn unsaved(&self, printed: &str) -> Option<&str> {
        self.find(printed).filter(|name| !name.saved).map(|name| name.counter.as_str())
    }

    /// Notes that the disk has the name.
    pub(crate) fn note_saved(&mut self, printed: &str) {
        if let Some(name) = self.known.iter_mut().find(|name| name.printed == printed) {
            name.saved = true;
        }
    }

    fn find(&self, printed: &str) -> Option<&FormerName> {
        self.known.iter().find(|name| name.printed == printed)
    }

    fn put(&mut self, printed: &str, counter: &str, saved: bool) {
        self.known.retain(|name| name.printed != printed);
        self.known.push(FormerName { printed: printed.to_owned(), counter: counter.to_owned(), saved });
    }
}
