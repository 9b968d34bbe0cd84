//! Calls to the actors of caps: for a request that needs a permit, and to renew and return permits.

use crate::concurrency::heartbeats::Id;
use crate::concurrency::lease_table::{PermitGuard, PermitLeases};
use crate::concurrency::permit_lease::PermitLease;
use crate::gate::deadline::is_short;
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::protocol::circuit_breaker::CallResult;
use crate::protocol::permits::{PermitActors, PermitAsk};
use crate::protocol::rates::CallError;
use std::cell::RefCell;
use std::rc::Rc;

/// Everything that a call about permits needs.
#[derive(Debug)]
pub struct PermitCalls<'a, K> {
    /// The actors that lend permits.
    pub actors: &'a K,
    /// The permits that the isolate holds.
    pub leases: &'a RefCell<PermitLeases>,
    /// `DEADLINE`: how long a decision, and so a call, may take at most.
    pub deadline: Span,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<K: PermitActors> PermitCalls<'_, K> {
    /// Renews or returns permits of `cap`, where that is due. Returns the cost: calls made or rows
    /// written, the larger of the two.
    pub async fn tick(&self, cap: &Rc<Cap>) -> u32 {
        match self.with_lease(cap, |lease, now| lease.tick(now, self.deadline)) {
            // A failure is found out by the next request that needs a permit.
            Some(question) => self.ask(cap, &question, self.deadline).await.unwrap_or(1).max(1),
            None => 0,
        }
    }

    /// Whether a task that gives back idle permits of `cap` must be started.
    pub fn claim_return(&self, cap: &Rc<Cap>) -> bool {
        self.with_lease(cap, PermitLease::claim_return)
    }

    /// Whether the task that returns idle permits of `cap`, with so many checks left, has to go on.
    pub fn keeps_returning(&self, cap: &Rc<Cap>, checks_left: u32) -> bool {
        self.with_lease(cap, |lease, now| lease.keeps_returning(checks_left, now))
    }

    /// Whether `cap` is full while others wait for its permits.
    pub fn is_crowded(&self, cap: &Rc<Cap>) -> bool {
        self.with_lease(cap, |lease, now| lease.is_crowded(now))
    }

    /// Asks the actor of `cap`, and records its reply or failure in the lease. Returns the rows
    /// written.
    pub(super) async fn ask(&self, cap: &Rc<Cap>, question: &PermitAsk, patience: Span) -> Result<u32, CallError> {
        let reply = self.actors.ask(&cap.actor, question, patience).await;
        let result = match &reply {
            Err(CallError::Late) if is_short(patience, self.deadline) => CallResult::Nothing,
            reply => CallResult::of(reply),
        };
        let recorded = reply.as_ref().copied().map_err(|_| result);
        self.with_lease(cap, |lease, now| lease.observe(question.number, recorded, now));
        reply.map(|reply| reply.rows)
    }

    /// The guard of the request's permit `id`.
    pub(super) fn guard(&self, cap: &Rc<Cap>, id: Id) -> PermitGuard {
        self.leases.borrow_mut().guard(cap, id)
    }

    /// Does `work` with the isolate's lease of `cap`, at the lease's time.
    pub(super) fn with_lease<T>(&self, cap: &Cap, work: impl FnOnce(&mut PermitLease, Time) -> T) -> T {
        let lease = self.leases.borrow_mut().of(cap);
        let mut lease = lease.borrow_mut();
        let now = lease.now((self.wall)());
        work(&mut lease, now)
    }
}
