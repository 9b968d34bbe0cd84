//! Parts of a caller's bucket, from the isolates' lease caches through the text of questions and
//! answers to an actor with its disk.

use super::support::{Deployment, now};
use crate::support::run;
use core::cell::{Cell, RefCell};
use penstock::gate::decide::Gate;
use penstock::gate::plan::{Plan, Timing};
use penstock::gate::state::GateState;
use penstock::gate::state::lease_cache::LeaseCache;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use penstock::protocol::rates_wire::{read_ask, read_reply, write_ask, write_reply};

/// Isolates that are named as holders of parts, before one deployment's actors.
struct Fleet {
    deployment: Deployment,
    isolates: Vec<GateState>,
    named: u64,
    /// A bucket whose debt is shorter than this may live in the actor's memory alone.
    durable_after: Span,
    /// Whether the next replies are lost on their way.
    loses: Cell<bool>,
    rows: Cell<u32>,
}

impl Actors for Fleet {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        // Through their texts, as between isolate and object.
        let ask = read_ask(&write_ask(ask)).map_err(CallError::Failed)?;
        let reply = self.deployment.ask(actor, &ask, patience).await?;
        self.rows.set(self.rows.get() + reply.rows);
        if self.loses.get() {
            return Err(CallError::Disconnected);
        }
        read_reply(&write_reply(&reply), ask.demands.len()).map_err(CallError::Failed)
    }

    async fn sleep(&self, span: Span) {
        self.deployment.sleep(span).await;
    }
}

impl Fleet {
    fn new(vars: &str, isolates: usize) -> Fleet {
        let mut fleet = Fleet {
            deployment: Deployment::new(vars),
            isolates: Vec::new(),
            named: 0,
            durable_after: Span::from_secs(10),
            loses: Cell::new(false),
            rows: Cell::new(0),
        };
        (0..isolates).for_each(|_| {
            let isolate = fleet.isolate();
            fleet.isolates.push(isolate);
        });
        fleet
    }

    fn isolate(&mut self) -> GateState {
        self.named += 1;
        GateState { lease_cache: RefCell::new(LeaseCache::of_isolate(self.named)), ..GateState::default() }
    }

    /// A request of the caller number `ip` at an isolate, with its work afterwards; whether it passes.
    fn request(&self, isolate: usize, ip: u8) -> bool {
        let policy = &self.deployment.policy;
        let subject = Subject::from_bytes([ip; 16]);
        let plan = Plan::new(policy, policy.route("GET", "example.com", "/"), subject, |_| None);
        let timing = Timing { durable_after: self.durable_after, deadline: Span::from_millis(250) };
        let gate = Gate { actors: self, state: &self.isolates[isolate], timing, wall: now };
        let passed = run(gate.decide(&plan)).is_allowed();
        if let Some(work) = gate.background(&plan, passed) {
            run(gate.run(work));
        }
        passed
    }

    fn forward(&self, span: Span) {
        self.deployment.forward(span);
    }

    fn evict_actors(&self) {
        self.deployment.actors.borrow().values().for_each(|actor| actor.evict());
    }

    fn calls(&self) -> f64 {
        f64::from(self.deployment.calls.get())
    }
}

/// Deterministic random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn slow_caller_asks_once_in_ten_minutes() {
    let fleet = Fleet::new(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 200"}}"#, 1);
    let requests = 330;
    for _ in 0..requests {
        assert!(fleet.request(0, 1));
        fleet.forward(Span::from_millis(5_500));
    }
    // The first request, the first part, a part for ten minutes, and its renewals.
    assert!(fleet.calls() <= 8.0, "{} calls for {requests} requests in half an hour", fleet.calls());
    assert!(fleet.rows.get() <= 8, "{} rows", fleet.rows.get());
}

