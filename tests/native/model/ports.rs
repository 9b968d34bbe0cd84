//! The world as the product's code meets it: messages that the search delivers, or not.

use super::case::{Bug, Case};
use super::sim::OneShot;
use core::cell::{Cell, RefCell};
use penstock::actor::rates::buckets::BucketStore;
use penstock::actor::rates::cuts::SavedPart;
use penstock::gate::state::GateState;
use penstock::gate::state::lease_cache::LimitKey;
use penstock::gate::state::tokens::{RoundTrip, Tokens};
use penstock::identity::Subject;
use penstock::ledger::{Added, Entry, Ledger, UnusedQuota};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::debt::SavedDebt;
use penstock::limit::gcra::Gcra;
use penstock::limit::share::HolderId;
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Outcome, Reply, Terms};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// An actor's answer, and the true times at which the actor began and ended its work on it.
#[derive(Clone, Debug)]
pub struct Answer {
    pub said: Result<Reply, CallError>,
    pub begun: Time,
    pub done: Time,
}

/// A question on its way to its actor.
pub struct Sent {
    pub task: u32,
    pub actor: ActorKey<'static>,
    pub ask: Ask,
    pub reply_to: OneShot<Answer>,
}

/// The key of a row in D1: date, counter, subject.
pub type RowKey = (String, String, Option<Subject>);

/// A statement on its way to D1.
pub struct Statement {
    pub row: RowKey,
    pub cost: u64,
    pub count: u64,
    pub reply_to: OneShot<Result<Added, String>>,
}

/// A task that sleeps.
pub struct Timer {
    pub at: Time,
    pub task: u32,
    pub reply_to: OneShot<()>,
}

/// A token that admitted a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Admission {
    /// The number of its limit.
    pub limit: u64,
    /// When it was taken.
    pub at: Time,
}

/// The state outside of isolates and actors: true time, messages under way, and D1.
pub struct Shared {
    pub case: Case,
    /// The true time.
    pub now: Cell<Time>,
    /// The number of the next task.
    pub next: Cell<u32>,
    /// Questions that have not been taken over as calls.
    pub sent: RefCell<VecDeque<Sent>>,
    pub timers: RefCell<Vec<Timer>>,
    pub statements: RefCell<Vec<Statement>>,
    /// The rows of D1: tokens used.
    pub used: RefCell<BTreeMap<RowKey, u64>>,
    pub admitted: RefCell<Vec<Admission>>,
    /// Whether D1's answer to the next tokens that are given back is lost.
    pub rest_lost: Cell<bool>,
}

impl Shared {
    pub fn number(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }
}

/// One question of a request, and the answer; `None` while there is none.
pub struct Question {
    pub actor: ActorKey<'static>,
    pub ask: Ask,
    pub asked: Time,
    pub answer: Option<Answer>,
}

/// The questions of one request, in order.
#[derive(Default)]
pub struct Record {
    pub questions: RefCell<Vec<Question>>,
}

/// Slots that a planted bug keeps outside of the lease cache: the limit, its rate, and the time.
pub type KeptSlots = Rc<RefCell<Vec<(LimitKey, Gcra, Time)>>>;

/// The way of one request, or of its background work, to the actors.
pub struct Port {
    pub shared: Rc<Shared>,
    pub task: u32,
    pub record: Rc<Record>,
    pub state: Rc<GateState>,
    /// The keys of the limits in the lease cache, by the limits' names.
    pub keys: BTreeMap<String, LimitKey>,
    pub kept: KeptSlots,
}

impl Actors for Port {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, _patience: Span) -> Result<Reply, CallError> {
        let asked = self.shared.now.get();
        let index = self.record.questions.borrow().len();
        let question = Question { actor: actor.clone().into_owned(), ask: ask.clone(), asked, answer: None };
        self.record.questions.borrow_mut().push(question);
        let mut answer = self.ask_once(actor, ask.clone()).await;
        // The client of actors asks once more, too, when the connection breaks.
        if answer.said == Err(CallError::Disconnected) {
            let again = if self.shared.case.bug == Bug::RepeatInFull { ask.clone() } else { ask.repeated() };
            answer = self.ask_once(actor, again).await;
        }
        self.record.questions.borrow_mut()[index].answer = answer.said.is_ok().then(|| answer.clone());
        self.plant_bug(ask, &mut answer, asked);
        answer.said
    }

    async fn sleep(&self, span: Span) {
        let wake = OneShot::new();
        let at = self.shared.now.get().plus(span);
        self.shared.timers.borrow_mut().push(Timer { at, task: self.task, reply_to: wake.clone() });
        wake.await;
    }
}

impl Port {
    async fn ask_once(&self, actor: &ActorKey<'_>, ask: Ask) -> Answer {
        let reply = OneShot::new();
        self.shared.sent.borrow_mut().push_back(Sent {
            task: self.task,
            actor: actor.clone().into_owned(),
            ask,
            reply_to: reply.clone(),
        });
        reply.await
    }

