//! The fault of a `socket_idle` without effect.

use crate::policy::binding::Binding;
use crate::policy::fault::Faults;

/// Records a fault for each `socket_idle` that ends nothing, because no request of its binding
/// meets a cap on WebSockets.
pub(super) fn find_unused(base: Option<&Binding>, bindings: &[Binding], faults: &mut Faults) {
    let has_sockets = |binding: &Binding| binding.capacity.sockets.is_some();
    // While base is off, the other bindings stay valid: base may be on again tomorrow.
    if base.is_some_and(|base| base.off || has_sockets(base)) {
        return;
    }
    let idle = base.into_iter().chain(bindings).filter(|binding| binding.capacity.socket_idle.is_some());
    // Base's own holds for all bindings that give none.
    let meets_sockets =
        |binding: &Binding| has_sockets(binding) || (binding.routes.is_empty() && bindings.iter().any(has_sockets));
    for binding in idle.filter(|binding| !binding.exempt && !meets_sockets(binding)) {
        let var = binding.name.to_ascii_uppercase().replace('-', "_");
        faults.add(
            format!("LIMIT_{var}.socket_idle"),
            "there is no sockets here, so no WebSocket is watched: add it, or remove socket_idle",
        );
    }
}
