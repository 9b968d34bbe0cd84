//! One isolate whose questions arrive, are answered and fail in any order, so that it decides with
//! its actor or alone. No caller gets more than the limit from it, both ways together.

use crate::support::{EVENING, Turn, World};
use core::cell::{Cell, RefCell};
use core::pin::Pin;
use core::task::{Context, Waker};
use penstock::gate::decide::Gate;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::GateState;
use penstock::gate::state::lease_cache::LeaseCache;
use penstock::identity::Subject;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};
use penstock::policy::Policy;
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply, Terms};
use std::collections::BTreeMap;

thread_local! {
    static NOW: Cell<Time> = const { Cell::new(EVENING) };
}

fn now() -> Time {
    NOW.get()
}

/// The state of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The question is on its way.
    Sent,
    /// The actor has answered. The answer is on its way back.
    Incoming,
    /// The answer has arrived.
    Answered,
    /// The question has failed, on its way or at the actor.
    Failed,
}

/// One isolate, its actor, and the state of each question.
struct SteppedIsolate {
    policy: Policy,
    world: World,
    steps: RefCell<Vec<Step>>,
    state: GateState,
    passed: RefCell<Vec<Time>>,
    gcra: Cell<Option<Gcra>>,
    /// Questions that have failed.
    failures: Cell<u64>,
}

type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

impl Actors for SteppedIsolate {
    async fn ask(&self, _: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        if let Terms::Rate(gcra) = ask.demands[0].terms {
            self.gcra.set(Some(gcra));
        }
        let number = self.steps.borrow().len();
        self.steps.borrow_mut().push(Step::Sent);
        let end = now().plus(patience);
        let mut reply = None;
        loop {
            let step = self.steps.borrow()[number];
            if reply.is_none() && matches!(step, Step::Incoming | Step::Answered) {
                self.world.now.set(now());
                reply = Some(self.world.answer(ask).await.map_err(CallError::Failed));
            }
            match step {
                Step::Answered => return reply.unwrap(),
                Step::Failed => {
                    self.failures.set(self.failures.get() + 1);
                    return Err(CallError::Failed("it threw".into()));
                }
                _ if now() >= end => return Err(CallError::Late),
                _ => Turn::default().await,
            }
        }
    }

    async fn sleep(&self, _: Span) {
        Turn::default().await;
    }
}

impl SteppedIsolate {
    fn new(limit: &str) -> SteppedIsolate {
        NOW.set(EVENING);
        let vars: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(&format!(r#"{{"LIMIT_BASE": {{"per_ip": "{limit}"}}}}"#)).unwrap();
        SteppedIsolate {
            policy: Policy::read(&vars).unwrap(),
            world: World::default(),
            steps: RefCell::default(),
            state: GateState::default(),
            passed: RefCell::default(),
            gcra: Cell::default(),
            failures: Cell::default(),
        }
    }

    /// Sends a request of the one caller. If it passes, its background work runs as well.
    fn request(&self) -> Running<'_> {
        Box::pin(async {
            let timing = Timing { durable_after: Span::ZERO, deadline: Span::from_millis(250) };
            let gate = Gate { actors: self, state: &self.state, timing, wall: now };
            let plan = Plan::new(&self.policy, None, Subject::from_bytes([1; 16]), |_| None);
            if gate.decide(&plan).await.refusal.is_some() {
                return;
            }
            self.passed.borrow_mut().push(now());
            for task in gate.refill_tasks(&plan) {
                gate.refill(task).await;
            }
        })
    }

    fn step(&self, question: usize, step: Step) {
        self.steps.borrow_mut()[question] = step;
    }

    /// Panics if more requests have passed within any span than the limit admits.
    fn judge(&self, what: impl core::fmt::Display) {
        let Some(gcra) = self.gcra.get() else { return };
        let passed = self.passed.borrow();
        for (first, from) in passed.iter().enumerate() {
            for (last, to) in passed.iter().enumerate().skip(first) {
                let most = gcra.burst() + to.since(*from).as_nanos() / gcra.interval().as_nanos();
                let count = (last - first + 1) as u64;
                assert!(count <= most, "{what}: {count} of {most} within {}", to.since(*from));
            }
        }
    }
}

/// Lets all requests run until they wait.
fn poll(running: &mut Vec<Running<'_>>) {
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..2 {
        running.retain_mut(|future| future.as_mut().poll(&mut context).is_pending());
    }
}

/// Sends `count` requests, and lets time go on until each has waited for the first one's answer
/// long enough to ask as well.
fn asking(isolate: &SteppedIsolate, count: usize) -> Vec<Running<'_>> {
    let mut running: Vec<_> = (0..count).map(|_| isolate.request()).collect();
    poll(&mut running);
    NOW.set(now().plus(Span::from_millis(126)));
    poll(&mut running);
    assert_eq!(isolate.steps.borrow().len(), count);
    running
}

