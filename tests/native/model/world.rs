//! Two isolates, their actors and D1, and one move after the other.

use super::case::{Bug, Case, Fault, Move};
use super::ports::{Admission, Answer, Kept, ModelDisk, ModelLedger, Port, Record, Sent, Shared, set_wall, wall};
use core::cell::{Cell, RefCell};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use penstock::actor::rates::answer::answer;
use penstock::actor::rates::buckets::Buckets;
use penstock::gate::actor_calls::ActorCalls;
use penstock::gate::decide::Gate;
use penstock::gate::plan::{LimitGroup, Plan, Timing};
use penstock::gate::state::actor_health::ActorHealth;
use penstock::gate::state::lease_cache::{LeaseCache, LimitKey};
use penstock::gate::state::local_limiter::LocalLimiter;
use penstock::gate::state::tokens::Tokens;
use penstock::identity::Subject;
use penstock::ledger::{Added, Ledger};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::Lease;
use penstock::limit::time::{Span, Time};
use penstock::policy::Scope;
use penstock::protocol::rates::{ActorKey, Ask, CallError, Intent, Reply, Terms};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

pub const ISOLATES: usize = 2;

/// The only caller.
const CALLER: Subject = Subject::from_bytes([7; 16]);

pub struct Isolate {
    pub lease_cache: Rc<RefCell<LeaseCache>>,
    local: Rc<RefCell<LocalLimiter>>,
    actor_health: Rc<RefCell<ActorHealth>>,
    kept: Kept,
    /// How far its wall clock has fallen back.
    behind: Span,
}

impl Isolate {
    fn new(behind: Span) -> Isolate {
        let (lease_cache, local, actor_health, kept) = Default::default();
        Isolate { lease_cache, local, actor_health, kept, behind }
    }
}

pub struct Actor {
    actor: ActorKey<'static>,
    counter: Rc<RefCell<Buckets>>,
    disk: Rc<ModelDisk>,
    behind: Span,
    /// TATs that a planted bug goes back to.
    before: Vec<(BucketId, Time)>,
}

type Work = Pin<Box<dyn Future<Output = Result<Reply, String>>>>;

/// A question at its actor, or its answer on the way back.
struct Call {
    sent: Sent,
    actor: usize,
    begun: Time,
    work: Option<Work>,
    answer: Option<Answer>,
    past: u64,
}

impl Call {
    fn under_way(&self) -> bool {
        self.work.is_none() && self.answer.is_none()
    }

    fn delivered(&self) -> bool {
        !self.under_way()
    }

    fn answered(&self) -> bool {
        self.answer.is_some()
    }
}

/// What D1 says after it has counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Answer,
    Nothing,
}

struct Task {
    id: u32,
    isolate: usize,
    future: Pin<Box<dyn Future<Output = ()>>>,
    /// Everything that it has been told so far, as one number: what it will do follows from it.
    past: u64,
    verdict: Rc<Cell<Option<Option<Span>>>>,
}

/// Whether a world keeps in mind what has led to its state, so that [`World::key`] means something. That takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Kept,
    None,
}

/// The world, after some moves.
pub struct World {
    pub shared: Rc<Shared>,
    pub isolates: Vec<Isolate>,
    pub actors: Vec<Actor>,
    calls: Vec<Call>,
    tasks: Vec<Task>,
    requests: u8,
    faults: u8,
    /// Crashes of actors; each may forgive a caller a short debt.
    pub actor_crashes: u64,
    /// Faults that may lose tokens of a quota.
    pub losses: u64,
    /// Whether a client has left in the middle of its request.
    pub left: bool,
    /// By how much isolates' clocks have stepped back in all.
    pub stepped: Span,
    memory: Memory,
}

