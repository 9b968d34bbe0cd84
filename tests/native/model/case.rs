//! What is explored: a configuration, a scripted beginning, and how much may happen after it.

use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use std::collections::BTreeMap;

/// One small deployment, and the bounds of what happens to it.
#[derive(Clone)]
pub struct Case {
    pub policy: &'static Policy,
    /// When it begins.
    pub start: Time,
    /// What has happened before the exploration begins.
    pub before: Vec<Move>,
    /// Requests that may arrive in all, those of the beginning not counted.
    pub requests: u8,
    /// Faults that may happen in all.
    pub faults: u8,
    /// Which.
    pub kinds: &'static [Fault],
    /// How far time may go on in one move, in milliseconds.
    pub ticks: &'static [u64],
    /// By how many milliseconds a clock may step back.
    pub back: u64,
    /// How many moves after the beginning.
    pub depth: usize,
    pub durable_after: Span,
    pub deadline: Span,
    /// Whether what must hold when all is quiet is looked at too.
    pub ends: bool,
    pub bug: Bug,
}

impl Case {
    /// The same with other vars.
    pub fn with(&self, vars: &str) -> Case {
        Case { policy: Case::new(vars).policy, ..self.clone() }
    }

    /// A deployment with these vars, as JSON.
    pub fn new(vars: &str) -> Case {
        let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
        Case {
            policy: Box::leak(Box::new(Policy::read(&vars).unwrap())),
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

/// One thing that happens. Questions, answers and statements are counted among those under way, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A request comes to an isolate.
    Arrive(usize),
    /// A question reaches its actor.
    Ask(usize),
    /// An actor's answer reaches whoever asked.
    Reply(usize),
    /// A statement reaches D1, and its answer whoever asked.
    Count(usize),
    /// Time goes on by so many milliseconds.
    Tick(u64),
    /// An actor's alarm rings, if it holds anything to give back.
    Alarm(usize),
    /// Something goes wrong with the question, answer, statement, isolate or actor of this number.
    Fault(Fault, usize),
    /// A scripted beginning's request, whose messages are all delivered at once.
    Serve(usize),
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A question is lost, and the way to the actor breaks.
    AskLost,
    /// An answer is lost, and the way to the actor breaks.
    ReplyLost,
    /// Whoever asked stops waiting for the answer.
    ReplyLate,
    /// The disk refuses to save.
    DiskRefuses,
    /// The disk saves, and fails.
    DiskSavesAndFails,
    /// D1 counts, and its answer is lost.
    CountLost,
    /// What an actor gives back reaches D1, and D1's answer is lost.
    RestLost,
    /// An actor loses its memory and whatever it was doing.
    ActorCrash,
    /// An isolate loses its memory and whatever it was doing.
    IsolateCrash,
    /// A request's client leaves, and nobody runs it on.
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

/// A mistake planted in what surrounds the product's code, to see that the search would find its like.
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
    /// What a D1 that did not answer was to be given back is given again.
    RestTwice,
    /// A TAT further ahead than a full debt is cut down to one, whoever owns the slots.
    CutDown,
}