#[test]
fn tokens_of_questions_in_flight_are_not_admitted_locally() {
    let isolate = SteppedIsolate::new("6/h");
    let mut running = asking(&isolate, 6);
    (0..2).for_each(|question| isolate.step(question, Step::Failed));
    poll(&mut running);
    assert_eq!(isolate.passed.borrow().len(), 2, "alone");
    running.extend((0..6).map(|_| isolate.request()));
    poll(&mut running);
    (2..6).for_each(|question| isolate.step(question, Step::Answered));
    poll(&mut running);
    assert_eq!(isolate.passed.borrow().len(), 6);
}

#[test]
fn late_answer_is_no_failure_when_the_actor_answered_others_meanwhile() {
    let isolate = SteppedIsolate::new("600/h");
    let mut running = asking(&isolate, 3);
    NOW.set(now().plus(Span::from_millis(30)));
    isolate.step(0, Step::Answered);
    poll(&mut running);
    NOW.set(now().plus(Span::from_millis(100)));
    poll(&mut running);
    assert!(running.is_empty(), "the others had no time left");
    assert!(!isolate.state.actor_health.borrow().any_open(), "an answer takes 156 ms of 250");
}

#[test]
fn debt_of_local_admissions_stays_while_it_is_reported() {
    let isolate = SteppedIsolate::new("6/h");
    let mut running = asking(&isolate, 3);
    (0..2).for_each(|question| isolate.step(question, Step::Failed));
    poll(&mut running);
    NOW.set(now().plus(Span::from_secs(1)));
    running.push(isolate.request());
    poll(&mut running);
    isolate.step(2, Step::Answered);
    poll(&mut running);
    isolate.step(3, Step::Failed);
    poll(&mut running);
    running.extend((0..9).map(|_| isolate.request()));
    poll(&mut running);
    assert_eq!(isolate.passed.borrow().len(), 6);
}

#[test]
fn reported_debt_outlives_an_eviction() {
    let isolate = SteppedIsolate::new("6/h");
    let mut running = asking(&isolate, 6);
    (0..6).for_each(|question| isolate.step(question, Step::Failed));
    poll(&mut running);
    assert_eq!(isolate.passed.borrow().len(), 6);
    NOW.set(now().plus(Span::from_secs(1)));
    running.push(isolate.request());
    poll(&mut running);
    isolate.step(6, Step::Answered);
    poll(&mut running);
    isolate.world.evict();
    isolate.state.lease_cache.replace(LeaseCache::default());
    running.push(isolate.request());
    poll(&mut running);
    isolate.step(7, Step::Answered);
    poll(&mut running);
    assert_eq!(isolate.passed.borrow().len(), 6, "the actor's next life knows of them too");
}

#[test]
fn random_orders_and_failures_admit_no_more_than_the_limit() {
    for (limit, most_ms) in [("6/h", 400), ("40/min", 400), ("100/s", 40), ("1000/min", 100)] {
        let failures: u64 = (0..400).map(|seed| random_order(limit, most_ms, seed)).sum();
        assert!(failures > 0, "{limit}: no question has failed");
    }
}

/// Makes 120 moves at random: requests, answers and failures of questions, clients that leave,
/// evictions, and time. Returns the number of questions that have failed.
fn random_order(limit: &str, most_ms: u64, seed: u64) -> u64 {
    let isolate = SteppedIsolate::new(limit);
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut running = Vec::new();
    for _ in 0..120 {
        match draw(12) {
            0..3 => (0..=draw(6)).for_each(|_| running.push(isolate.request())),
            3..9 => {
                let mut steps = isolate.steps.borrow_mut();
                let mut open: Vec<&mut Step> =
                    steps.iter_mut().filter(|step| matches!(step, Step::Sent | Step::Incoming)).collect();
                if !open.is_empty() {
                    let which = draw(open.len() as u64) as usize;
                    *open[which] = match draw(3) {
                        0 => Step::Incoming,
                        1 => Step::Answered,
                        _ => Step::Failed,
                    };
                }
            }
            9 => isolate.world.evict(),
            10 if !running.is_empty() && draw(4) == 0 => {
                // The client leaves.
                let which = draw(running.len() as u64) as usize;
                drop(running.swap_remove(which));
            }
            _ => NOW.set(now().plus(Span::from_millis(draw(most_ms)))),
        }
        poll(&mut running);
    }
    isolate.judge(format_args!("{limit}, {seed}"));
    isolate.failures.get()
}
