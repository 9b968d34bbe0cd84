//! A simulation by events: isolates that send requests to an origin, which has servers behind one
//! queue.

use penstock::limit::adaptive::{AdaptiveCap, Sample};
use penstock::limit::time::Span;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The seconds between two reports of an isolate. It learns the cap with each.
const REPORT: f64 = 2.5;

/// The origin's deadline in seconds: a request that waits longer fails.
const TIMEOUT: f64 = 10.0;

/// Origin and traffic from a time on.
#[derive(Clone, Copy)]
pub struct Era {
    /// When it begins, in seconds.
    pub from: f64,
    /// The number of requests that are served at once: the knee.
    pub servers: usize,
    /// The mean time of a request without a queue, in seconds.
    pub service: f64,
    /// Requests per second that arrive.
    pub arrivals: f64,
    /// The part of them that fails, without any work.
    pub failing: f64,
}

/// The distribution of service times.
#[derive(Clone, Copy)]
pub enum Spread {
    /// All are equal.
    Constant,
    /// Exponential: the deviation equals the mean.
    Exponential,
    /// Log-normal, with this ratio of deviation to mean.
    Heavy(f64),
    /// One in ten takes twenty times as long as the others.
    TwoKinds,
}

/// One line of the history: the requests that ended within [`REPORT`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// The end of the interval, in seconds.
    pub second: f64,
    pub cap: u64,
    pub served: u64,
    pub refused: u64,
    pub failed: u64,
    /// The mean latency in seconds.
    pub latency: f64,
}

pub type History = Vec<Row>;

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Event {
    Arrival,
    Report(usize),
    Done { isolate: usize, arrived: f64, ok: bool },
    Tick,
}

struct At(f64, u64, Event);

impl PartialEq for At {
    fn eq(&self, other: &At) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &At) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

#[derive(Clone, Default)]
struct Isolate {
    share: f64,
    /// The requests that it may have in flight: its share of `known_cap`.
    permits: usize,
    /// The cap that it last received.
    known_cap: u64,
    in_flight: usize,
    sample: Sample,
    latency: f64,
}

pub struct Simulation {
    pub eras: Vec<Era>,
    pub spread: Spread,
    /// How the arrivals are split between the isolates.
    pub shares: Vec<f64>,
    pub bounds: (u64, u64),
    pub seed: u64,
}

struct Run<'s> {
    simulation: &'s Simulation,
    adaptive: AdaptiveCap,
    events: BinaryHeap<Reverse<At>>,
    count: u64,
    random: u64,
    isolates: Vec<Isolate>,
    queue: VecDeque<(usize, f64)>,
    busy: usize,
    row: Row,
}

impl Simulation {
    /// Runs for `seconds`, and returns a row for each interval.
    pub fn run(&self, seconds: f64) -> History {
        let adaptive = AdaptiveCap::new(self.bounds.0, self.bounds.1);
        let sum: f64 = self.shares.iter().sum();
        let isolates = self.shares.iter().map(|share| Isolate { share: share / sum, ..Isolate::default() }).collect();
        let mut run = Run {
            simulation: self,
            adaptive,
            events: BinaryHeap::new(),
            count: 0,
            random: self.seed,
            isolates,
            queue: VecDeque::new(),
            busy: 0,
            row: Row::default(),
        };
        run.at(0.0, Event::Arrival);
        run.at(REPORT, Event::Tick);
        for isolate in 0..self.shares.len() {
            run.receive_cap(isolate);
            let first = run.uniform() * REPORT;
            run.at(first, Event::Report(isolate));
        }
        let mut history = Vec::new();
        while let Some(Reverse(At(now, _, event))) = run.events.pop() {
            if now > seconds {
                break;
            }
            match event {
                Event::Tick => {
                    let row = core::mem::take(&mut run.row);
                    let latency = row.latency / (row.served.max(1)) as f64;
                    history.push(Row { second: now, cap: run.adaptive.cap(), latency, ..row });
                    run.at(now + REPORT, Event::Tick);
                }
                Event::Arrival => run.arrive(now),
                Event::Report(isolate) => run.report(isolate, now),
                Event::Done { isolate, arrived, ok } => run.done(isolate, arrived, ok, now),
            }
        }
        history
    }

