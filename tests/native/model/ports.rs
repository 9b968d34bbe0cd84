//! The world as the product's code meets it: messages that somebody has to deliver.

use super::case::{Bug, Case};
use core::cell::{Cell, RefCell};
use core::pin::Pin;
use core::task::{Context, Poll};
use penstock::actor::rates::buckets::BucketStore;
use penstock::gate::state::lease_cache::{LeaseCache, LimitKey};
use penstock::gate::state::tokens::{RoundTrip, Tokens};
use penstock::identity::Subject;
use penstock::ledger::{Added, Entry, Ledger, UnusedQuota};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Outcome, Reply, Terms};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

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

/// A place that an answer will be put in.
pub type Slot<T> = Rc<RefCell<Option<T>>>;

struct Wait<T>(Slot<T>);

impl<T> Future for Wait<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.0.borrow_mut().take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// An actor's answer, and the true times at which it began and was done.
#[derive(Clone, Debug)]
pub struct Answer {
    pub said: Result<Reply, CallError>,
    pub begun: Time,
    pub done: Time,
}

/// A question on its way.
pub struct Sent {
    pub task: u32,
    pub actor: ActorKey<'static>,
    pub ask: Ask,
    pub slot: Slot<Answer>,
}

/// The key of a row in D1: date, limit, subject.
pub type Row = (String, String, Option<Subject>);

/// A statement on its way to D1.
pub struct Statement {
    pub account: Row,
    pub cost: u64,
    pub count: u64,
    pub slot: Slot<Result<Added, String>>,
}

pub struct Timer {
    pub at: Time,
    pub task: u32,
    pub slot: Slot<()>,
}

/// A token that let a request pass: which limit's, and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Admission {
    pub limit: u32,
    pub at: Time,
}

/// What everyone shares.
pub struct Shared {
    pub case: Case,
    /// The true time.
    pub now: Cell<Time>,
    pub next: Cell<u32>,
    pub sent: RefCell<VecDeque<Sent>>,
    pub timers: RefCell<Vec<Timer>>,
    pub statements: RefCell<Vec<Statement>>,
    pub used: RefCell<BTreeMap<Row, u64>>,
    pub admitted: RefCell<Vec<Admission>>,
    /// Whether the answer to what is next given back is lost.
    pub rest_lost: Cell<bool>,
}

impl Shared {
    pub fn number(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }
}

/// One question of a request, when it was asked, and the answer that came.
pub struct Question {
    pub actor: ActorKey<'static>,
    pub ask: Ask,
    pub asked: Time,
    pub answer: Option<Answer>,
}

/// A request's questions.
#[derive(Default)]
pub struct Record {
    pub taken: RefCell<Vec<Question>>,
}

/// Slots that a planted bug keeps outside of the wallet: whose, of what, and when.
pub type Kept = Rc<RefCell<Vec<(LimitKey, Gcra, Time)>>>;

/// One request's or errand's way to the actors.
pub struct Port {
    pub shared: Rc<Shared>,
    pub task: u32,
    pub record: Rc<Record>,
    pub lease_cache: Rc<RefCell<LeaseCache>>,
    /// The names under which the wallet keeps the limits of a policy.
    pub names: BTreeMap<String, LimitKey>,
    /// Slots that the planted bugs keep.
    pub kept: Kept,
}

impl Actors for Port {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, _patience: Span) -> Result<Reply, CallError> {
        let asked = self.shared.now.get();
        let place = self.record.taken.borrow().len();
        let question = Question { actor: actor.clone().into_owned(), ask: ask.clone(), asked, answer: None };
        self.record.taken.borrow_mut().push(question);
        let mut answer = self.once(actor, ask.clone()).await;
        // As `actor::client` does it.
        if answer.said == Err(CallError::Disconnected) {
            let again = if self.shared.case.bug == Bug::RepeatInFull { ask.clone() } else { ask.repeated() };
            answer = self.once(actor, again).await;
        }
        self.record.taken.borrow_mut()[place].answer = answer.said.is_ok().then(|| answer.clone());
        self.mistake(ask, &mut answer, asked);
        answer.said
    }

    async fn sleep(&self, span: Span) {
        let slot = Slot::default();
        let at = self.shared.now.get().plus(span);
        self.shared.timers.borrow_mut().push(Timer { at, task: self.task, slot: Rc::clone(&slot) });
        Wait(slot).await;
    }
}

