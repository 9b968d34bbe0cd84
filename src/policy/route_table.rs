//! Which binding a request is for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::policy::fault::Faults;
use crate::policy::route::{Pattern, RouteTarget};
use crate::policy::{Binding, Policy};

/// All patterns, the most specific first, each with the number of its binding.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteTable(Vec<(Pattern, usize)>);

impl RouteTable {
    pub(super) fn new(bindings: &[Binding]) -> RouteTable {
        let numbered = bindings.iter().enumerate();
        let mut patterns: Vec<(Pattern, usize)> = numbered
            .flat_map(|(number, binding)| binding.routes.iter().map(move |pattern| (pattern.clone(), number)))
            .collect();
        patterns.sort_by_cached_key(|(pattern, _)| Reverse(pattern.rank()));
        RouteTable(patterns)
    }
}

impl Policy {
    /// The one binding that a request is for: that of the most specific pattern which matches (see [`route`](crate::policy::route)),
    /// or none. An exempt binding's requests meet no limit at all; all others meet [`Policy::base`] as well. So no binding is exempt for a path
    /// by which an origin may be led elsewhere.
    ///
    /// `method` as sent (methods are case-sensitive, RFC 9110 §9.1), `host` with its port or without, `path` as sent, with
    /// its query or without. Linear in the length of the path and the number of patterns.
    pub fn route(&self, method: &str, host: &str, path: &str) -> Option<&Binding> {
        let target = RouteTarget::read(method, host, path);
        let mut matching = self.lookup.0.iter().filter(|(pattern, _)| pattern.matches(&target));
        matching.find_map(|(_, number)| {
            self.bindings.get(*number).filter(|binding| !binding.exempt || !target.hides_a_climb())
        })
    }
}

/// Puts a fault where a pattern at `routes` (place, text as written, pattern) is the same as one before it.
pub(super) fn find_duplicates(routes: &[(String, String, Pattern)], faults: &mut Faults) {
    let mut seen: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for (place, text, pattern) in routes {
        // One fault for each pattern, however many methods it shares with others.
        let mut twin = None;
        for identity in pattern.identities() {
            twin = seen.insert(identity, (place, text)).or(twin);
        }
        if let Some((other, spelt)) = twin {
            faults.add(place, format!("{text:?}: the same route as {spelt:?} in {other}"));
        }
    }
}
