//! `priority`: who is refused first when the system is full.

use core::fmt;
use std::rc::Rc;

use crate::policy::fault::Faults;
use crate::policy::{Binding, Capacity, Policy, Scope};

/// Who is refused first when the system is full: the low before the normal, the normal before the high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// First.
    Low,
    /// After the low.
    #[default]
    Normal,
    /// Last.
    High,
}

pub(super) const PRIORITIES: &[(&str, Priority)] =
    &[("high", Priority::High), ("normal", Priority::Normal), ("low", Priority::Low)];

/// Tells each cap the highest priority that meets it, and finds priorities that decide nothing.
pub(super) fn rank(
    base: &mut Option<Binding>,
    bindings: &mut [Binding],
    given: &[(String, String)],
    faults: &mut Faults,
) {
    let shares = |binding: &Binding| {
        let Capacity { in_flight, sockets, .. } = &binding.capacity;
        in_flight.is_some() || sockets.is_some() || binding.limits.iter().any(|limit| limit.scope == Scope::Global)
    };
    // One that is off for a while must not make the others faulty.
    let base_shares = base.as_ref().is_some_and(|base| base.off || shares(base));
    for (name, var) in given {
        let binding = base.iter().chain(bindings.iter()).find(|binding| binding.name == *name);
        // An exempt binding's has been complained of, and one that is off says nothing at all.
        if binding.is_some_and(|binding| !base_shares && !binding.exempt && !binding.off && !shares(binding)) {
            faults.add(
                format!("{var}.priority"),
                "nothing is shared here that could be full: neither this binding nor LIMIT_BASE has in_flight, sockets or global",
            );
        }
    }
    let met = bindings.iter().filter(|binding| !binding.exempt);
    let highest = met.map(|binding| binding.capacity.priority).max().unwrap_or(Priority::Low);
    for (binding, highest) in
        base.iter_mut().map(|base| (base, highest)).chain(bindings.iter_mut().map(|binding| (binding, Priority::Low)))
    {
        let capacity = &mut binding.capacity;
        let highest = highest.max(capacity.priority);
        for cap in capacity.in_flight.iter_mut().chain(&mut capacity.sockets) {
            Rc::make_mut(cap).highest = highest;
        }
    }
}

impl Policy {
    /// The priority of a request for `route`: its binding's, or base's where it has none.
    pub fn priority(&self, route: Option<&Binding>) -> Priority {
        route.or(self.base.as_ref()).map(|binding| binding.capacity.priority).unwrap_or_default()
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        })
    }
}
