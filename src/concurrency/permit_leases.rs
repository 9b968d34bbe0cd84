//! The books of one isolate, and a request's places in them.

use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_lease::{OriginOutcome, PermitLease};
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::protocol::permits::Holder;
use std::cell::RefCell;
use std::rc::Rc;

/// The books of one isolate, by their caps' names.
#[derive(Debug, Default)]
pub struct PermitLeases {
    holder: Option<Holder>,
    /// There are few caps.
    leases: Vec<(String, Rc<RefCell<PermitLease>>)>,
}

impl PermitLeases {
    /// Whether they are known to be somebody's.
    pub fn has_holder(&self) -> bool {
        self.holder.is_some()
    }

    /// Says whose they are, before one is looked into.
    pub fn set_holder(&mut self, holder: Holder) {
        self.holder = Some(holder);
    }

    /// A place in the book of `cap`.
    pub fn guard(&mut self, cap: &Rc<Cap>, id: Id) -> PermitGuard {
        PermitGuard { lease: self.of(cap), cap: Rc::clone(cap), id, kept: Kept::Here }
    }

    /// Hears that a request under `cap` is still under way.
    pub fn heartbeat(&mut self, cap: &Cap, id: Id, wall: Time) {
        let lease = self.of(cap);
        // Where one has had its turn, nothing has held up those under other caps.
        for other in self.leases.iter().map(|(_, other)| other) {
            let mut other_book = other.borrow_mut();
            let now = other_book.now(wall);
            // Zero is nobody's.
            if id > 0 && Rc::ptr_eq(other, &lease) {
                other_book.heartbeat(id, now);
            } else {
                other_book.in_use(now);
            }
        }
    }

    /// A request under `cap` has ended.
    pub fn end(&mut self, cap: &Cap, id: Id) {
        self.of(cap).borrow_mut().end(id);
    }

    /// The book of `cap`.
    pub fn of(&mut self, cap: &Cap) -> Rc<RefCell<PermitLease>> {
        if let Some((_, lease)) = self.leases.iter().find(|(name, _)| *name == cap.name) {
            return Rc::clone(lease);
        }
        let lease = Rc::new(RefCell::new(PermitLease::new(self.holder.unwrap_or_default(), cap.size)));
        self.leases.push((cap.name.clone(), Rc::clone(&lease)));
        lease
    }
}

/// A request's place under one cap; gives it back when dropped, unless it is kept elsewhere.
#[derive(Debug)]
pub struct PermitGuard {
    lease: Rc<RefCell<PermitLease>>,
    cap: Rc<Cap>,
    id: Id,
    kept: Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Here,
    Elsewhere,
}

impl PermitGuard {
    /// The cap that it is a place under.
    pub fn cap(&self) -> &Rc<Cap> {
        &self.cap
    }

    /// Its number under its cap.
    pub fn id(&self) -> Id {
        self.id
    }

    /// From now on it is kept elsewhere, and given back there, by its number; or it is free when there has been no sign of life for a while.
    pub fn hand_over(&mut self) {
        self.kept = Kept::Elsewhere;
    }

    /// Gives it back now, whoever keeps it.
    pub fn end(&self) {
        self.lease(|lease, id| lease.end(id));
    }

    /// The request is still under way.
    pub fn heartbeat(&self, wall: Time) {
        self.lease(|lease, id| {
            let now = lease.now(wall);
            lease.heartbeat(id, now);
        });
    }

    /// The request is on its way to other places, for up to `span`.
    pub fn extend_heartbeat(&self, wall: Time, span: Span) {
        self.lease(|lease, id| {
            let now = lease.now(wall);
            lease.extend_heartbeat(id, now, span);
        });
    }

    /// The origin's answer has begun, or will not come, after `took`.
    pub fn note(&self, took: Span, fate: OriginOutcome) {
        self.lease(|lease, _| lease.note(took, fate));
    }

    /// Where a cap that finds itself has moved to, if that is to be told; see [`PermitLease::news`].
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
        if self.kept == Kept::Here {
            self.end();
        }
    }
}
