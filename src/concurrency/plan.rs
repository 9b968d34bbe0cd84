//! Which caps a request meets.

use crate::limit::time::Span;
use crate::policy::{Binding, Cap, Mode, Policy};
use crate::protocol::permits::Reserve;
use std::rc::Rc;

/// The protocol that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// HTTP: it meets `in_flight`.
    Plain,
    /// A WebSocket: it meets `in_flight` until the origin has answered, and `sockets` while it is
    /// open.
    Socket,
}

/// A cap that a request meets.
#[derive(Clone, Copy, Debug)]
pub struct PlannedCap<'p> {
    /// The cap.
    pub cap: &'p Rc<Cap>,
    /// The binding that it belongs to.
    pub binding: &'p Binding,
    /// The part of the cap that the request must leave to higher priorities.
    pub reserve: Reserve,
    /// How long the request may wait for a permit while the cap is full.
    pub wait: Span,
}

/// The caps that a request for `route` meets: those of the narrower binding before those of base.
pub fn planned_caps<'p>(policy: &'p Policy, route: Option<&'p Binding>, kind: RequestKind) -> Vec<PlannedCap<'p>> {
    if route.is_some_and(|binding| binding.exempt) {
        return Vec::new();
    }
    let priority = policy.priority(route);
    let bindings = || route.into_iter().chain(&policy.base);
    let of = |binding: &'p Binding, cap: &'p Rc<Cap>, wait| PlannedCap {
        cap,
        binding,
        reserve: Reserve::of(priority, cap.highest),
        wait: if cap.mode == Mode::Enforce { wait } else { Span::ZERO },
    };
    let in_flight = bindings().filter_map(|binding| {
        let capacity = &binding.capacity;
        Some(of(binding, capacity.in_flight.as_ref()?, capacity.wait))
    });
    let sockets = bindings().filter(|_| kind == RequestKind::Socket);
    let sockets = sockets.filter_map(|binding| Some(of(binding, binding.capacity.sockets.as_ref()?, Span::ZERO)));
    in_flight.chain(sockets).collect()
}
