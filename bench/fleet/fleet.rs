//! Isolates, an actor, and what happens to them, in the order of time.

use super::meter::{self, Random, Seen};
use super::port::{NoLedger, OneRow, Port, Said, Slot, Want, Wants, set_wall, wall};
use penstock::actor::rates::answer::answer;
use penstock::actor::rates::buckets::Buckets;
use penstock::gate::actor_calls::ActorCalls;
use penstock::gate::decide::Gate;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::actor_health::ActorHealth;
use penstock::gate::state::lease_cache::LeaseCache;
use penstock::gate::state::local_limiter::LocalLimiter;
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use penstock::protocol::rates::{Ask, CallError, Terms};
use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// 2026-11-29T18:00:00Z, in nanoseconds.
const START: u64 = 1_795_975_200_000_000_000;

/// How long an answer may take, as by default.
const DEADLINE: Span = Span::from_millis(250);

/// One run.
#[derive(Clone, Debug)]
pub struct Setup {
    pub isolates: usize,
    /// The limit, per second.
    pub rate: u64,
    pub burst: u64,
    /// Demand, in units of the limit.
    pub load: f64,
    /// How demand is shared out: the weights, repeated.
    pub skew: &'static [u32],
    pub seconds: f64,
    /// Seconds that are not measured.
    pub warm: f64,
    /// From an isolate to the actor and back.
    pub round_trip: Span,
    /// How long the actor works on one call.
    pub work: Span,
    /// How much work may wait at the actor; what comes then is turned away as overload.
    pub queue: Span,
    /// Whether clocks show whole milliseconds, as a Worker's do.
    pub coarse: bool,
    /// How often each isolate crashes, and the actor, per second.
    pub isolate_crashes: f64,
    pub actor_crashes: f64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            isolates: 1,
            rate: 1_000,
            burst: 1_000,
            load: 1.0,
            skew: &[1],
            seconds: 10.0,
            warm: 0.0,
            round_trip: Span::from_millis(10),
            work: Span::ZERO,
            queue: Span::from_secs(60),
            coarse: false,
            isolate_crashes: 0.0,
            actor_crashes: 0.0,
        }
    }
}

enum Event {
    Arrive(usize),
    Ask(Call),
    Work(Call),
    Hear { task: usize, life: u32, slot: Slot<Said>, said: Said },
    Wake { task: usize, life: u32, slot: Slot<()> },
    IsolateCrash(usize),
    ActorCrash,
}

struct Call {
    ask: Box<Ask>,
    slot: Slot<Said>,
    task: usize,
    life: u32,
    /// When nobody waits for the answer any more.
    due: u64,
}

struct At(u64, u64, Event);

impl PartialEq for At {
    fn eq(&self, other: &At) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &At) -> Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

/// What an isolate keeps.
struct State {
    lease_cache: RefCell<LeaseCache>,
    local: RefCell<LocalLimiter>,
    actor_health: RefCell<ActorHealth>,
}

impl State {
    fn new(seed: u64) -> Rc<State> {
        let actor_health = RefCell::new(ActorHealth::new(seed, None));
        Rc::new(State { lease_cache: RefCell::default(), local: RefCell::default(), actor_health })
    }
}

struct Isolate {
    state: Rc<State>,
    /// How far its clock is ahead, in nanoseconds: clocks need not agree.
    ahead: u64,
    rate: f64,
    tasks: Vec<usize>,
}

struct Task {
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    isolate: usize,
    /// Counts the tasks that were kept here, so that nobody wakes the next one.
    life: u32,
}

/// What the tasks write down.
#[derive(Default)]
struct Notes {
    times: Vec<u64>,
    seen: Seen,
    now: u64,
}

pub struct Fleet {
    setup: Setup,
    plan: &'static Plan<'static>,
    gcra: Gcra,
    events: BinaryHeap<Reverse<At>>,
    sequence: u64,
    now: u64,
    isolates: Vec<Isolate>,
    tasks: Vec<Task>,
    free: Vec<usize>,
    counter: RefCell<Buckets>,
    disk: OneRow,
    /// When the actor has nothing to do any more.
    idle: u64,
    random: Random,
    wants: Wants,
    notes: Rc<RefCell<Notes>>,
}