    fn era(&self, now: f64) -> Era {
        *self.eras.iter().rev().find(|era| era.from <= now).unwrap()
    }
}

impl Run<'_> {
    fn at(&mut self, time: f64, event: Event) {
        self.count += 1;
        self.events.push(Reverse(At(time, self.count, event)));
    }

    /// From zero to one (splitmix64).
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    fn service(&mut self, mean: f64) -> f64 {
        match self.simulation.spread {
            Spread::Constant => mean,
            Spread::Exponential => self.exponential(mean),
            Spread::Heavy(cv) => {
                let sigma = (1.0 + cv * cv).ln().sqrt();
                let normal =
                    (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (core::f64::consts::TAU * self.uniform()).cos();
                mean * (sigma * normal - sigma * sigma / 2.0).exp()
            }
            Spread::TwoKinds => mean / 2.9 * if self.uniform() < 0.1 { 20.0 } else { 1.0 },
        }
    }

    fn arrive(&mut self, now: f64) {
        let era = self.simulation.era(now);
        let next = now + self.exponential(1.0 / era.arrivals);
        self.at(next, Event::Arrival);
        let mut pick = self.uniform();
        let isolate = self.isolates.iter().position(|isolate| {
            pick -= isolate.share;
            pick <= 0.0
        });
        let isolate = isolate.unwrap_or(0);
        let failing = self.uniform() < era.failing;
        let one = &mut self.isolates[isolate];
        if one.in_flight >= one.permits {
            one.sample.refused += 1;
            self.row.refused += 1;
            return;
        }
        one.in_flight += 1;
        one.sample.max_in_flight = one.sample.max_in_flight.max(one.in_flight as u64);
        if failing {
            self.at(now + 0.001, Event::Done { isolate, arrived: now, ok: false });
            return;
        }
        self.queue.push_back((isolate, now));
        self.serve(now);
    }

    fn serve(&mut self, now: f64) {
        let era = self.simulation.era(now);
        while self.busy < era.servers
            && let Some((isolate, arrived)) = self.queue.pop_front()
        {
            if now - arrived > TIMEOUT {
                self.end(isolate, arrived, false, now);
                continue;
            }
            self.busy += 1;
            let service = self.service(era.service);
            self.at(now + service, Event::Done { isolate, arrived, ok: true });
        }
    }

    fn done(&mut self, isolate: usize, arrived: f64, ok: bool, now: f64) {
        if ok {
            self.busy -= 1;
        }
        self.end(isolate, arrived, ok, now);
        self.serve(now);
    }

    fn end(&mut self, isolate: usize, arrived: f64, ok: bool, now: f64) {
        let one = &mut self.isolates[isolate];
        one.in_flight -= 1;
        one.sample.ended += 1;
        if ok {
            one.latency += now - arrived;
            self.row.served += 1;
            self.row.latency += now - arrived;
        } else {
            one.sample.failed += 1;
            self.row.failed += 1;
        }
    }

    fn report(&mut self, isolate: usize, now: f64) {
        let one = &mut self.isolates[isolate];
        let mut sample = core::mem::take(&mut one.sample);
        let good = (sample.ended - sample.failed).max(1) as f64;
        sample.mean_latency = Span::from_nanos((core::mem::take(&mut one.latency) / good * 1e9) as u64);
        one.sample.max_in_flight = one.in_flight as u64;
        sample.cap = one.known_cap;
        let time = crate::support::EVENING.plus(Span::from_nanos((now * 1e9) as u64));
        self.adaptive.record(&sample, time);
        self.receive_cap(isolate);
        self.at(now + REPORT, Event::Report(isolate));
    }

    fn receive_cap(&mut self, isolate: usize) {
        let cap = self.adaptive.cap() as f64;
        let one = &mut self.isolates[isolate];
        one.known_cap = cap as u64;
        one.permits = (cap * one.share).round().max(1.0) as usize;
    }
}
