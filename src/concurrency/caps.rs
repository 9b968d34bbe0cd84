//! One request and all of its caps: it gets a permit of each, or keeps none.

use crate::concurrency::admit::NoPermit;
use crate::concurrency::lease_table::PermitGuard;
use crate::concurrency::permit_calls::PermitCalls;
use crate::concurrency::plan::PlannedCap;
use crate::gate::deadline::{Deadline, Later};
use crate::gate::decision::{CapDecision, CapRefusal, Reason, Spent};
use crate::gate::permit_port::PermitPort;
use crate::identity::Subject;
use crate::limit::time::Span;
use crate::policy::Mode;
use crate::protocol::permits::PermitActors;
use std::cell::RefCell;

/// The wait that a client is told where a cap is full: between these two, in seconds. It is the
/// same for one address each time, and differs between addresses, so that clients do not come back
/// together.
const COME_BACK: (u64, u64) = (1, 3);

/// The caps of one request.
#[derive(Debug)]
pub struct Caps<'a, 'p, K> {
    /// Calls the caps' actors.
    pub calls: PermitCalls<'a, K>,
    /// The caps, in the order in which they are asked.
    pub planned: Vec<PlannedCap<'p>>,
    /// The digest of the client's address.
    pub address: Subject,
    /// The permits that the request has been given.
    pub permits: RefCell<Vec<PermitGuard>>,
}

impl<'p, K: PermitActors> PermitPort<'p> for Caps<'_, 'p, K> {
    fn cap_count(&self) -> usize {
        self.planned.len()
    }

    fn known_refusal(&self) -> Option<CapDecision<'p>> {
        let is_full = |planned: &&PlannedCap<'p>| {
            // A request that may wait for the cap may get a permit after all.
            let refuses_at_once = planned.cap.mode == Mode::Enforce && planned.wait == Span::ZERO;
            refuses_at_once
                && self.calls.with_lease(planned.cap, |lease, now| {
                    let full = lease.is_full(planned.reserve, now);
                    if full {
                        lease.note_unmet(planned.reserve);
                    }
                    full
                })
        };
        let full = self.planned.iter().find(is_full)?;
        let refusal = Some(self.refusal(full, Reason::OverCapacity));
        Some(CapDecision { refusal, spent: Spent { limits: 1, ..Spent::default() }, ..CapDecision::default() })
    }

    async fn admit(&self, deadline: Deadline) -> CapDecision<'p> {
        let mut decision = CapDecision::default();
        let mut caps = self.planned.as_slice();
        while let [cap, next @ ..] = caps {
            caps = next;
            self.meet(cap, deadline, Later::when(!next.is_empty()), &mut decision).await;
            if decision.refusal.is_some() {
                self.permits.borrow_mut().clear();
                break;
            }
        }
        // The shared limits are asked next, and the request gives no heartbeat before it is at the
        // origin.
        let now = (self.calls.wall)();
        self.permits.borrow().iter().for_each(|permit| permit.extend_heartbeat(now, self.calls.deadline));
        decision
    }
}

impl<'p, K: PermitActors> Caps<'_, 'p, K> {
    /// Gets a permit of one cap.
    async fn meet(&self, cap: &PlannedCap<'p>, deadline: Deadline, later: Later, decision: &mut CapDecision<'p>) {
        let now = (self.calls.wall)();
        let time = deadline.later_by(decision.waited).for_stage(now, later).left(now);
        let reason = match self.calls.admit(cap, time, &self.permits, decision).await {
            Ok(permit) => {
                self.permits.borrow_mut().push(permit);
                return;
            }
            Err(NoPermit::Unknown) => Reason::LimiterUnavailable,
            Err(NoPermit::Full) => Reason::OverCapacity,
        };
        let refusal = self.refusal(cap, reason);
        match cap.cap.mode {
            Mode::Shadow => decision.shadows.push(refusal),
            Mode::Enforce => decision.refusal = Some(refusal),
        }
    }

    fn refusal(&self, planned: &PlannedCap<'p>, reason: Reason) -> CapRefusal<'p> {
        let &PlannedCap { cap, binding, .. } = planned;
        CapRefusal { cap, binding, reason, wait: come_back(self.address) }
    }
}

fn come_back(address: Subject) -> Span {
    let (least, most) = COME_BACK;
    let [.., last] = address.to_bytes();
    let choices = most.saturating_sub(least).saturating_add(1);
    Span::from_secs(least.saturating_add(u64::from(last).checked_rem(choices).unwrap_or(0)))
}