impl Fleet {
    pub fn new(setup: &Setup) -> Fleet {
        let vars = format!(r#"{{"global": "{}/s burst {}"}}"#, setup.rate, setup.burst);
        let vars = [("LIMIT_BASE".to_string(), serde_json::Value::String(vars))];
        let policy: &'static Policy = Box::leak(Box::new(Policy::read(&vars.into_iter().collect()).unwrap()));
        let plan: &'static Plan = Box::leak(Box::new(Plan::new(policy, None, Subject::from_bytes([1; 16]), |_| None)));
        let Terms::Rate(gcra) = plan.shared[0].limits[0].terms() else { panic!("a rate was asked for") };
        let mut random = Random::new(7);
        let weights: u64 = setup.skew.iter().cycle().take(setup.isolates).map(|weight| u64::from(*weight)).sum();
        let isolates = setup.skew.iter().cycle().take(setup.isolates).map(|weight| Isolate {
            state: State::new((random.unit() * 1e18) as u64),
            ahead: (random.unit() * 1e9) as u64,
            rate: setup.load * setup.rate as f64 * f64::from(*weight) / weights as f64,
            tasks: Vec::new(),
        });
        let isolates: Vec<Isolate> = isolates.collect();
        let mut fleet = Fleet {
            setup: setup.clone(),
            plan,
            gcra,
            events: BinaryHeap::new(),
            sequence: 0,
            now: START,
            isolates,
            tasks: Vec::new(),
            free: Vec::new(),
            counter: RefCell::default(),
            disk: OneRow::default(),
            idle: 0,
            random,
            wants: Wants::default(),
            notes: Rc::default(),
        };
        for isolate in 0..setup.isolates {
            fleet.next(fleet.isolates[isolate].rate, Event::Arrive(isolate));
            fleet.next(setup.isolate_crashes, Event::IsolateCrash(isolate));
        }
        fleet.next(setup.actor_crashes, Event::ActorCrash);
        fleet
    }

    pub fn run(mut self) -> Seen {
        let end = START + (self.setup.seconds * 1e9) as u64;
        while let Some(Reverse(At(now, _, event))) = self.events.pop() {
            if now > end {
                break;
            }
            self.now = now;
            self.notes.borrow_mut().now = now;
            self.happen(event);
        }
        self.judge()
    }

    fn judge(&self) -> Seen {
        let Setup { rate, burst, load, seconds, warm, .. } = self.setup;
        let mut notes = self.notes.borrow_mut();
        let Notes { times, seen, .. } = &mut *notes;
        seen.seconds = seconds - warm;
        let allowed = rate as f64 * seen.seconds + if warm == 0.0 { burst as f64 } else { 0.0 };
        let wanted = if load > 1.0 { allowed } else { seen.requests as f64 };
        seen.used = 100.0 * seen.passed as f64 / wanted;
        seen.over = meter::over(times, self.gcra.interval().as_nanos(), burst);
        seen.clone()
    }

    fn measured(&self) -> bool {
        self.now >= START + (self.setup.warm * 1e9) as u64
    }

    /// The next of events that come `rate` times a second.
    fn next(&mut self, rate: f64, event: Event) {
        if rate > 0.0 {
            let at = self.now + self.random.wait(rate);
            self.push(at, event);
        }
    }

    fn push(&mut self, at: u64, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse(At(at, self.sequence, event)));
    }

