//! Faults: lost messages, failing disks, crashes, clients that leave, and clocks that step back.

use super::case::{Bug, Fault, Move};
use super::parts::{Call, D1Reply, ISOLATES, ModelIsolate};
use super::ports::Answer;
use super::sim::OneShot;
use super::world::ModelWorld;
use core::cell::RefCell;
use penstock::actor::rates::buckets::Buckets;
use penstock::limit::time::Span;
use penstock::protocol::rates::CallError;
use std::collections::BTreeMap;
use std::rc::Rc;

impl ModelWorld {
    /// Returns the faults of the case that could happen now.
    pub fn faults_possible(&self) -> Vec<Move> {
        let mut faults = Vec::new();
        let mut add = |fault: Fault, number: usize| {
            if self.case().kinds.contains(&fault) {
                faults.push(Move::Fault(fault, number));
            }
        };
        for rank in self.ranks(Call::in_flight) {
            add(Fault::AskLost, rank);
            add(Fault::DiskRefuses, rank);
            add(Fault::DiskSavesAndFails, rank);
        }
        for rank in self.ranks(Call::answered) {
            add(Fault::ReplyLost, rank);
        }
        for rank in self.ranks(Call::delivered) {
            add(Fault::ReplyLate, rank);
        }
        for rank in 0..self.shared.statements.borrow().len() {
            add(Fault::CountLost, rank);
        }
        for (number, actor) in self.actors.iter().enumerate() {
            add(Fault::ActorCrash, number);
            add(Fault::ActorBack, number);
            if actor.counter.borrow().holds_quota() {
                add(Fault::RestLost, number);
            }
        }
        for isolate in 0..ISOLATES {
            add(Fault::IsolateCrash, isolate);
            add(Fault::IsolateBack, isolate);
        }
        for rank in 0..self.tasks.len() {
            add(Fault::Cancel, rank);
        }
        faults
    }

    /// Makes a fault happen, and returns whether it was possible.
    pub fn fault(&mut self, fault: Fault, number: usize) -> bool {
        self.losses += 1;
        match fault {
            Fault::AskLost => {
                let Some(index) = self.nth(number, Call::in_flight) else { return false };
                self.end_call(index, Err(CallError::Disconnected));
            }
            Fault::ReplyLost => {
                let Some(index) = self.nth(number, Call::answered) else { return false };
                if self.case().bug == Bug::RefundInActor {
                    let actor = &self.actors[self.calls[index].actor];
                    for (id, debt) in &actor.before {
                        actor.counter.borrow_mut().restore(*id, *debt);
                    }
                }
                self.end_call(index, Err(CallError::Disconnected));
            }
            Fault::ReplyLate => return self.stop_waiting(number),
            Fault::DiskRefuses => return self.deliver(number, |disk| disk.refuses.set(true)),
            Fault::DiskSavesAndFails => return self.deliver(number, |disk| disk.fails.set(true)),
            Fault::CountLost => return self.count(number, D1Reply::Lost),
            Fault::RestLost => {
                self.shared.rest_lost.set(true);
                return self.alarm(number);
            }
            Fault::ActorCrash => return self.crash_actor(number),
            Fault::IsolateCrash => self.crash_isolate(number),
            Fault::Cancel => {
                if number >= self.tasks.len() {
                    return false;
                }
                self.tasks.remove(number);
                self.left = true;
                self.drop_unheard();
            }
            Fault::IsolateBack => {
                self.losses -= 1;
                let step = Span::from_millis(self.case().back);
                self.stepped = self.stepped.plus(step);
                let isolate = &mut self.isolates[number];
                isolate.behind = isolate.behind.plus(step);
            }
            Fault::ActorBack => {
                self.losses -= 1;
                let step = Span::from_millis(self.case().back);
                let Some(actor) = self.actors.get_mut(number) else { return false };
                actor.behind = actor.behind.plus(step);
            }
        }
        true
    }

    /// Makes a task stop waiting for the answer to its question, wherever that is.
    fn stop_waiting(&mut self, rank: usize) -> bool {
        let Some(index) = self.nth(rank, Call::delivered) else { return false };
        let call = &mut self.calls[index];
        let reply_to = core::mem::replace(&mut call.sent.reply_to, OneShot::new());
        let task = call.sent.task;
        if call.answer.is_some() {
            self.calls.remove(index);
        }
        let now = self.now();
        reply_to.put(Answer { said: Err(CallError::Late), begun: now, done: now });
        self.tell(task, 1);
        true
    }

    /// Takes an isolate's memory, and everything that it was doing.
    pub fn crash_isolate(&mut self, isolate: usize) {
        // Each question in flight may come back with tokens.
        let asking = |call: &&Call| self.tasks.iter().any(|task| task.id == call.sent.task && task.isolate == isolate);
        self.losses += self.calls.iter().filter(asking).count() as u64;
        let ModelIsolate { behind, is_edited, .. } = self.isolates[isolate];
        self.isolates[isolate] = ModelIsolate::new(behind, is_edited);
        self.tasks.retain(|task| task.isolate != isolate);
        self.drop_unheard();
    }

    /// Takes an actor's memory, and everything that it was doing. It starts again from its disk.
    fn crash_actor(&mut self, number: usize) -> bool {
        if number >= self.actors.len() {
            return false;
        }
        self.actor_crashes += 1;
        self.losses += self.calls.iter().filter(|call| call.actor == number && call.work.is_some()).count() as u64;
        let counter = Rc::new(RefCell::new(Buckets::default()));
        for (id, debt) in self.actors[number].disk.rows.borrow().iter() {
            counter.borrow_mut().restore(*id, *debt);
        }
        let wall = self.shared.now.get().minus(self.actors[number].behind);
        for (id, warm) in self.actors[number].disk.warm.borrow().iter() {
            counter.borrow_mut().restore_warm(*id, *warm, wall);
        }
        let disk = &self.actors[number].disk;
        counter.borrow_mut().restore_parts_mark(disk.mark.get(), wall);
        let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for ((id, holder), part) in disk.parts.borrow().iter() {
            parts.entry(*id).or_default().push((*holder, part.clone()));
        }
        parts.into_iter().for_each(|(id, parts)| counter.borrow_mut().restore_parts(id, parts, wall));
        self.actors[number].counter = counter;
        self.actors[number].disk.unsaved.borrow_mut().clear();
        while let Some(index) = self.calls.iter().position(|call| call.actor == number && call.work.is_some()) {
            self.calls[index].work = None;
            self.end_call(index, Err(CallError::Disconnected));
        }
        true
    }
}
