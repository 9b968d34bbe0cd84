//! What real traffic costs with parts: calls and rows per 1,000 requests of one limit, with no time
//! on the way. Requests of a caller lie on one isolate, or roam over several.

use super::Random;
use super::world::{SECOND, over, span, time};
use penstock::limit::gcra::Gcra;
use penstock::limit::share::{CutBucket, PartAnswer, PartHolder, Renewal, Sizes};
use penstock::limit::time::{Span, Time};

const SHORT: Span = Span::from_secs(10);
const HALF_AN_HOUR: f64 = 1_800.0;

/// One limit, with the actor's counts of calls and rows.
struct Actor {
    gcra: Gcra,
    bucket: CutBucket,
    sizes: Sizes,
    calls: u64,
    rows: u64,
}

impl Actor {
    fn new(per_second: u64, burst: u64) -> Actor {
        let gcra = Gcra::new(span(SECOND / per_second), burst).unwrap();
        let bucket = CutBucket::new(gcra, Time::default(), Time::default(), SHORT);
        Actor { gcra, bucket, sizes: Sizes::default(), calls: 0, rows: 0 }
    }
}

struct Isolate {
    id: u64,
    holder: PartHolder,
    seq: u64,
    renewal: Renewal,
    again: Time,
    is_new: bool,
}

impl Isolate {
    fn new(id: u64, now: Time) -> Isolate {
        Isolate { id, holder: PartHolder::default(), seq: 0, renewal: Renewal::new(now), again: now, is_new: true }
    }

    /// A request at `t`; whether it passes.
    fn request(&mut self, actor: &mut Actor, t: u64) -> bool {
        let now = time(t);
        self.renewal.meter.record(now, 1);
        let passed = self.holder.spend(now, 1);
        if (!passed && now >= self.again) || self.renewal.is_due(&self.holder, now) {
            return self.ask(actor, now, passed);
        }
        passed
    }

    fn ask(&mut self, actor: &mut Actor, now: Time, passed: bool) -> bool {
        actor.calls += 1;
        let passed = passed || actor.bucket.take(now, 1).is_ok();
        // The first request of a caller asks for itself alone.
        if std::mem::take(&mut self.is_new) {
            return passed;
        }
        let demand = self.renewal.meter.measure(now);
        self.seq += 1;
        let question = self.holder.ask(self.id, self.seq, now, u64::MAX);
        let (size, again) = actor.sizes.size(&actor.bucket, now, &question, demand);
        let written = size.is_some_and(|size| size.written);
        let answer = size.map_or(PartAnswer::None, |size| actor.bucket.part(now, &question, &size));
        if let PartAnswer::Part(part) = answer {
            actor.rows += u64::from(written);
            self.renewal.heard(now, part.term, again);
            self.holder.hear(now, question.seq, actor.gcra.interval(), Some(&part));
        } else {
            self.holder.hear(now, question.seq, actor.gcra.interval(), None);
        }
        self.again = if passed { now } else { now.plus(again) };
        passed || self.holder.spend(now, 1)
    }
}

#[derive(Default)]
struct Total {
    requests: u64,
    passed: u64,
    calls: u64,
    rows: u64,
}

impl Total {
    fn per_1_000(&self) -> (f64, f64) {
        let each = |count: u64| 1_000.0 * count as f64 / self.requests as f64;
        (each(self.calls), each(self.rows))
    }
}

/// One caller: the seconds at which its requests come, each with the isolate that they reach.
fn caller(total: &mut Total, per_second: u64, burst: u64, mut requests: Vec<(f64, u64)>) {
    requests.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut actor = Actor::new(per_second, burst);
    let mut isolates: Vec<Option<Isolate>> = Vec::new();
    isolates.resize_with(8, || None);
    let mut log = Vec::new();
    for (seconds, place) in requests {
        // Not at the epoch: an isolate's first question lies after it.
        let t = (seconds * 1e9) as u64 + SECOND;
        let isolate = isolates[place as usize].get_or_insert_with(|| Isolate::new(place + 1, time(t)));
        total.requests += 1;
        if isolate.request(&mut actor, t) {
            log.push(t);
        }
    }
    assert!(over(&log, SECOND / per_second, burst) <= 0);
    total.passed += log.len() as u64;
    total.calls += actor.calls;
    total.rows += actor.rows;
}

