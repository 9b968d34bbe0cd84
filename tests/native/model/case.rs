//! A case to explore: a configuration, a scripted beginning, and bounds on the moves after it.

use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use std::collections::BTreeMap;

/// One small deployment, and the bounds of the moves that may happen to it.
#[derive(Clone)]
pub struct Case {
    pub policy: &'static Policy,
    /// The policy after an edit of the terms; the same one if there is no edit.
    pub edited: &'static Policy,
    /// How often an isolate may change from one of the two to the other.
    pub edits: u8,
    /// The true time at the beginning.
    pub start: Time,
    /// The scripted moves before the exploration.
    pub before: Vec<Move>,
    /// Requests that may arrive in all, without the requests of the beginning.
    pub requests: u8,
    /// Faults that may happen in all.
    pub faults: u8,
    /// The kinds of these faults.
    pub kinds: &'static [Fault],
    /// The steps by which time may go on in one move, in milliseconds.
    pub ticks: &'static [u64],
    /// The milliseconds by which a clock steps back.
    pub back: u64,
    /// The number of moves after the beginning.
    pub depth: usize,
    pub durable_after: Span,
    pub deadline: Span,
    /// Whether [`check::finally`](super::check::finally) is checked as well.
    pub ends: bool,
    pub bug: Bug,
}

impl Case {
    /// Returns this case with other vars.
    pub fn with(&self, vars: &str) -> Case {
        let Case { policy, edited, .. } = Case::new(vars);
        Case { policy, edited, ..self.clone() }
    }

    /// Returns this case with an edit of its vars, which isolates may take up four times. The
    /// checks of a path's end know no edits.
    pub fn edited_to(&self, vars: &str) -> Case {
        Case { edited: Case::new(vars).policy, edits: 4, ends: false, ..self.clone() }
    }

    /// Makes a case with these vars, as JSON.
    pub fn new(vars: &str) -> Case {
        let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
        let policy: &'static Policy = Box::leak(Box::new(Policy::read(&vars).unwrap()));
        Case {
            policy,
            edited: policy,
            edits: 0,
            start: crate::support::EVENING,
            before: Vec::new(),
            requests: 4,
            faults: 1,
            kinds: &Fault::ALL,
            ticks: &[10],
            back: 10,
            depth: 8,
            durable_after: Span::ZERO,
            deadline: Span::from_millis(20),
            ends: true,
            bug: Bug::None,
        }
    }
}

/// One move. A question, answer or statement is named by its rank among all in flight, the oldest
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A request comes to an isolate.
    Arrive(usize),
    /// A question reaches its actor.
    Ask(usize),
    /// An actor's answer reaches the task that asked.
    Reply(usize),
    /// A statement reaches D1, and its answer the actor.
    Count(usize),
    /// Time goes on by this many milliseconds.
    Tick(u64),
    /// An actor's alarm rings, if it holds anything to give back.
    Alarm(usize),
    /// A fault happens to the question, answer, statement, isolate or actor of this number.
    Fault(Fault, usize),
    /// An isolate ends, and one with the other policy takes its place.
    Edit(usize),
    /// A scripted beginning's request, whose messages are all delivered at once.
    Serve(usize),
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A question is lost, and the way to the actor breaks.
    AskLost,
    /// An answer is lost, and the way to the actor breaks.
    ReplyLost,
    /// The task that asked stops waiting for the answer.
    ReplyLate,
    /// The disk refuses to save.
    DiskRefuses,
    /// The disk saves, and fails.
    DiskSavesAndFails,
    /// D1 counts, and its answer is lost.
    CountLost,
    /// Tokens that an actor gives back reach D1, and D1's answer is lost.
    RestLost,
    /// An actor loses its memory, and all work under way.
    ActorCrash,
    /// An isolate loses its memory, and all work under way.
    IsolateCrash,
    /// A request's client leaves, and the runtime never resumes the request.
    Cancel,
    /// An isolate's wall clock steps back.
    IsolateBack,
    /// An actor's wall clock steps back.
    ActorBack,
}

impl Fault {
    pub const ALL: [Fault; 12] = [
        Fault::AskLost,
        Fault::ReplyLost,
        Fault::ReplyLate,
        Fault::DiskRefuses,
        Fault::DiskSavesAndFails,
        Fault::CountLost,
        Fault::RestLost,
        Fault::ActorCrash,
        Fault::IsolateCrash,
        Fault::Cancel,
        Fault::IsolateBack,
        Fault::ActorBack,
    ];
}

/// A mistake planted around the product's code. The search must find it, and would find its like
/// inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    None,
    /// The disk says that it has saved before it has.
    GrantBeforePersist,
    /// An answer that could not be delivered makes the actor go back to the TAT before it.
    RefundInActor,
    /// A question is repeated with all that it gives to the actor.
    RepeatInFull,
    /// Leased slots are kept after their time.
    LateSlots,
    /// Leased slots are spent before their time.
    EarlySlots,
    /// A limit that was met beside one that refused counts as taken.
    MetIsTaken,
    /// A quota's tokens are kept after midnight.
    PastMidnight,
    /// Tokens that were given back to a D1 that did not answer are given back again.
    RestTwice,
    /// A caller's tokens are forgotten when a shared limit refuses its request.
    TokensForgotten,
    /// A caller's tokens come back twice when a shared limit refuses its request.
    TokensBackTwice,
    /// An edit converts a debt to the new terms, and forgets it under the old ones.
    EditForgetsOldTerms,
    /// A TAT further ahead than a full debt is cut down to one, although leases own the slots.
    CutDown,
}
