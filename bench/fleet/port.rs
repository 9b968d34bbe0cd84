//! The network as a gate meets it.

use penstock::actor::rates::buckets::BucketStore;
use penstock::ledger::{Added, Entry, Ledger, UnusedQuota};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

thread_local! {
    static WALL: Cell<Time> = const { Cell::new(Time::MAX) };
}

/// The wall clock of whoever is running.
pub fn wall() -> Time {
    WALL.get()
}

pub fn set_wall(time: Time) {
    WALL.set(time);
}

/// A place that something will be put in.
pub struct Slot<T>(Rc<RefCell<Option<T>>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot(Rc::clone(&self.0))
    }
}

impl<T> Slot<T> {
    pub fn empty() -> Slot<T> {
        Slot(Rc::new(RefCell::new(None)))
    }

    pub fn put(&self, value: T) {
        *self.0.borrow_mut() = Some(value);
    }
}

impl<T> Future for Slot<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.0.borrow_mut().take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// What came of a call: the answer, and the true time at which the actor gave it.
pub type Said = (Result<Reply, CallError>, u64);

/// What a task wants of the world.
pub enum Want {
    Ask(Box<Ask>, Slot<Said>, Span),
    Pause(Span, Slot<()>),
}

/// What tasks want, in the order in which they said so; whoever polls a task takes it out.
pub type Wants = Rc<RefCell<Vec<Want>>>;

/// One request's way to the actor.
pub struct Port {
    pub wants: Wants,
    /// When the actor took tokens for it.
    pub taken: Cell<Option<u64>>,
}

impl Actors for Port {
    async fn ask(&self, _: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        let slot = Slot::empty();
        self.wants.borrow_mut().push(Want::Ask(Box::new(ask.clone()), slot.clone(), patience));
        let (said, at) = slot.await;
        self.taken.set(said.is_ok().then_some(at));
        said
    }

    async fn sleep(&self, span: Span) {
        let slot = Slot::empty();
        self.wants.borrow_mut().push(Want::Pause(span, slot.clone()));
        slot.await;
    }
}

/// A disk with one row.
#[derive(Default)]
pub struct OneRow(pub Cell<Option<(BucketId, Time)>>);

impl BucketStore for OneRow {
    fn save(&self, id: BucketId, tat: Time) -> Result<u32, String> {
        self.0.set(Some((id, tat)));
        Ok(1)
    }

    fn save_warm(&self, _: BucketId, _: &SavedWarmup) -> Result<u32, String> {
        Err("nothing warms up here".into())
    }
}

/// There are no quotas here.
pub struct NoLedger;

impl Ledger for NoLedger {
    async fn add(&self, _: Entry<'_>, _: Span) -> Result<Added, String> {
        Err("there is no D1".into())
    }

    async fn give_back(&self, _: &UnusedQuota) -> Result<(), String> {
        Err("there is no D1".into())
    }
}