/// Gaps from `low` to `high` seconds.
fn every(random: &mut Random, low: f64, high: f64, until: f64) -> Vec<f64> {
    let mut t = random.between(0.0, high);
    let mut times = Vec::new();
    while t < until {
        times.push(t);
        t += random.between(low, high);
    }
    times
}

/// A page of twelve requests within half a second, and the next one after 10 to 20 seconds.
fn pages(random: &mut Random, until: f64) -> Vec<f64> {
    let mut t = random.between(0.0, 15.0);
    let mut times = Vec::new();
    while t < until {
        times.push(t);
        times.extend((1..12).map(|_| t + random.between(0.02, 0.5)));
        t += random.between(10.0, 20.0);
    }
    times
}

fn poisson(random: &mut Random, per_second: f64, until: f64) -> Vec<f64> {
    let mut t = 0.0;
    let mut times = Vec::new();
    while t < until {
        t += random.exponential(1.0 / per_second);
        times.push(t);
    }
    times
}

fn on(place: u64, times: Vec<f64>) -> impl Iterator<Item = (f64, u64)> {
    times.into_iter().map(move |t| (t, place))
}

/// Checks that nobody is refused, and what 1,000 requests cost.
fn check(name: &str, total: &Total, most_calls: f64, most_rows: f64) {
    let (calls, rows) = total.per_1_000();
    println!("{name}: {calls:.1} calls, {rows:.1} rows, {} of {} passed", total.passed, total.requests);
    assert_eq!(total.passed, total.requests, "{name}: refused");
    assert!(calls <= most_calls, "{name}: {calls:.1} calls per 1,000 requests");
    assert!(rows <= most_rows, "{name}: {rows:.1} rows per 1,000 requests");
}

#[test]
fn browsers_cost_a_few_calls() {
    let mut total = Total::default();
    for seed in 0..12 {
        let times = pages(&mut Random::new(seed), HALF_AN_HOUR);
        caller(&mut total, 20, 1_200, on(0, times).collect());
    }
    check("browsers, 1200/min", &total, 10.0, 5.0);
}

#[test]
fn slow_clients_cost_a_few_calls() {
    let mut total = Total::default();
    for seed in 0..48 {
        let times = every(&mut Random::new(seed), 3.0, 8.0, HALF_AN_HOUR);
        caller(&mut total, 100, 200, on(0, times).collect());
    }
    check("slow API, 100/s burst 200", &total, 30.0, 15.0);
}

#[test]
fn slow_clients_that_roam_cost_a_few_calls_more() {
    let mut total = Total::default();
    for seed in 0..48 {
        let requests = (0..4).flat_map(|place| {
            let times = every(&mut Random::new(4 * seed + place), 12.0, 32.0, HALF_AN_HOUR);
            on(place, times)
        });
        caller(&mut total, 100, 200, requests.collect());
    }
    check("slow API over four isolates", &total, 110.0, 60.0);
}

#[test]
fn heavy_clients_over_four_isolates_cost_a_few_calls() {
    let mut total = Total::default();
    for seed in 0..2 {
        let requests = (0..4).flat_map(|place| {
            let times = poisson(&mut Random::new(4 * seed + place), 5.0, HALF_AN_HOUR);
            on(place, times)
        });
        caller(&mut total, 100, 200, requests.collect());
    }
    check("20/s over four isolates, 100/s burst 200", &total, 7.0, 6.0);
}

#[test]
fn a_hot_client_on_one_isolate_costs_a_few_calls() {
    let mut total = Total::default();
    for seed in 0..2 {
        let times = poisson(&mut Random::new(seed), 200.0, 60.0);
        caller(&mut total, 300, 600, on(0, times).collect());
    }
    check("200/s on one isolate, 300/s burst 600", &total, 15.0, 5.0);
}

