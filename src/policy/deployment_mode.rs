//! The effect of `MODE`: whether any limit or cap of the whole deployment refuses.
//!
//! `MODE` says nothing of address lists, timeouts and the origin. A binding whose own `mode` is
//! stricter keeps it: what is off stays off, and what is in shadow is not enforced.

use std::rc::Rc;

use crate::limit::time::Span;
use crate::policy::binding::Binding;
use crate::policy::capacity::Capacity;
use crate::policy::limit::Mode;

/// Gives all limits and caps of `binding` the deployment's mode. `None` is `off`: they are removed.
pub(super) fn apply(mode: Option<Mode>, binding: &mut Binding) {
    let Binding { limits, capacity, .. } = binding;
    match mode {
        Some(Mode::Enforce) => {}
        Some(Mode::Shadow) => {
            limits.iter_mut().for_each(|limit| limit.mode = Mode::Shadow);
            let caps = capacity.in_flight.iter_mut().chain(&mut capacity.sockets);
            caps.for_each(|cap| Rc::make_mut(cap).mode = Mode::Shadow);
        }
        None => {
            limits.clear();
            let Capacity { timeout, upload, priority, .. } = *capacity;
            *capacity = Capacity { timeout, upload, priority, wait: Span::ZERO, ..Capacity::default() };
        }
    }
}
