//! All permit leases of one isolate, and the guard of a request's permit.

use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_lease::{OriginOutcome, PermitLease};
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::protocol::permits::Holder;
use std::cell::RefCell;
use std::rc::Rc;

/// The permit leases of one isolate, by their caps' names.
#[derive(Debug, Default)]
pub struct PermitLeases {
    holder: Option<Holder>,
    /// A list, since there are few caps.
    leases: Vec<(String, Rc<RefCell<PermitLease>>)>,
}

impl PermitLeases {
    /// Whether [`PermitLeases::set_holder`] was called.
    pub fn has_holder(&self) -> bool {
        self.holder.is_some()
    }

    /// Sets the holder that the permits are lent to. Must be called before any lease is used.
    pub fn set_holder(&mut self, holder: Holder) {
        self.holder = Some(holder);
    }

    /// The guard of the permit with this `id` under `cap`.
    pub fn guard(&mut self, cap: &Rc<Cap>, id: Id) -> PermitGuard {
        PermitGuard { lease: self.of(cap), cap: Rc::clone(cap), id, release: Release::OnDrop }
    }

    /// Takes a heartbeat of the request with this `id` under `cap`. An id of zero belongs to no
    /// request, and only shows that the isolate runs.
    ///
    /// The other caps' leases learn that the isolate runs, so they do not take the time since their
    /// own last heartbeat for a hold-up.
    pub fn heartbeat(&mut self, cap: &Cap, id: Id, wall: Time) {
        let lease = self.of(cap);
        for other in self.leases.iter().map(|(_, other)| other) {
            let mut other_lease = other.borrow_mut();
            let now = other_lease.now(wall);
            if id > 0 && Rc::ptr_eq(other, &lease) {
                other_lease.heartbeat(id, now);
            } else {
                other_lease.in_use(now);
            }
        }
    }

    /// Frees the permit of a request under `cap` that has ended.
    pub fn end(&mut self, cap: &Cap, id: Id) {
        self.of(cap).borrow_mut().end(id);
    }

    /// The permit lease of `cap`, made on its first use.
    pub fn of(&mut self, cap: &Cap) -> Rc<RefCell<PermitLease>> {
        if let Some((_, lease)) = self.leases.iter().find(|(name, _)| *name == cap.actor) {
            return Rc::clone(lease);
        }
        let lease = Rc::new(RefCell::new(PermitLease::new(self.holder.unwrap_or_default(), cap.size)));
        self.leases.push((cap.actor.clone(), Rc::clone(&lease)));
        lease
    }
}

/// A request's permit under one cap. Dropping the guard frees the permit, unless it was handed
/// over.
#[derive(Debug)]
pub struct PermitGuard {
    lease: Rc<RefCell<PermitLease>>,
    cap: Rc<Cap>,
    id: Id,
    release: Release,
}

/// How a permit becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    /// When its guard is dropped.
    OnDrop,
    /// By its id, or when its heartbeats stop.
    ById,
}

impl PermitGuard {
    /// The cap that the permit is of.
    pub fn cap(&self) -> &Rc<Cap> {
        &self.cap
    }

    /// The permit's id under its cap.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Hands the permit over to another keeper. Dropping the guard no longer frees the permit. The
    /// keeper frees it by its id, or it is free when its heartbeats stop.
    pub fn hand_over(&mut self) {
        self.release = Release::ById;
    }

    /// Frees the permit now, also one that was handed over.
    pub fn end(&self) {
        self.lease(|lease, id| lease.end(id));
    }

    /// Gives a heartbeat of the request.
    pub fn heartbeat(&self, wall: Time) {
        self.lease(|lease, id| {
            let now = lease.now(wall);
            lease.heartbeat(id, now);
        });
    }

    /// Gives a heartbeat of the request, which gives no other for up to `span`.
    pub fn extend_heartbeat(&self, wall: Time, span: Span) {
        self.lease(|lease, id| {
            let now = lease.now(wall);
            lease.extend_heartbeat(id, now, span);
        });
    }

    /// Records that the origin's answer has begun, or that the request failed, after `took`.
    pub fn note(&self, took: Span, outcome: OriginOutcome) {
        self.lease(|lease, _| lease.note(took, outcome));
    }

    /// The old and the new size of an adaptive cap, where the change is to be logged; see
    /// [`PermitLease::size_change`].
    pub fn size_change(&self, wall: Time) -> Option<(u64, u64)> {
        let mut lease = self.lease.try_borrow_mut().ok()?;
        let now = lease.now(wall);
        lease.size_change(now)
    }

    fn lease(&self, work: impl FnOnce(&mut PermitLease, Id)) {
        if let Ok(mut lease) = self.lease.try_borrow_mut() {
            work(&mut lease, self.id);
        }
    }
}

impl Drop for PermitGuard {
    fn drop(&mut self) {
        if self.release == Release::OnDrop {
            self.end();
        }
    }
}
