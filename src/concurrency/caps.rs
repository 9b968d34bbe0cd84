//! Which caps a request meets, and its way through them.

use crate::concurrency::admit::{Admit, NoPermit};
use crate::concurrency::permit_leases::PermitGuard;
use crate::gate::decision::{Reason, Spent};
use crate::identity::Subject;
use crate::limit::time::Span;
use crate::policy::{Binding, Cap, Mode, Policy};
use crate::protocol::permits::{PermitActors, Reserve};
use crate::protocol::rates::CallError;
use std::rc::Rc;

/// Those who find it full are told to come back after so many seconds, each caller its own number of them, so that they do
/// not come together.
const COME_BACK: (u64, u64) = (1, 3);

/// What a request would become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A request.
    Plain,
    /// A WebSocket.
    Socket,
}

/// A cap that a request meets.
#[derive(Clone, Copy, Debug)]
pub struct PlannedCap<'p> {
    /// The cap.
    pub cap: &'p Rc<Cap>,
    /// Its binding.
    pub binding: &'p Binding,
    /// What the request leaves to others of it.
    pub reserve: Reserve,
    /// How long it may wait for a slot.
    pub wait: Span,
}

/// A cap under which there was no place.
#[derive(Clone, Copy, Debug)]
pub struct CapRefusal<'p> {
    /// The cap.
    pub cap: &'p Rc<Cap>,
    /// Its binding.
    pub binding: &'p Binding,
    /// That it is full, or cannot be checked.
    pub reason: Reason,
    /// How long to wait before trying again, in seconds.
    pub wait: u64,
}

/// How a request came through its caps.
#[derive(Debug, Default)]
pub struct Admission<'p> {
    /// The places that it has.
    pub permits: Vec<PermitGuard>,
    /// The cap that refuses it; then it has no places.
    pub refused: Option<CapRefusal<'p>>,
    /// Caps in shadow that would have.
    pub shadows: Vec<CapRefusal<'p>>,
    /// Caps whose actors could not be asked.
    pub unchecked: Vec<(&'p Cap, CallError)>,
    /// Caps that were checked again, and could not be before.
    pub restored: Vec<&'p Cap>,
    /// How long it has waited for places.
    pub waited: Span,
    /// What it took.
    pub spent: Spent,
}

/// The caps that a request for `route` meets: the narrower binding's before base's.
pub fn met<'p>(policy: &'p Policy, route: Option<&'p Binding>, kind: RequestKind) -> Vec<PlannedCap<'p>> {
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

/// Gets a request of `caller`'s a place under each of `caps`, or under none. It has so much `time` for that, besides what it waits for places.
pub async fn enter<'p>(
    admit: &Admit<'_, impl PermitActors>,
    mut caps: &[PlannedCap<'p>],
    caller: Subject,
    time: Span,
) -> Admission<'p> {
    let mut entry = Admission::default();
    let due = (admit.wall)().plus(time);
    while let [met, next @ ..] = caps {
        caps = next;
        let left = due.plus(entry.waited).since((admit.wall)());
        // One whose actor hangs must not leave the next unchecked as well.
        let kept = if next.is_empty() { Span::ZERO } else { left.half().half() };
        let reason = match admit.admit(met, left.saturating_sub(kept), &mut entry).await {
            Ok(permit) => {
                entry.permits.push(permit);
                continue;
            }
            Err(NoPermit::Unknown) => Reason::LimiterUnavailable,
            Err(NoPermit::Full) => Reason::OverCapacity,
        };
        let &PlannedCap { cap, binding, .. } = met;
        let refusal = CapRefusal { cap, binding, reason, wait: come_back(caller) };
        match cap.mode {
            Mode::Shadow => entry.shadows.push(refusal),
            Mode::Enforce => {
                entry.permits.clear();
                entry.refused = Some(refusal);
                break;
            }
        }
    }
    // What everyone shares is asked next, and nobody gives signs of life before the request is at the origin.
    entry.permits.iter().for_each(|permit| permit.extend_heartbeat((admit.wall)(), admit.patience));
    entry
}

fn come_back(caller: Subject) -> u64 {
    let (least, most) = COME_BACK;
    let [.., last] = caller.to_bytes();
    least.saturating_add(u64::from(last).checked_rem(most.saturating_sub(least).saturating_add(1)).unwrap_or(0))
}