    fn clock(&self, ahead: u64) -> Time {
        let now = self.now + ahead;
        if self.setup.coarse { Time::from_millis(now / 1_000_000) } else { Time::from_nanos(now) }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(isolate) => {
                self.next(self.isolates[isolate].rate, Event::Arrive(isolate));
                self.arrive(isolate);
            }
            Event::Ask(call) => {
                if self.measured() {
                    self.notes.borrow_mut().seen.calls += 1;
                }
                if self.idle.saturating_sub(self.now) > self.setup.queue.as_nanos() {
                    let Call { task, life, slot, .. } = call;
                    let said = (Err(CallError::Overloaded), self.now);
                    return self
                        .push(self.now + self.setup.round_trip.as_nanos() / 2, Event::Hear { task, life, slot, said });
                }
                self.idle = self.idle.max(self.now) + self.setup.work.as_nanos();
                // Whoever asked hears nothing by then, and goes on; the actor works on it all the same.
                let late = call.due;
                if self.idle + self.setup.round_trip.as_nanos() / 2 > late {
                    let (task, life, slot) = (call.task, call.life, call.slot.clone());
                    self.push(late, Event::Hear { task, life, slot, said: (Err(CallError::Late), late) });
                }
                self.push(self.idle, Event::Work(call));
            }
            Event::Work(call) => self.work(call),
            Event::Hear { task, life, slot, said } => {
                slot.put(said);
                self.wake(task, life);
            }
            Event::Wake { task, life, slot } => {
                slot.put(());
                self.wake(task, life);
            }
            Event::IsolateCrash(isolate) => {
                self.isolates[isolate].state = State::new((self.random.unit() * 1e18) as u64);
                for task in std::mem::take(&mut self.isolates[isolate].tasks) {
                    if self.tasks[task].isolate == isolate && self.tasks[task].future.take().is_some() {
                        self.end(task);
                    }
                }
                self.next(self.setup.isolate_crashes, Event::IsolateCrash(isolate));
            }
            Event::ActorCrash => {
                let mut counter = Buckets::default();
                if let Some((id, tat)) = self.disk.0.get() {
                    counter.restore(id, tat);
                }
                self.counter.replace(counter);
                self.next(self.setup.actor_crashes, Event::ActorCrash);
            }
        }
    }

    fn arrive(&mut self, isolate: usize) {
        let measured = self.measured();
        let state = Rc::clone(&self.isolates[isolate].state);
        let (plan, notes) = (self.plan, Rc::clone(&self.notes));
        let port = Port { wants: Rc::clone(&self.wants), taken: None.into() };
        let future = Box::pin(async move {
            let State { lease_cache, local, actor_health } = &*state;
            let patience = Timing { durable_after: Span::from_secs(10), deadline: DEADLINE };
            let gate = Gate { actors: &port, lease_cache, local, actor_health, patience, wall };
            let decision = gate.decide(plan).await;
            {
                let mut notes = notes.borrow_mut();
                if measured && !decision.unchecked.is_empty() {
                    notes.seen.unchecked += 1;
                }
                if decision.refusal.is_some() {
                    return;
                }
                let at = port.taken.get().unwrap_or(notes.now);
                notes.times.push(at);
                notes.seen.passed += u64::from(measured);
            }
            let actor_calls = ActorCalls { actors: &port, lease_cache, actor_health, patience, wall };
            for task in gate.refill_tasks(plan) {
                actor_calls.refill(task).await;
            }
        });
        let task = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(Task { future: None, isolate, life: 0 });
            self.tasks.len() - 1
        });
        let passed = self.notes.borrow().times.len();
        self.tasks[task].isolate = isolate;
        self.tasks[task].future = Some(future);
        self.poll(task);
        let mut notes = self.notes.borrow_mut();
        if measured {
            notes.seen.requests += 1;
            // A request that has passed and refills is not kept waiting by that.
            let waits = self.tasks[task].future.is_some() && notes.times.len() == passed;
            notes.seen.waited += u64::from(waits);
        }
        drop(notes);
        if self.tasks[task].future.is_some() && self.setup.isolate_crashes > 0.0 {
            self.isolates[isolate].tasks.push(task);
        }
    }

    fn wake(&mut self, task: usize, life: u32) {
        if self.tasks[task].life == life && self.tasks[task].future.is_some() {
            self.poll(task);
        }
    }

    fn poll(&mut self, task: usize) {
        set_wall(self.clock(self.isolates[self.tasks[task].isolate].ahead));
        let Some(future) = &mut self.tasks[task].future else { return };
        let done = future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let life = self.tasks[task].life;
        let wants = std::mem::take(&mut *self.wants.borrow_mut());
        for want in wants {
            match want {
                Want::Ask(ask, slot, patience) => {
                    let call = Call { ask, slot, task, life, due: self.now + patience.as_nanos() };
                    self.push(self.now + self.setup.round_trip.as_nanos() / 2, Event::Ask(call));
                }
                Want::Pause(span, slot) => self.push(self.now + span.as_nanos(), Event::Wake { task, life, slot }),
            }
        }
        if done {
            self.tasks[task].future = None;
            self.end(task);
        }
    }

    fn end(&mut self, task: usize) {
        self.tasks[task].life += 1;
        self.free.push(task);
    }

    /// The actor answers; whoever asked may not be there any more by the time that it hears of it.
    fn work(&mut self, call: Call) {
        let Call { ask, slot, task, life, due } = call;
        set_wall(self.clock(0));
        let reply = {
            let work = pin!(answer(&self.counter, &ask, &self.disk, &NoLedger, wall));
            let Poll::Ready(reply) = work.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("only D1 makes it wait, and no quota was asked for")
            };
            reply
        };
        if let Ok(reply) = &reply
            && self.measured()
        {
            self.notes.borrow_mut().seen.rows += u64::from(reply.rows);
        }
        let heard = self.now + self.setup.round_trip.as_nanos() / 2;
        if heard <= due {
            let said = (reply.map_err(CallError::Failed), self.now);
            self.push(heard, Event::Hear { task, life, slot, said });
        }
    }
}