impl Port {
    async fn once(&self, actor: &ActorKey<'_>, ask: Ask) -> Answer {
        let slot = Slot::default();
        self.shared.sent.borrow_mut().push_back(Sent {
            task: self.task,
            actor: actor.clone().into_owned(),
            ask,
            slot: Rc::clone(&slot),
        });
        Wait(slot).await
    }

    /// What the planted bugs do with an answer.
    fn mistake(&self, ask: &Ask, answer: &mut Answer, asked: Time) {
        let Ok(reply) = &mut answer.said else { return };
        let round_trip = RoundTrip { asked, heard: self.shared.now.get() };
        let refused = reply.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Refused { .. }));
        for ((demand, outcome), grant) in ask.demands.iter().zip(&mut reply.outcomes).zip(&mut reply.grants) {
            let name = self.names[&demand.limit];
            match (self.shared.case.bug, &mut *outcome) {
                (Bug::MetIsTaken, Outcome::Met { .. }) if refused => {
                    let mut lease_cache = self.lease_cache.borrow_mut();
                    if let Some(held) = Tokens::taken(&demand.terms, demand.cost, outcome, round_trip) {
                        lease_cache.give_back(name, held, round_trip.heard);
                    }
                }
                (Bug::PastMidnight, Outcome::Met { more, .. }) => *more = more.plus(Span::from_secs(60)),
                (Bug::LateSlots | Bug::EarlySlots, _) => {
                    if let (Some(grant), Terms::Rate(gcra)) = (grant.take(), &demand.terms) {
                        let slot = |place| answer.done.plus(grant.first).plus(gcra.interval().times(place));
                        self.kept.borrow_mut().extend((0..grant.count).map(|place| (name, *gcra, slot(place))));
                    }
                }
                _ => {}
            }
        }
    }
}

/// An actor's disk.
#[derive(Default)]
pub struct ModelDisk {
    pub rows: RefCell<BTreeMap<BucketId, Time>>,
    /// What is said to be saved and is not.
    pub unsaved: RefCell<BTreeMap<BucketId, Time>>,
    pub warm: RefCell<BTreeMap<BucketId, SavedWarmup>>,
    pub lazy: bool,
    pub refuses: Cell<bool>,
    pub fails: Cell<bool>,
}

impl BucketStore for ModelDisk {
    fn save(&self, id: BucketId, tat: Time) -> Result<u32, String> {
        if self.refuses.get() {
            return Err("SQLITE_FULL".into());
        }
        if self.lazy {
            self.rows.borrow_mut().append(&mut self.unsaved.borrow_mut());
            self.unsaved.borrow_mut().insert(id, tat);
        } else {
            self.rows.borrow_mut().insert(id, tat);
        }
        if self.fails.get() { Err("SQLITE_IOERR".into()) } else { Ok(1) }
    }

    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String> {
        if self.refuses.get() {
            return Err("SQLITE_FULL".into());
        }
        self.warm.borrow_mut().insert(id, *warm);
        if self.fails.get() { Err("SQLITE_IOERR".into()) } else { Ok(1) }
    }
}

/// The way to D1.
pub struct ModelLedger(pub Rc<Shared>);

impl Ledger for ModelLedger {
    async fn add(&self, entry: Entry<'_>, _patience: Span) -> Result<Added, String> {
        let slot = Slot::default();
        self.0.statements.borrow_mut().push(Statement {
            account: (entry.day.date.clone(), entry.limit.to_owned(), entry.subject),
            cost: entry.cost,
            count: entry.count,
            slot: Rc::clone(&slot),
        });
        Wait(slot).await
    }

    async fn give_back(&self, rest: &UnusedQuota) -> Result<(), String> {
        let lost = self.0.rest_lost.replace(false);
        let times = if lost && self.0.case.bug == Bug::RestTwice { 2 } else { 1 };
        for _ in 0..times {
            let mut used = self.0.used.borrow_mut();
            let used = used.entry((rest.date.clone(), rest.limit.clone(), rest.subject)).or_default();
            // As the statement has it: `... AND used >= ?4`.
            *used = used.checked_sub(rest.tokens).unwrap_or(*used);
        }
        if lost { Err("Network connection lost".into()) } else { Ok(()) }
    }
}
