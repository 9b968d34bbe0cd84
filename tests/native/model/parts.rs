//! The parts of the model's world: isolates, actors, calls and tasks.

use super::ports::{Answer, KeptSlots, ModelDisk, Sent};
use core::cell::{Cell, RefCell};
use core::pin::Pin;
use penstock::actor::rates::buckets::Buckets;
use penstock::gate::state::GateState;
use penstock::identity::Subject;
use penstock::limit::bucket_table::BucketId;
use penstock::limit::debt::SavedDebt;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{ActorKey, Reply};
use std::rc::Rc;

/// The number of isolates. All are alike.
pub const ISOLATES: usize = 2;

/// The only caller.
pub const CALLER: Subject = Subject::from_bytes([7; 16]);

/// The memory of one isolate.
pub struct ModelIsolate {
    pub state: Rc<GateState>,
    pub kept: KeptSlots,
    /// How far its wall clock has fallen back.
    pub behind: Span,
    /// Whether it has the edited policy.
    pub is_edited: bool,
}

impl ModelIsolate {
    /// Makes an isolate that has just started.
    pub fn new(behind: Span, is_edited: bool) -> ModelIsolate {
        let (state, kept) = Default::default();
        ModelIsolate { state, kept, behind, is_edited }
    }
}

/// One actor: its memory and its disk.
pub struct ModelActor {
    pub actor: ActorKey<'static>,
    pub counter: Rc<RefCell<Buckets>>,
    pub disk: Rc<ModelDisk>,
    /// How far its wall clock has fallen back.
    pub behind: Span,
    /// The debts before the last question, to which a planted bug returns.
    pub before: Vec<(BucketId, SavedDebt)>,
}

/// An actor at work on one question.
type Work = Pin<Box<dyn Future<Output = Result<Reply, String>>>>;

/// One question: on its way, at its actor, or answered and on the way back.
pub struct Call {
    pub sent: Sent,
    /// The index of its actor.
    pub actor: usize,
    /// When the actor began to work on it; before that, when it was sent.
    pub begun: Time,
    /// The actor's work, while it waits for D1.
    pub work: Option<Work>,
    /// The answer, once there is one.
    pub answer: Option<Answer>,
    /// A hash of everything that the actor's work depends on so far.
    pub past: u64,
}

impl Call {
    /// Whether the question has not reached its actor.
    pub fn in_flight(&self) -> bool {
        self.work.is_none() && self.answer.is_none()
    }

    /// Whether the question has reached its actor.
    pub fn delivered(&self) -> bool {
        !self.in_flight()
    }

    /// Whether the answer is on its way back.
    pub fn answered(&self) -> bool {
        self.answer.is_some()
    }
}

/// Whether D1's answer to a statement arrives. D1 has counted in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum D1Reply {
    Arrives,
    Lost,
}

/// The decision about a request, once it is made: `Some(None)` if it passes, or the wait.
pub type DecisionCell = Rc<Cell<Option<Option<Span>>>>;

/// A request, and its background work after the answer.
pub struct Task {
    pub id: u32,
    pub isolate: usize,
    pub future: Pin<Box<dyn Future<Output = ()>>>,
    /// A hash of everything that the task has seen so far; its next steps follow from it.
    pub past: u64,
    pub decision: DecisionCell,
}
