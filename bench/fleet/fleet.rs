//! Isolates and one actor, and the events that happen to them, in the order of time.

use super::meter::{self, Random, Seen};
use super::port::{CallEnd, NoLedger, OneRow, Order, Orders, Port};
use super::sim::{OneShot, set_wall, wall};
use penstock::actor::rates::answer::answer;
use penstock::actor::rates::buckets::Buckets;
use penstock::gate::decide::Gate;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::GateState;
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

/// `DEADLINE` of the simulated deployment; the default.
const DEADLINE: Span = Span::from_millis(250);

/// The size, demand and faults of one run.
#[derive(Clone, Debug)]
pub struct Setup {
    pub isolates: usize,
    /// The limit, in tokens per second.
    pub rate: u64,
    pub burst: u64,
    /// Demand, in units of the limit.
    pub load: f64,
    /// The weights of the isolates' demand, repeated.
    pub skew: &'static [u32],
    pub seconds: f64,
    /// The first seconds, which are not measured.
    pub warm: f64,
    /// From an isolate to the actor and back.
    pub round_trip: Span,
    /// The time in which the actor works on one call.
    pub work: Span,
    /// The work that may wait at the actor. A call beyond it is refused as overload.
    pub queue: Span,
    /// Whether clocks show whole milliseconds, like a Worker's clock.
    pub coarse: bool,
    /// Crashes of each isolate per second.
    pub isolate_crashes: f64,
    /// Crashes of the actor per second.
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
    Answered { task: usize, life: u32, reply_to: OneShot<CallEnd>, end: CallEnd },
    Wake { task: usize, life: u32, reply_to: OneShot<()> },
    IsolateCrash(usize),
    ActorCrash,
}

struct Call {
    ask: Box<Ask>,
    reply_to: OneShot<CallEnd>,
    task: usize,
    life: u32,
    /// The task waits for the answer until this time.
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

struct Isolate {
    state: Rc<GateState>,
    /// The nanoseconds by which its clock is ahead. Clocks need not agree.
    ahead: u64,
    rate: f64,
    tasks: Vec<usize>,
}

struct Task {
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    isolate: usize,
    /// Counts the tasks that were kept in this place, so that an event of one does not wake the
    /// next.
    life: u32,
}

/// The records of the tasks.
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
    /// The time at which the actor has done all its work.
    idle: u64,
    random: Random,
    orders: Orders,
    notes: Rc<RefCell<Notes>>,
}

impl Fleet {
    pub fn new(setup: &Setup) -> Fleet {
        let vars = format!(r#"{{"global": "{}/s burst {}"}}"#, setup.rate, setup.burst);
        let vars = [("LIMIT_BASE".to_string(), serde_json::Value::String(vars))];
        let policy: &'static Policy = Box::leak(Box::new(Policy::read(&vars.into_iter().collect()).unwrap()));
        let plan: &'static Plan = Box::leak(Box::new(Plan::new(policy, None, Subject::from_bytes([1; 16]), |_| None)));
        let Terms::Rate(gcra) = Terms::of(plan.shared_limits[0].limits[0]) else { panic!("a rate was asked for") };
        let mut random = Random::new(7);
        let weights: u64 = setup.skew.iter().cycle().take(setup.isolates).map(|weight| u64::from(*weight)).sum();
        let isolates = setup.skew.iter().cycle().take(setup.isolates).map(|weight| Isolate {
            state: Rc::new(GateState::new((random.unit() * 1e18) as u64, None)),
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
            orders: Orders::default(),
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
                    let Call { task, life, reply_to, .. } = call;
                    let end = (Err(CallError::Overloaded), self.now);
                    return self.push(
                        self.now + self.setup.round_trip.as_nanos() / 2,
                        Event::Answered { task, life, reply_to, end },
                    );
                }
                self.idle = self.idle.max(self.now) + self.setup.work.as_nanos();
                // The task goes on without an answer then; the actor works on the call all the
                // same.
                let late = call.due;
                if self.idle + self.setup.round_trip.as_nanos() / 2 > late {
                    let (task, life, reply_to) = (call.task, call.life, call.reply_to.clone());
                    self.push(late, Event::Answered { task, life, reply_to, end: (Err(CallError::Late), late) });
                }
                self.push(self.idle, Event::Work(call));
            }
            Event::Work(call) => self.work(call),
            Event::Answered { task, life, reply_to, end } => {
                reply_to.put(end);
                self.wake(task, life);
            }
            Event::Wake { task, life, reply_to } => {
                reply_to.put(());
                self.wake(task, life);
            }
            Event::IsolateCrash(isolate) => {
                self.isolates[isolate].state = Rc::new(GateState::new((self.random.unit() * 1e18) as u64, None));
                for task in std::mem::take(&mut self.isolates[isolate].tasks) {
                    if self.tasks[task].isolate == isolate && self.tasks[task].future.take().is_some() {
                        self.end(task);
                    }
                }
                self.next(self.setup.isolate_crashes, Event::IsolateCrash(isolate));
            }
            Event::ActorCrash => {
                let mut counter = Buckets::default();
                if let Some((id, debt)) = self.disk.0.get() {
                    counter.restore(id, debt);
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
        let port = Port { orders: Rc::clone(&self.orders), taken: None.into() };
        let future = Box::pin(async move {
            let timing = Timing { durable_after: Span::from_secs(10), deadline: DEADLINE };
            let gate = Gate { actors: &port, state: &state, timing, wall };
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
            for task in gate.refill_tasks(plan) {
                gate.refill(task).await;
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
        let orders = std::mem::take(&mut *self.orders.borrow_mut());
        for order in orders {
            match order {
                Order::Ask(ask, reply_to, patience) => {
                    let call = Call { ask, reply_to, task, life, due: self.now + patience.as_nanos() };
                    self.push(self.now + self.setup.round_trip.as_nanos() / 2, Event::Ask(call));
                }
                Order::Wake(span, reply_to) => {
                    self.push(self.now + span.as_nanos(), Event::Wake { task, life, reply_to })
                }
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

    /// Lets the actor answer. The task may have stopped waiting when the answer arrives.
    fn work(&mut self, call: Call) {
        let Call { ask, reply_to, task, life, due } = call;
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
            let end = (reply.map_err(CallError::Failed), self.now);
            self.push(heard, Event::Answered { task, life, reply_to, end });
        }
    }
}