#[test]
fn caller_that_comes_once_writes_no_row() {
    let fleet = Fleet::new(r#"{"LIMIT_BASE": {"per_ip": "100/s burst 200"}}"#, 1);
    for ip in 0..200 {
        assert!(fleet.request(0, ip));
    }
    assert_eq!((fleet.calls(), fleet.rows.get()), (200.0, 0));
}

#[test]
fn caller_has_its_burst_at_once_and_no_more() {
    for warm in [0, 3, 40] {
        let fleet = Fleet::new(r#"{"LIMIT_BASE": {"per_ip": "10/s burst 100"}}"#, 1);
        for _ in 0..warm {
            assert!(fleet.request(0, 1));
            fleet.forward(Span::from_secs(2));
        }
        fleet.forward(Span::from_secs(2));
        let passed = (0..300).filter(|_| fleet.request(0, 1)).count();
        assert!((98..=100).contains(&passed), "{passed} of a burst of 100, after {warm} slow requests");
    }
}

#[test]
fn refused_caller_gets_in_when_it_was_told() {
    let fleet = Fleet::new(r#"{"LIMIT_BASE": {"per_ip": "1/s burst 40"}}"#, 2);
    for _ in 0..10 {
        assert!(fleet.request(0, 1) && fleet.request(1, 1));
        fleet.forward(Span::from_secs(4));
    }
    while fleet.request(0, 1) || fleet.request(1, 1) {}
    let policy = &fleet.deployment.policy;
    let plan = Plan::new(policy, policy.route("GET", "example.com", "/"), Subject::from_bytes([1; 16]), |_| None);
    let timing = Timing { durable_after: Span::from_secs(10), deadline: Span::from_millis(250) };
    let gate = Gate { actors: &fleet, state: &fleet.isolates[0], timing, wall: now };
    let wait = run(gate.decide(&plan)).wait();
    assert!(wait > Span::ZERO);
    fleet.forward(Span::from_secs(wait.retry_after_secs()));
    assert!(fleet.request(0, 1), "after {wait}");
}

/// Random traffic over isolates that end, with actors that are evicted and replies that are lost:
/// no more than burst + span / interval passes in any span.
#[test]
fn no_more_passes_whatever_ends_or_is_lost() {
    let mut admitted = 0;
    for seed in 1..=60_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (per_second, burst) = [(100, 200), (10, 100), (40, 40), (5, 300)][random.below(4) as usize];
        let vars = format!(r#"{{"LIMIT_BASE": {{"per_ip": "{per_second}/s burst {burst}", "on_error": "closed"}}}}"#);
        let isolates = 1 + random.below(4) as usize;
        let mut fleet = Fleet::new(&vars, isolates);
        // A crash forgives no debt.
        fleet.durable_after = Span::ZERO;
        let mut log: Vec<Time> = Vec::new();
        let load = 1 + random.below(4);
        for _ in 0..1_500 {
            let isolate = random.below(isolates as u64) as usize;
            if fleet.request(isolate, 1) {
                log.push(now());
            }
            match random.below(400) {
                0 => fleet.evict_actors(),
                1 => fleet.isolates[isolate] = fleet.isolate(),
                2 | 3 => fleet.loses.set(!fleet.loses.get()),
                4 => fleet.forward(Span::from_secs(random.below(700))),
                5 => (0..burst).for_each(|_| log.extend(fleet.request(isolate, 1).then(now))),
                _ => fleet.forward(Span::from_millis(random.below(2_000 / per_second / load + 1))),
            }
        }
        let interval = 1_000_000_000 / per_second;
        let over = over(&log, interval, burst);
        assert!(over <= 0, "seed {seed}: {} tokens over {per_second}/s burst {burst}", over / i128::from(interval));
        admitted += log.len();
    }
    assert!(admitted > 20_000, "{admitted}");
}

/// Nanoseconds of the schedule by which the admissions exceed burst + span / interval.
fn over(times: &[Time], interval: u64, burst: u64) -> i128 {
    let (mut low, mut worst) = (i128::MAX, i128::MIN);
    for (index, at) in times.iter().enumerate() {
        let level = index as i128 * i128::from(interval) - i128::from(at.as_nanos());
        low = low.min(level);
        worst = worst.max(level + i128::from(interval) - low - i128::from(burst * interval));
    }
    worst
}
