//! The network between gates and the actor, and the actor's disk.

use super::sim::OneShot;
use penstock::actor::rates::buckets::BucketStore;
use penstock::actor::rates::cuts::SavedPart;
use penstock::ledger::{Added, Entry, Ledger, UnusedQuota};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::debt::SavedDebt;
use penstock::limit::share::HolderId;
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The result of a call, and the true time in nanoseconds at which the actor gave it.
pub type CallEnd = (Result<Reply, CallError>, u64);

/// An order of a task to the simulation.
pub enum Order {
    /// Brings the question to the actor, and the result back; the task waits for at most the span.
    Ask(Box<Ask>, OneShot<CallEnd>, Span),
    /// Wakes the task after the span.
    Wake(Span, OneShot<()>),
}

/// The orders of the task that was just polled, in their order.
pub type Orders = Rc<RefCell<Vec<Order>>>;

/// The way of one request to the actor.
pub struct Port {
    pub orders: Orders,
    /// The true time in nanoseconds at which the actor took tokens for it; `None` if it did not.
    pub taken: Cell<Option<u64>>,
}

impl Actors for Port {
    async fn ask(&self, _: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        let reply = OneShot::new();
        self.orders.borrow_mut().push(Order::Ask(Box::new(ask.clone()), reply.clone(), patience));
        let (said, at) = reply.await;
        self.taken.set(said.is_ok().then_some(at));
        said
    }

    async fn sleep(&self, span: Span) {
        let wake = OneShot::new();
        self.orders.borrow_mut().push(Order::Wake(span, wake.clone()));
        wake.await;
    }
}

/// A disk with one row.
#[derive(Default)]
pub struct OneRow(pub Cell<Option<(BucketId, SavedDebt)>>);

impl BucketStore for OneRow {
    fn save(&self, id: BucketId, debt: SavedDebt) -> Result<u32, String> {
        self.0.set(Some((id, debt)));
        Ok(1)
    }

    fn save_warm(&self, _: BucketId, _: &SavedWarmup) -> Result<u32, String> {
        Err("nothing warms up here".into())
    }

    fn retire(&self, _: BucketId) -> Result<u32, String> {
        Err("nothing is kept under a printed name here".into())
    }

    fn save_part(&self, _: BucketId, _: HolderId, _: Option<&SavedPart>) -> Result<u32, String> {
        Ok(1)
    }

    fn mark_parts(&self, _: Time) -> Result<u32, String> {
        Ok(1)
    }

    fn save_former(&self, _: &str, _: &str) -> Result<u32, String> {
        Err("nothing is kept under a printed name here".into())
    }
}

/// D1, which is not simulated: there are no quotas here.
pub struct NoLedger;

impl Ledger for NoLedger {
    async fn add(&self, _: Entry<'_>, _: Span) -> Result<Added, String> {
        Err("there is no D1".into())
    }

    async fn give_back(&self, _: &UnusedQuota) -> Result<(), String> {
        Err("there is no D1".into())
    }
}