impl World {
    pub fn new(case: &Case, memory: Memory) -> World {
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
        let mut world = World {
            shared,
            isolates: (0..ISOLATES).map(|_| Isolate::new(Span::ZERO)).collect(),
            actors: Vec::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            requests: case.requests,
            faults: case.faults,
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

    fn case(&self) -> &Case {
        &self.shared.case
    }

    pub fn now(&self) -> Time {
        self.shared.now.get()
    }

    /// What may happen next.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        moves.extend(self.ranks(Call::answered).map(Move::Reply));
        moves.extend(self.ranks(Call::under_way).map(Move::Ask));
        moves.extend((0..self.shared.statements.borrow().len()).map(Move::Count));
        if self.requests > 0 {
            // The isolates are alike: whichever is first is the first.
            let isolates = if self.tasks.is_empty() && self.shared.next.get() == 0 { 1 } else { ISOLATES };
            moves.extend((0..isolates).map(Move::Arrive));
        }
        moves.extend(self.case().ticks.iter().map(|millis| Move::Tick(*millis)));
        let holders = self.actors.iter().enumerate().filter(|(_, actor)| actor.counter.borrow().holds_quota());
        moves.extend(holders.map(|(number, _)| Move::Alarm(number)));
        if self.faults > 0 {
            moves.extend(self.faults_possible());
        }
        moves
    }

    fn faults_possible(&self) -> Vec<Move> {
        let mut faults = Vec::new();
        let mut add = |fault: Fault, number: usize| {
            if self.case().kinds.contains(&fault) {
                faults.push(Move::Fault(fault, number));
            }
        };
        for rank in self.ranks(Call::under_way) {
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

    /// Makes a move; whether it was possible.
    pub fn apply(&mut self, step: Move) -> bool {
        match step {
            Move::Arrive(isolate) => {
                let free = self.requests > 0;
                self.requests = self.requests.saturating_sub(1);
                free && self.arrive(isolate).is_some()
            }
            Move::Serve(isolate) => {
                self.arrive(isolate);
                self.drain();
                true
            }
            Move::Ask(rank) => self.deliver(rank, |_| {}),
            Move::Reply(rank) => self.reply(rank),
            Move::Count(rank) => self.count(rank, Told::Answer),
            Move::Tick(millis) => {
                self.tick(Span::from_millis(millis));
                true
            }
            Move::Alarm(actor) => self.alarm(actor),
            Move::Fault(fault, number) => {
                if self.faults == 0 {
                    return false;
                }
                self.faults -= 1;
                self.fault(fault, number)
            }
        }
    }

    fn fault(&mut self, fault: Fault, number: usize) -> bool {
        self.losses += 1;
        match fault {
            Fault::AskLost => {
                let Some(place) = self.nth(number, Call::under_way) else { return false };
                self.hand(place, Err(CallError::Disconnected));
            }
            Fault::ReplyLost => {
                let Some(place) = self.nth(number, Call::answered) else { return false };
                if self.case().bug == Bug::RefundInActor {
                    let actor = &self.actors[self.calls[place].actor];
                    for (id, tat) in &actor.before {
                        actor.counter.borrow_mut().restore(*id, *tat);
                    }
                }
                self.hand(place, Err(CallError::Disconnected));
            }
            Fault::ReplyLate => {
                let Some(place) = self.nth(number, Call::delivered) else { return false };
                let call = &mut self.calls[place];
                let slot = core::mem::take(&mut call.sent.slot);
                let task = call.sent.task;
                if call.answer.is_some() {
                    self.calls.remove(place);
                }
                let now = self.now();
                *slot.borrow_mut() = Some(Answer { said: Err(CallError::Late), begun: now, done: now });
                self.told(task, 1);
            }
            Fault::DiskRefuses => return self.deliver(number, |disk| disk.refuses.set(true)),
            Fault::DiskSavesAndFails => return self.deliver(number, |disk| disk.fails.set(true)),
            Fault::CountLost => return self.count(number, Told::Nothing),
            Fault::RestLost => {
                self.shared.rest_lost.set(true);
                return self.alarm(number);
            }
            Fault::ActorCrash => return self.crash_actor(number),
            Fault::IsolateCrash => {
                let isolate = number;
                // Each question under way may come back with tokens.
                let asking =
                    |call: &&Call| self.tasks.iter().any(|task| task.id == call.sent.task && task.isolate == isolate);
                self.losses += self.calls.iter().filter(asking).count() as u64;
                let behind = self.isolates[isolate].behind;
                self.isolates[isolate] = Isolate::new(behind);
                self.tasks.retain(|task| task.isolate != isolate);
                self.forget();
            }
            Fault::Cancel => {
                if number >= self.tasks.len() {
                    return false;
                }
                self.tasks.remove(number);
                self.left = true;
                self.forget();
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

    /// A request comes to an isolate; what is to be asked after it is asked in the same task.
    fn arrive(&mut self, isolate: usize) -> Option<Rc<Cell<Option<Option<Span>>>>> {
        let id = self.shared.number();
        let shared = Rc::clone(&self.shared);
        let Isolate { lease_cache, local, actor_health, kept, .. } = &self.isolates[isolate];
        let slots = kept.borrow_mut().split_off(0);
        self.use_kept(&slots, isolate);
        let (lease_cache, local, kept) = (Rc::clone(lease_cache), Rc::clone(local), Rc::clone(kept));
        let actor_health = Rc::clone(actor_health);
        let verdict = Rc::new(Cell::new(None));
        let told = Rc::clone(&verdict);
        let case = self.case().clone();
        let future = Box::pin(async move {
            let plan = Plan::new(case.policy, None, CALLER, |_| None);
            let record = Rc::new(Record::default());
            let names = plan
                .caller
                .iter()
                .chain(&plan.shared)
                .flat_map(|group| group.limits.iter().map(|met| (met.limit.name.clone(), group.key(met))));
            let port = Port {
                shared: Rc::clone(&shared),
                task: id,
                record: Rc::clone(&record),
                lease_cache: Rc::clone(&lease_cache),
                names: names.collect(),
                kept,
            };
            let patience = Timing { durable_after: case.durable_after, deadline: case.deadline };
            let gate = Gate {
                actors: &port,
                lease_cache: &lease_cache,
                local: &local,
                actor_health: &actor_health,
                patience,
                wall,
            };
            let decision = gate.decide(&plan).await;
            told.set(Some(decision.refusal.as_ref().map(|refusal| refusal.wait)));
            if decision.refusal.is_some() {
                return;
            }
            admit(&shared, &plan, &record);
            let (refill_tasks, idle_quota_tasks) = (gate.refill_tasks(&plan), gate.idle_quota_tasks(&plan));
            let actor_calls =
                ActorCalls { actors: &port, lease_cache: &lease_cache, actor_health: &actor_health, patience, wall };
            futures_util::future::join_all(refill_tasks.into_iter().map(|task| actor_calls.refill(task))).await;
            futures_util::future::join_all(
                idle_quota_tasks.into_iter().map(|task| actor_calls.return_idle_quota(task)),
            )
            .await;
        });
        self.tasks.push(Task { id, isolate, future, past: 0, verdict: Rc::clone(&verdict) });
        self.told(id, 0);
        Some(verdict)
    }

    /// A planted bug's slots that may be spent by now.
    fn use_kept(&self, kept: &[(LimitKey, Gcra, Time)], isolate: usize) {
        let now = self.now();
        let (lease_cache, later) = (&self.isolates[isolate].lease_cache, &self.isolates[isolate].kept);
        let mut used = false;
        for (name, gcra, slot) in kept.iter().copied() {
            let early = self.case().bug == Bug::EarlySlots;
            if early && slot < now {
                continue;
            }
            if !used && (early || slot <= now.plus(gcra.tolerance())) {
                let lease = Lease::new(slot.since(now).min(gcra.tolerance()), 1, now, now);
                lease_cache.borrow_mut().give_back(name, Tokens::Lease(gcra, lease), now);
                used = true;
            } else {
                later.borrow_mut().push((name, gcra, slot));
            }
        }
    }

    /// Tells a task something, and lets it run until it waits again.
    fn told(&mut self, id: u32, what: u64) {
        let Some(place) = self.tasks.iter().position(|task| task.id == id) else { return };
        let task = &mut self.tasks[place];
        let isolate = &self.isolates[task.isolate];
        if self.memory == Memory::Kept {
            let mut hasher = DefaultHasher::new();
            (task.past, what, self.shared.now.get(), isolate.behind).hash(&mut hasher);
            format!("{:?}{:?}", isolate.lease_cache.borrow(), isolate.actor_health.borrow()).hash(&mut hasher);
            task.past = hasher.finish();
        }
        set_wall(self.shared.now.get().minus(isolate.behind));
        let done = task.future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if done {
            self.tasks.remove(place);
        }
        self.send();
    }

    /// Takes over what the tasks have asked.
    fn send(&mut self) {
        while let Some(sent) = { self.shared.sent.borrow_mut().pop_front() } {
            let actor = self.actors.iter().position(|actor| actor.actor == sent.actor).unwrap_or_else(|| {
                let lazy = self.case().bug == Bug::GrantBeforePersist;
                self.actors.push(Actor {
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

    fn ranks(&self, of: fn(&Call) -> bool) -> core::ops::Range<usize> {
        0..self.calls.iter().filter(|call| of(call)).count()
    }

    fn nth(&self, rank: usize, of: fn(&Call) -> bool) -> Option<usize> {
        self.calls.iter().enumerate().filter(|(_, call)| of(call)).nth(rank).map(|(place, _)| place)
    }

    /// Drops the answers that nobody waits for any more.
    fn forget(&mut self) {
        self.calls.retain(|call| !call.answered() || Rc::strong_count(&call.sent.slot) > 1);
    }

    /// A question reaches its actor, whose disk may have been tampered with.
    fn deliver(&mut self, rank: usize, tamper: impl Fn(&ModelDisk)) -> bool {
        let Some(place) = self.nth(rank, Call::under_way) else { return false };
        let now = self.now();
        let call = &mut self.calls[place];
        let actor = &mut self.actors[call.actor];
        actor.before = actor.disk.rows.borrow().iter().map(|(id, tat)| (*id, *tat)).collect();
        if self.shared.case.bug == Bug::CutDown {
            cut_down(actor, &call.sent.ask, now);
        }
        let (counter, disk) = (Rc::clone(&actor.counter), Rc::clone(&actor.disk));
        let (ledger, ask) = (ModelLedger(Rc::clone(&self.shared)), call.sent.ask.clone());
        tamper(&disk);
        call.begun = now;
        call.work = Some(Box::pin(async move { answer(&counter, &ask, &*disk, &ledger, wall).await }));
        let disk = Rc::clone(&actor.disk);
        self.work(place, 0);
        self.forget();
        disk.refuses.set(false);
        disk.fails.set(false);
        true
    }

    /// Lets an actor work on a question until it waits for D1.
    fn work(&mut self, place: usize, what: u64) {
        let now = self.now();
        let call = &mut self.calls[place];
        if call.work.is_none() {
            return;
        }
        let actor = &self.actors[call.actor];
        if self.memory == Memory::Kept {
            let mut hasher = DefaultHasher::new();
            (call.past, what, now, actor.behind).hash(&mut hasher);
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

    fn reply(&mut self, rank: usize) -> bool {
        let Some(place) = self.nth(rank, Call::answered) else { return false };
        let Some(answer) = self.calls[place].answer.clone() else { return false };
        self.hand(place, answer.said);
        true
    }

    /// Ends a call with what whoever asked is told.
    fn hand(&mut self, place: usize, said: Result<Reply, CallError>) {
        let call = self.calls.remove(place);
        let mut hasher = DefaultHasher::new();
        format!("{said:?}").hash(&mut hasher);
        let (begun, done) = call.answer.map_or((call.begun, call.begun), |answer| (answer.begun, answer.done));
        (begun, done).hash(&mut hasher);
        *call.sent.slot.borrow_mut() = Some(Answer { said, begun, done });
        self.told(call.sent.task, hasher.finish());
    }

    /// D1 counts.
    fn count(&mut self, rank: usize, told: Told) -> bool {
        if rank >= self.shared.statements.borrow().len() {
            return false;
        }
        let statement = self.shared.statements.borrow_mut().remove(rank);
        let added = {
            let mut used = self.shared.used.borrow_mut();
            let used = used.entry(statement.account).or_default();
            if *used + statement.cost <= statement.count {
                *used += statement.cost;
                Added::Counted { used: *used }
            } else {
                Added::Exhausted
            }
        };
        let said = if told == Told::Nothing { Err("Network connection lost".into()) } else { Ok(added) };
        let mut hasher = DefaultHasher::new();
        format!("{said:?}").hash(&mut hasher);
        *statement.slot.borrow_mut() = Some(said);
        // A future that waits for something else is not changed by being polled, and leaves the answer where it is.
        for place in 0..self.calls.len() {
            let before = self.calls[place].past;
            self.work(place, hasher.finish());
            if statement.slot.borrow().is_none() {
                break;
            }
            self.calls[place].past = before;
        }
        self.forget();
        true
    }

    fn tick(&mut self, span: Span) {
        let end = self.now().plus(span);
        loop {
            let due = {
                let mut timers = self.shared.timers.borrow_mut();
                timers.retain(|timer| Rc::strong_count(&timer.slot) > 1);
                let first = timers.iter().enumerate().min_by_key(|(place, timer)| (timer.at, *place));
                let place = first.filter(|(_, timer)| timer.at <= end).map(|(place, _)| place);
                place.map(|place| timers.remove(place))
            };
            let Some(timer) = due else { break };
            self.shared.now.set(self.now().max(timer.at));
            *timer.slot.borrow_mut() = Some(());
            self.told(timer.task, 2);
        }
        self.shared.now.set(end);
    }

    fn alarm(&mut self, actor: usize) -> bool {
        let Some(actor) = self.actors.get(actor) else { return false };
        let mut any = false;
        loop {
            let rest = actor.counter.borrow_mut().take_idle_quota(self.now().minus(actor.behind));
            let Some(rest) = rest else { return any };
            let _ = crate::support::run(ModelLedger(Rc::clone(&self.shared)).give_back(&rest));
            any = true;
        }
    }

    fn crash_actor(&mut self, number: usize) -> bool {
        if number >= self.actors.len() {
            return false;
        }
        self.actor_crashes += 1;
        self.losses += self.calls.iter().filter(|call| call.actor == number && call.work.is_some()).count() as u64;
        let counter = Rc::new(RefCell::new(Buckets::default()));
        for (id, tat) in self.actors[number].disk.rows.borrow().iter() {
            counter.borrow_mut().restore(*id, *tat);
        }
        let wall = self.shared.now.get().minus(self.actors[number].behind);
        for (id, warm) in self.actors[number].disk.warm.borrow().iter() {
            counter.borrow_mut().restore_warm(*id, *warm, wall);
        }
        self.actors[number].counter = counter;
        self.actors[number].disk.unsaved.borrow_mut().clear();
        while let Some(place) = self.calls.iter().position(|call| call.actor == number && call.work.is_some()) {
            self.calls[place].work = None;
            self.hand(place, Err(CallError::Disconnected));
        }
        true
    }

    /// Delivers every message, one after the other, in no time.
    pub fn drain(&mut self) {
        loop {
            let [asks, replies] = [Call::under_way, Call::answered].map(|of| self.nth(0, of).is_some());
            let counts = !self.shared.statements.borrow().is_empty();
            let moved =
                replies && self.reply(0) || asks && self.deliver(0, |_| {}) || counts && self.count(0, Told::Answer);
            if !moved {
                return;
            }
        }
    }

    /// Time goes on, and messages with it.
    pub fn advance(&mut self, span: Span) {
        self.tick(span);
        self.drain();
    }

    /// Whether no clock has stepped.
    pub fn clocks_are_right(&self) -> bool {
        self.fallen_back() == Span::ZERO
    }

    /// By how much clocks have fallen back in all.
    pub fn fallen_back(&self) -> Span {
        let behind = self.isolates.iter().map(|isolate| isolate.behind);
        behind.chain(self.actors.iter().map(|actor| actor.behind)).fold(Span::ZERO, Span::plus)
    }

    /// Until everything that was under way is over, requests that wait for others' tokens included.
    pub fn settle(&mut self) {
        self.drain();
        for _ in 0..self.case().deadline.as_millis() {
            if !self.tasks.iter().any(|task| task.verdict.get().is_none()) {
                break;
            }
            self.tick(Span::from_millis(1));
            self.drain();
        }
    }

    /// Lets as much time go by that nobody who was in trouble is left alone any more, and that nobody waits any more for an answer which a
    /// client that left has taken along.
    pub fn calm_down(&mut self) {
        if self.left {
            self.advance(self.case().deadline);
        }
        let actor_health = self.isolates.iter().any(|isolate| isolate.actor_health.borrow().any_open());
        if actor_health || self.actors.iter().any(|actor| actor.counter.borrow().leaves_ledger_alone()) {
            self.advance(Span::from_secs(16));
        }
    }

    /// One more request, alone: `None` where it passes, or how long it is told to wait.
    pub fn alone(&mut self, isolate: usize) -> Option<Span> {
        let verdict = self.arrive(isolate);
        self.settle();
        verdict.and_then(|verdict| verdict.get()).unwrap_or(Some(Span::from_nanos(u64::MAX)))
    }

    /// What will happen from here on follows from this number, and so does what is checked.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.now(), self.requests, self.faults, self.actor_crashes, self.losses, self.left, self.stepped)
            .hash(&mut hasher);
        for isolate in &self.isolates {
            format!("{:?}{:?}", isolate.lease_cache.borrow(), isolate.local.borrow()).hash(&mut hasher);
            format!("{:?}", isolate.actor_health.borrow()).hash(&mut hasher);
            (isolate.behind, isolate.kept.borrow().len()).hash(&mut hasher);
            isolate.kept.borrow().iter().for_each(|(_, _, slot)| slot.hash(&mut hasher));
        }
        for actor in &self.actors {
            format!("{:?}{:?}", actor.actor, actor.counter.borrow()).hash(&mut hasher);
            (&*actor.disk.rows.borrow(), &*actor.disk.unsaved.borrow(), actor.behind).hash(&mut hasher);
        }
        // In whatever order they came about: numbers are only names.
        let mut pasts: Vec<u64> = self.tasks.iter().map(|task| task.past).collect();
        pasts.sort_unstable();
        let mut calls: Vec<u64> = self.calls.iter().map(|call| self.call_key(call)).collect();
        calls.sort_unstable();
        let mut timers: Vec<(Time, u64)> =
            self.shared.timers.borrow().iter().map(|t| (t.at, self.past(t.task))).collect();
        timers.sort_unstable();
        let statements = self.shared.statements.borrow();
        let mut counts: Vec<_> =
            statements.iter().map(|s| (s.account.1.clone(), s.account.0.clone(), s.cost)).collect();
        counts.sort_unstable();
        (pasts, calls, timers, counts).hash(&mut hasher);
        format!("{:?}", self.shared.used.borrow()).hash(&mut hasher);
        self.shared.admitted.borrow().iter().for_each(|admission| (admission.limit, admission.at).hash(&mut hasher));
        hasher.finish()
    }

    fn past(&self, task: u32) -> u64 {
        self.tasks.iter().find(|other| other.id == task).map_or(0, |task| task.past)
    }

    fn call_key(&self, call: &Call) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.past(call.sent.task), call.actor, call.begun, call.work.is_some(), call.past).hash(&mut hasher);
        format!("{:?}{:?}", call.sent.ask, call.answer).hash(&mut hasher);
        hasher.finish()
    }
}

/// Notes whose tokens let a request pass, and when each was taken.
fn admit(shared: &Shared, plan: &Plan<'_>, record: &Record) {
    let taken = record.taken.borrow();
    let now = shared.now.get();
    let to_shared = |actor: &ActorKey<'_>| matches!(actor, ActorKey::Shared(_));
    let first_shared = taken.iter().find(|question| to_shared(&question.actor)).map_or(now, |question| question.asked);
    let mut admitted = shared.admitted.borrow_mut();
    let mut note = |group: &LimitGroup<'_>, in_hand: Time| {
        let mut takes =
            taken.iter().filter(|question| question.actor == group.actor && question.ask.intent == Intent::Take);
        let take = takes.next();
        for met in &group.limits {
            let asked = take.filter(|take| take.ask.demands.iter().any(|demand| demand.limit == met.limit.name));
            let in_hand = take.map_or(in_hand, |take| take.asked);
            let answer = asked.and_then(|take| take.answer.as_ref());
            let quota = matches!(met.terms(), Terms::Quota(..));
            let at = answer.map_or(in_hand, |answer| if quota { answer.begun } else { answer.done });
            for _ in 0..met.limit.cost {
                admitted.push(Admission { limit: met.limit.number, at });
            }
        }
    };
    for group in &plan.caller {
        note(group, first_shared);
    }
    for group in &plan.shared {
        debug_assert!(group.limits.iter().all(|met| met.limit.scope == Scope::Global));
        note(group, now);
    }
    admitted.sort_unstable();
}

/// What a counter that takes any TAT beyond a full debt for damaged would do.
fn cut_down(actor: &Actor, ask: &Ask, now: Time) {
    for demand in &ask.demands {
        if let Terms::Rate(gcra) = demand.terms {
            let id = demand.bucket(ask.subject);
            let saved = actor.disk.rows.borrow().get(&id).copied().unwrap_or_default();
            let cut = gcra.clamp_tat(saved, now, Span::ZERO);
            if cut < saved {
                actor.disk.rows.borrow_mut().insert(id, cut);
                actor.counter.borrow_mut().restore(id, cut);
            }
        }
    }
}
