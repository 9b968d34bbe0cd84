//! The world of the model: two isolates, their actors and D1, and one move after another.
//!
//! Moves are made in `requests`, `calls`, `time_and_d1` and `faults`; `state_key` tells states
//! apart.

use super::case::{Case, Move};
use super::parts::{Call, D1Reply, ISOLATES, ModelActor, ModelIsolate, Task};
use super::ports::Shared;
use core::cell::{Cell, RefCell};
use penstock::limit::time::{Span, Time};
use std::rc::Rc;

/// Whether a world remembers its past, which [`ModelWorld::key`] needs. Remembering takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Kept,
    None,
}

/// Two isolates, their actors and D1, after some moves.
pub struct ModelWorld {
    pub shared: Rc<Shared>,
    pub isolates: Vec<ModelIsolate>,
    pub actors: Vec<ModelActor>,
    pub calls: Vec<Call>,
    pub tasks: Vec<Task>,
    /// Requests that may still arrive.
    pub requests: u8,
    /// Faults that may still happen.
    pub faults: u8,
    /// Edits that may still happen.
    pub edits: u8,
    /// Crashes of actors; each may forgive a caller a short debt.
    pub actor_crashes: u64,
    /// Faults that may lose tokens of a quota.
    pub losses: u64,
    /// Whether a client has left in the middle of its request.
    pub left: bool,
    /// The sum of all steps back of isolates' clocks.
    pub stepped: Span,
    pub memory: Memory,
}

impl ModelWorld {
    /// Makes the world of `case`, after its scripted beginning.
    pub fn new(case: &Case, memory: Memory) -> ModelWorld {
        let shared = Rc::new(Shared {
            case: case.clone(),
            now: Cell::new(case.start),
            next: Cell::new(0),
            sent: RefCell::default(),
            timers: RefCell::default(),
            statements: RefCell::default(),
            used: RefCell::default(),
            admitted: RefCell::default(),
            rest_lost: Cell::new(false),
        });
        let mut world = ModelWorld {
            shared,
            isolates: (0..ISOLATES).map(|_| ModelIsolate::new(Span::ZERO, false)).collect(),
            actors: Vec::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            requests: case.requests,
            faults: case.faults,
            edits: case.edits,
            actor_crashes: 0,
            losses: 0,
            left: false,
            stepped: Span::ZERO,
            memory,
        };
        for step in &case.before {
            world.apply(*step);
        }
        world
    }

    pub fn case(&self) -> &Case {
        &self.shared.case
    }

    /// Returns the true time.
    pub fn now(&self) -> Time {
        self.shared.now.get()
    }

    /// Returns all moves that are possible now.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        moves.extend(self.ranks(Call::answered).map(Move::Reply));
        moves.extend(self.ranks(Call::in_flight).map(Move::Ask));
        moves.extend((0..self.shared.statements.borrow().len()).map(Move::Count));
        if self.requests > 0 {
            // The isolates are alike, so it does not matter which one gets the first request.
            let isolates = if self.tasks.is_empty() && self.shared.next.get() == 0 { 1 } else { ISOLATES };
            moves.extend((0..isolates).map(Move::Arrive));
        }
        moves.extend(self.case().ticks.iter().map(|millis| Move::Tick(*millis)));
        let holders = self.actors.iter().enumerate().filter(|(_, actor)| actor.counter.borrow().holds_quota());
        moves.extend(holders.map(|(number, _)| Move::Alarm(number)));
        if self.edits > 0 {
            moves.extend((0..ISOLATES).map(Move::Edit));
        }
        if self.faults > 0 {
            moves.extend(self.faults_possible());
        }
        moves
    }

    /// Makes a move, and returns whether it was possible.
    pub fn apply(&mut self, step: Move) -> bool {
        match step {
            Move::Arrive(isolate) => {
                let free = self.requests > 0;
                self.requests = self.requests.saturating_sub(1);
                if free {
                    self.arrive(isolate);
                }
                free
            }
            Move::Serve(isolate) => {
                self.arrive(isolate);
                self.drain();
                true
            }
            Move::Ask(rank) => self.deliver(rank, |_| {}),
            Move::Reply(rank) => self.reply(rank),
            Move::Count(rank) => self.count(rank, D1Reply::Arrives),
            Move::Tick(millis) => {
                self.tick(Span::from_millis(millis));
                true
            }
            Move::Alarm(actor) => self.alarm(actor),
            Move::Edit(isolate) => {
                let free = self.edits > 0;
                self.edits = self.edits.saturating_sub(1);
                if free {
                    self.isolates[isolate].is_edited ^= true;
                    self.crash_isolate(isolate);
                }
                free
            }
            Move::Fault(fault, number) => {
                if self.faults == 0 {
                    return false;
                }
                self.faults -= 1;
                self.fault(fault, number)
            }
        }
    }

    /// Delivers every message, one after the other, in no time.
    pub fn drain(&mut self) {
        loop {
            let [asks, replies] = [Call::in_flight, Call::answered].map(|of| self.nth(0, of).is_some());
            let counts = !self.shared.statements.borrow().is_empty();
            let moved = replies && self.reply(0)
                || asks && self.deliver(0, |_| {})
                || counts && self.count(0, D1Reply::Arrives);
            if !moved {
                return;
            }
        }
    }

    /// Lets time go on, then delivers all messages.
    pub fn advance(&mut self, span: Span) {
        self.tick(span);
        self.drain();
    }

    /// Whether no clock has stepped.
    pub fn clocks_are_right(&self) -> bool {
        self.fallen_back() == Span::ZERO
    }

    /// Returns how far all clocks together are behind the true time.
    pub fn fallen_back(&self) -> Span {
        let behind = self.isolates.iter().map(|isolate| isolate.behind);
        behind.chain(self.actors.iter().map(|actor| actor.behind)).fold(Span::ZERO, Span::plus)
    }

    /// Lets time go on until every request is decided, also requests that wait for another one's
    /// tokens.
    pub fn settle(&mut self) {
        self.drain();
        for _ in 0..self.case().deadline.as_millis() {
            if !self.tasks.iter().any(|task| task.decision.get().is_none()) {
                break;
            }
            self.tick(Span::from_millis(1));
            self.drain();
        }
    }

    /// Lets time go on until every actor is asked again, and until no request waits for an answer
    /// that a client has taken along when it left.
    pub fn calm_down(&mut self) {
        if self.left {
            self.advance(self.case().deadline);
        }
        let actor_health = self.isolates.iter().any(|isolate| isolate.state.actor_health.borrow().any_open());
        if actor_health || self.actors.iter().any(|actor| actor.counter.borrow().leaves_ledger_alone()) {
            self.advance(Span::from_secs(16));
        }
    }

    /// Sends one more request to a quiet world. Returns `None` if it passes, or else its wait.
    pub fn alone(&mut self, isolate: usize) -> Option<Span> {
        let decision = self.arrive(isolate);
        self.settle();
        decision.get().unwrap_or(Some(Span::from_nanos(u64::MAX)))
    }
}
