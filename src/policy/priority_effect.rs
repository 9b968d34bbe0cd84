//! The effect of each binding's `priority` on the caps, and the fault of a priority without effect.

use std::rc::Rc;

use crate::policy::binding::Binding;
use crate::policy::capacity::Capacity;
use crate::policy::fault::Faults;
use crate::policy::limit::Scope;
use crate::policy::priority::Priority;

/// Records a fault for each priority that decides nothing, because no request of its binding meets
/// a cap or a `global` limit. `given` has the name of each binding with a `priority` field, and its
/// var.
pub(super) fn find_unused(
    base: Option<&Binding>,
    bindings: &[Binding],
    given: &[(String, String)],
    faults: &mut Faults,
) {
    // While base is off, the other bindings stay valid: base may be on again tomorrow.
    let base_is_shared = base.is_some_and(|base| base.off || is_shared(base));
    for (name, var) in given {
        let binding = base.into_iter().chain(bindings).find(|binding| binding.name == *name);
        // A priority beside `exempt` is a fault already, and a binding that is off decides nothing.
        if binding.is_some_and(|binding| !base_is_shared && !binding.exempt && !binding.off && !is_shared(binding)) {
            faults.add(
                format!("{var}.priority"),
                "nothing is shared here that could be full: neither this binding nor LIMIT_BASE has in_flight, sockets or global",
            );
        }
    }
}

/// Whether requests of the binding share something that can be full.
fn is_shared(binding: &Binding) -> bool {
    let Capacity { in_flight, sockets, .. } = &binding.capacity;
    in_flight.is_some() || sockets.is_some() || binding.limits.iter().any(|limit| limit.scope == Scope::Global)
}

/// Sets the highest priority among the requests that meet each cap. All requests but exempt ones
/// meet the caps of base.
pub(super) fn set_highest(base: Option<&mut Binding>, bindings: &mut [Binding]) {
    let meet_base = bindings.iter().filter(|binding| !binding.exempt);
    let highest_of_all = meet_base.map(|binding| binding.capacity.priority).max().unwrap_or(Priority::Low);
    let base = base.into_iter().map(|base| (base, highest_of_all));
    for (binding, others) in base.chain(bindings.iter_mut().map(|binding| (binding, Priority::Low))) {
        let capacity = &mut binding.capacity;
        let highest = others.max(capacity.priority);
        for cap in capacity.in_flight.iter_mut().chain(&mut capacity.sockets) {
            Rc::make_mut(cap).highest = highest;
        }
    }
}