    /// Makes the planted bug's mistake with an answer.
    fn plant_bug(&self, ask: &Ask, answer: &mut Answer, asked: Time) {
        let Ok(reply) = &mut answer.said else { return };
        let round_trip = RoundTrip { asked, answered: self.shared.now.get() };
        let refused = reply.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Refused { .. }));
        for ((demand, outcome), grant) in ask.demands.iter().zip(&mut reply.outcomes).zip(&mut reply.grants) {
            let key = self.keys[&demand.limit];
            match (self.shared.case.bug, &mut *outcome) {
                (Bug::MetIsTaken, Outcome::Met { .. }) if refused => {
                    let mut lease_cache = self.state.lease_cache.borrow_mut();
                    if let Some(held) = Tokens::taken(&demand.terms, demand.cost, outcome, round_trip) {
                        lease_cache.give_back(key, held, round_trip.answered, round_trip.answered);
                    }
                }
                (Bug::PastMidnight, Outcome::Met { more, .. }) => *more = more.plus(Span::from_secs(60)),
                (Bug::LateSlots | Bug::EarlySlots, _) => {
                    if let (Some(grant), Terms::Rate(gcra)) = (grant.take(), &demand.terms) {
                        let slot = |index| answer.done.plus(grant.first).plus(gcra.interval().times(index));
                        self.kept.borrow_mut().extend((0..grant.count).map(|index| (key, *gcra, slot(index))));
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
    pub rows: RefCell<BTreeMap<BucketId, SavedDebt>>,
    /// The last row that a lazy disk has promised and not saved.
    pub unsaved: RefCell<BTreeMap<BucketId, SavedDebt>>,
    pub warm: RefCell<BTreeMap<BucketId, SavedWarmup>>,
    pub parts: RefCell<BTreeMap<(BucketId, HolderId), SavedPart>>,
    pub mark: Cell<Time>,
    /// Whether the disk promises before it saves: a planted bug.
    pub lazy: bool,
    /// Whether the disk refuses to save.
    pub refuses: Cell<bool>,
    /// Whether the disk saves, and fails.
    pub fails: Cell<bool>,
}

impl BucketStore for ModelDisk {
    fn save(&self, id: BucketId, debt: SavedDebt) -> Result<u32, String> {
        if self.refuses.get() {
            return Err("SQLITE_FULL".into());
        }
        if self.lazy {
            self.rows.borrow_mut().append(&mut self.unsaved.borrow_mut());
            self.unsaved.borrow_mut().insert(id, debt);
        } else {
            self.rows.borrow_mut().insert(id, debt);
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

    fn save_part(&self, id: BucketId, holder: HolderId, part: Option<&SavedPart>) -> Result<u32, String> {
        if self.refuses.get() {
            return Err("SQLITE_FULL".into());
        }
        match part {
            Some(part) => self.parts.borrow_mut().insert((id, holder), part.clone()),
            None => self.parts.borrow_mut().remove(&(id, holder)),
        };
        if self.fails.get() { Err("SQLITE_IOERR".into()) } else { Ok(1) }
    }

    fn mark_parts(&self, until: Time) -> Result<u32, String> {
        if self.refuses.get() {
            return Err("SQLITE_FULL".into());
        }
        self.mark.set(until);
        if self.fails.get() { Err("SQLITE_IOERR".into()) } else { Ok(1) }
    }

    fn retire(&self, _: BucketId) -> Result<u32, String> {
        unreachable!("no state is kept under a printed name")
    }

    fn save_former(&self, _: &str, _: &str) -> Result<u32, String> {
        unreachable!("no state is kept under a printed name")
    }
}

/// The way to D1.
pub struct ModelLedger(pub Rc<Shared>);

impl Ledger for ModelLedger {
    async fn add(&self, entry: Entry<'_>, _patience: Span) -> Result<Added, String> {
        let reply = OneShot::new();
        self.0.statements.borrow_mut().push(Statement {
            row: (entry.day.date.clone(), entry.name.to_owned(), entry.subject),
            cost: entry.cost,
            count: entry.count,
            reply_to: reply.clone(),
        });
        reply.await
    }

    async fn give_back(&self, rest: &UnusedQuota) -> Result<(), String> {
        let lost = self.0.rest_lost.replace(false);
        let times = if lost && self.0.case.bug == Bug::RestTwice { 2 } else { 1 };
        for _ in 0..times {
            let mut used = self.0.used.borrow_mut();
            let used = used.entry((rest.date.clone(), rest.name.clone(), rest.subject)).or_default();
            // Like the statement in D1: `... AND used >= ?4`.
            *used = used.checked_sub(rest.tokens).unwrap_or(*used);
        }
        if lost { Err("Network connection lost".into()) } else { Ok(()) }
    }
}