/// After a quarter of an hour of quiet on four isolates, a caller that turns hot on one of them has
/// three quarters of its burst at once, and its rate from the second second on.
#[test]
fn a_caller_that_turns_hot_has_most_of_its_burst_at_once() {
    for place in [0, 4] {
        let mut actor = Actor::new(100, 200);
        let mut isolates: Vec<Isolate> = (0..5).map(|id| Isolate::new(id + 1, time(SECOND))).collect();
        let quiet = (0..4).flat_map(|place| on(place, every(&mut Random::new(place), 12.0, 32.0, 900.0)));
        let mut quiet: Vec<(f64, u64)> = quiet.collect();
        quiet.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        for (seconds, place) in quiet {
            assert!(isolates[place as usize].request(&mut actor, (seconds * 1e9) as u64 + SECOND));
        }
        let mut passed = [0; 8];
        let start = 901 * SECOND;
        for millis in 0..8_000_u64 {
            let t = start + millis * SECOND / 1_000;
            passed[(millis / 1_000) as usize] += u64::from(isolates[place].request(&mut actor, t));
        }
        println!("on isolate {place}: {passed:?}, {} calls in all", actor.calls);
        assert!(passed[0] >= 150, "{passed:?}");
        // A quarter of the rate lies in others' parts at most.
        assert!(passed[2..].iter().all(|each| *each >= 75), "{passed:?}");
    }
}

/// The fraction of the limit that is used, of the demand that is refused, and the calls per second,
/// once the first seconds are over.
struct Crowd {
    used: f64,
    refused: f64,
    calls_per_second: f64,
    first_second: u64,
}

/// Isolates that together ask for `load` times the rate of a limit, for `secs` seconds.
fn crowd(isolates: u64, per_second: u64, load: f64, secs: u64) -> Crowd {
    let warm = 3;
    let mut random = Random::new(1);
    let mut actor = Actor::new(per_second, per_second);
    let each = load * per_second as f64 / isolates as f64;
    let mut requests: Vec<(f64, u64)> = (0..isolates)
        .flat_map(|place| on(place, poisson(&mut random, each, secs as f64)).collect::<Vec<_>>())
        .collect();
    requests.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut places: Vec<Isolate> = (0..isolates).map(|id| Isolate::new(id + 1, time(SECOND))).collect();
    let (mut log, mut offered, mut first_second, mut calls_when_warm) = (Vec::new(), 0, 0, 0);
    for (seconds, place) in requests {
        let t = (seconds * 1e9) as u64 + SECOND;
        let passed = places[place as usize].request(&mut actor, t);
        log.extend(passed.then_some(t));
        if seconds < 1.0 {
            first_second = actor.calls;
        }
        if seconds < warm as f64 {
            calls_when_warm = actor.calls;
        } else {
            offered += 1;
        }
    }
    assert!(over(&log, SECOND / per_second, per_second) <= 0);
    let passed = log.iter().filter(|t| **t >= SECOND * (warm + 1)).count() as f64;
    let could = (per_second * (secs - warm)) as f64;
    Crowd {
        used: passed / could.min(f64::from(offered)),
        refused: 1.0 - passed / f64::from(offered),
        calls_per_second: (actor.calls - calls_when_warm) as f64 / (secs - warm) as f64,
        first_second,
    }
}

#[test]
fn crowds_use_their_limit_and_are_not_refused_below_it() {
    for (isolates, per_second, load, secs, least_used, most_calls) in [
        (8, 1_000, 0.5, 20, 1.0, 10.0),
        (8, 1_000, 0.9, 30, 0.99, 20.0),
        (8, 1_000, 2.0, 20, 0.97, 40.0),
        (64, 10_000, 0.9, 12, 0.99, 150.0),
        (64, 10_000, 3.0, 10, 0.97, 300.0),
    ] {
        let Crowd { used, refused, calls_per_second, first_second } = crowd(isolates, per_second, load, secs);
        println!(
            "{isolates} isolates at {load} of {per_second}/s: {used:.4} used, {refused:.4} refused, \
             {calls_per_second:.0} calls per second, {first_second} in the first"
        );
        assert!(used >= least_used, "{isolates} isolates at {load}: {used:.4} used");
        assert!(load > 1.0 || refused < 0.01, "{isolates} isolates at {load}: {refused:.4} refused");
        assert!(calls_per_second <= most_calls && first_second < 1_000, "{isolates} isolates at {load}");
    }
}
