//! The port by which the gate gets a request's permits: after its caller's limits, before the
//! shared ones.

use crate::gate::deadline::Deadline;
use crate::gate::decision::CapDecision;

/// Gets permits of the caps that one request meets.
pub trait PermitPort<'p> {
    /// The number of caps that the request meets.
    fn cap_count(&self) -> usize;

    /// The refusal by a cap that is known to be full, without a call and without a wait; `None`
    /// where there is no such cap. A request that is refused so needs no tokens of its own.
    fn known_refusal(&self) -> Option<CapDecision<'p>> {
        None
    }

    /// Gets a permit of every cap, or keeps none, within `deadline`. A wait for a permit comes on
    /// top of that time, and is told in [`CapDecision::waited`].
    fn admit(&self, deadline: Deadline) -> impl Future<Output = CapDecision<'p>>;
}

/// The port of a request that meets no cap.
#[derive(Clone, Copy, Debug)]
pub struct NoCaps;

impl<'p> PermitPort<'p> for NoCaps {
    fn cap_count(&self) -> usize {
        0
    }

    async fn admit(&self, _: Deadline) -> CapDecision<'p> {
        CapDecision::default()
    }
}
