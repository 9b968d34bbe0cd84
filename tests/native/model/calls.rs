//! Calls: questions on their way to actors, the actors' work on them, and the answers.

use super::case::Bug;
use super::parts::{Call, ModelActor};
use super::ports::{Answer, ModelDisk, ModelLedger};
use super::sim::{set_wall, wall};
use super::world::{Memory, ModelWorld};
use core::task::{Context, Poll, Waker};
use penstock::actor::rates::answer::answer;
use penstock::limit::debt::SavedDebt;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{Ask, CallError, Reply, Terms};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

impl ModelWorld {
    /// Turns the questions that tasks have sent into calls, and makes actors that are asked for the
    /// first time.
    pub fn send(&mut self) {
        while let Some(sent) = { self.shared.sent.borrow_mut().pop_front() } {
            let actor = self.actors.iter().position(|actor| actor.actor == sent.actor).unwrap_or_else(|| {
                let lazy = self.case().bug == Bug::GrantBeforePersist;
                self.actors.push(ModelActor {
                    actor: sent.actor.clone(),
                    counter: Rc::default(),
                    disk: Rc::new(ModelDisk { lazy, ..ModelDisk::default() }),
                    behind: Span::ZERO,
                    before: Vec::new(),
                });
                self.actors.len() - 1
            });
            let begun = self.now();
            self.calls.push(Call { sent, actor, begun, work: None, answer: None, past: 0 });
        }
    }

    /// Returns the ranks of the calls for which `of` holds, the oldest first.
    pub fn ranks(&self, of: fn(&Call) -> bool) -> core::ops::Range<usize> {
        0..self.calls.iter().filter(|call| of(call)).count()
    }

    /// Returns the index of the call of this rank among the calls for which `of` holds.
    pub fn nth(&self, rank: usize, of: fn(&Call) -> bool) -> Option<usize> {
        self.calls.iter().enumerate().filter(|(_, call)| of(call)).nth(rank).map(|(index, _)| index)
    }

    /// Drops answers for which no task waits any more.
    pub fn drop_unheard(&mut self) {
        self.calls.retain(|call| !call.answered() || call.sent.reply_to.is_awaited());
    }

    /// Brings a question to its actor; `tamper` may spoil the actor's disk meanwhile.
    pub fn deliver(&mut self, rank: usize, tamper: impl Fn(&ModelDisk)) -> bool {
        let Some(index) = self.nth(rank, Call::in_flight) else { return false };
        let now = self.now();
        let call = &mut self.calls[index];
        let actor = &mut self.actors[call.actor];
        actor.before = actor.disk.rows.borrow().iter().map(|(id, debt)| (*id, *debt)).collect();
        match self.shared.case.bug {
            Bug::CutDown => cut_down(actor, &call.sent.ask, now),
            Bug::EditForgetsOldTerms => convert(actor, &call.sent.ask, now),
            _ => {}
        }
        let (counter, disk) = (Rc::clone(&actor.counter), Rc::clone(&actor.disk));
        let (ledger, ask) = (ModelLedger(Rc::clone(&self.shared)), call.sent.ask.clone());
        tamper(&disk);
        call.begun = now;
        call.work = Some(Box::pin(async move { answer(&counter, &ask, &*disk, &ledger, wall).await }));
        let disk = Rc::clone(&actor.disk);
        self.work(index, 0);
        self.drop_unheard();
        disk.refuses.set(false);
        disk.fails.set(false);
        true
    }

    /// Lets an actor work on a question until it waits for D1. `news` is a hash of D1's answer.
    pub fn work(&mut self, index: usize, news: u64) {
        let now = self.now();
        let call = &mut self.calls[index];
        if call.work.is_none() {
            return;
        }
        let actor = &self.actors[call.actor];
        if self.memory == Memory::Kept {
            let mut hasher = DefaultHasher::new();
            (call.past, news, now, actor.behind).hash(&mut hasher);
            format!("{:?}", actor.counter.borrow()).hash(&mut hasher);
            call.past = hasher.finish();
        }
        let Some(work) = &mut call.work else { return };
        set_wall(now.minus(actor.behind));
        if let Poll::Ready(said) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            call.work = None;
            call.answer = Some(Answer { said: said.map_err(CallError::Failed), begun: call.begun, done: now });
        }
    }

    /// Brings an answer to the task that waits for it.
    pub fn reply(&mut self, rank: usize) -> bool {
        let Some(index) = self.nth(rank, Call::answered) else { return false };
        let Some(answer) = self.calls[index].answer.clone() else { return false };
        self.end_call(index, answer.said);
        true
    }

    /// Ends a call: the task that waits for it gets the result `said`.
    pub fn end_call(&mut self, index: usize, said: Result<Reply, CallError>) {
        let call = self.calls.remove(index);
        let mut hasher = DefaultHasher::new();
        format!("{said:?}").hash(&mut hasher);
        let (begun, done) = call.answer.map_or((call.begun, call.begun), |answer| (answer.begun, answer.done));
        (begun, done).hash(&mut hasher);
        call.sent.reply_to.put(Answer { said, begun, done });
        self.tell(call.sent.task, hasher.finish());
    }
}

/// Makes a planted bug's mistake: it converts a debt to the terms of the question, and keeps
/// nothing of the terms before.
fn convert(actor: &ModelActor, ask: &Ask, now: Time) {
    for demand in &ask.demands {
        if let Terms::Rate(gcra) = demand.terms {
            let id = demand.bucket(ask.subject);
            let Some(saved) = actor.disk.rows.borrow().get(&id).copied() else { continue };
            if (saved.interval, saved.burst) == (gcra.interval(), gcra.burst()) {
                continue;
            }
            let tokens = saved.tat.since(now).as_nanos().div_ceil(saved.interval.as_nanos()).min(gcra.burst());
            let tat = now.plus(gcra.interval().times(tokens));
            let converted = SavedDebt { tat, interval: gcra.interval(), burst: gcra.burst() };
            actor.disk.rows.borrow_mut().insert(id, converted);
            actor.counter.borrow_mut().restore(id, converted);
        }
    }
}

/// Makes a planted bug's mistake: it takes a TAT beyond a full debt for damaged, and cuts it down.
fn cut_down(actor: &ModelActor, ask: &Ask, now: Time) {
    for demand in &ask.demands {
        if let Terms::Rate(gcra) = demand.terms {
            let id = demand.bucket(ask.subject);
            let Some(saved) = actor.disk.rows.borrow().get(&id).copied() else { continue };
            let cut = SavedDebt { tat: gcra.clamp_tat(saved.tat, now, Span::ZERO), ..saved };
            if cut.tat < saved.tat {
                actor.disk.rows.borrow_mut().insert(id, cut);
                actor.counter.borrow_mut().restore(id, cut);
            }
        }
    }
}
