//! All route patterns of a policy, in order of precedence.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::policy::fault::Faults;
use crate::policy::route::{Pattern, RouteTarget};

/// All patterns, the most specific first, each with the index of its binding.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteTable(Vec<(Pattern, usize)>);

/// A pattern as the configuration writes it.
pub(super) struct WrittenRoute {
    /// `LIMIT_API.route[1]`.
    pub(super) location: String,
    pub(super) text: String,
    pub(super) pattern: Pattern,
}

impl RouteTable {
    /// Makes the table of all bindings' patterns, given in the order of the bindings.
    pub(super) fn new<'b>(routes: impl Iterator<Item = &'b Vec<Pattern>>) -> RouteTable {
        let mut patterns: Vec<(Pattern, usize)> = routes
            .enumerate()
            .flat_map(|(index, patterns)| patterns.iter().map(move |pattern| (pattern.clone(), index)))
            .collect();
        patterns.sort_by_cached_key(|(pattern, _)| Reverse(pattern.precedence()));
        RouteTable(patterns)
    }

    /// The indices of the bindings with a pattern that matches, the most specific pattern first.
    pub(super) fn matching(&self, target: &RouteTarget<'_>) -> impl Iterator<Item = usize> {
        self.0.iter().filter(|(pattern, _)| pattern.matches(target)).map(|(_, index)| *index)
    }
}

/// Records a fault for each pattern that is the same as one before it.
pub(super) fn find_duplicates(routes: &[WrittenRoute], faults: &mut Faults) {
    let mut seen: BTreeMap<String, &WrittenRoute> = BTreeMap::new();
    for route in routes {
        // One fault for each pattern, however many methods it shares with others.
        let mut duplicate_of = None;
        for identity in route.pattern.identities() {
            duplicate_of = seen.insert(identity, route).or(duplicate_of);
        }
        if let Some(WrittenRoute { location, text, .. }) = duplicate_of {
            faults.add(&route.location, format!("{:?}: the same route as {text:?} in {location}", route.text));
        }
    }
}
