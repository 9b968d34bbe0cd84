//! The isolates and the actor of one cap under random schedules of faults.
//!
//! Questions and replies are late, lost, doubled and out of order. The actor crashes, isolates
//! vanish, clients leave silently, modules fail, and clocks differ. After each step the invariants
//! of `concurrency` have to hold; at the end all permits have to come back.

use crate::support::EVENING;
use core::cell::RefCell;
use penstock::actor::permits::lender::{PermitLender, PermitRow, PermitStore};
use penstock::concurrency::heartbeats::reserve_of;
use penstock::concurrency::permit_lease::{NextStep, PermitLease};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::circuit_breaker::CallResult;
use penstock::protocol::permits::{Holder, PermitAsk, PermitReply, Reserve, TERM};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CAP: u64 = 10;
const ISOLATES: usize = 4;
const PATIENCE: Span = Span::from_millis(250);

/// The reserves of requests that leave something to higher priorities.
const LEAVING: [Reserve; 2] = [Reserve::Tenth, Reserve::Fifth];

/// The actor's storage, which outlives its crashes.
#[derive(Default)]
struct SavedRows(RefCell<BTreeMap<u64, PermitRow>>);

impl PermitStore for SavedRows {
    fn save(&self, row: PermitRow) -> Result<u32, String> {
        self.0.borrow_mut().insert(row.holder, row);
        Ok(1)
    }

    fn delete(&self, holder: u64) -> Result<u32, String> {
        self.0.borrow_mut().remove(&holder);
        Ok(1)
    }
}

struct SimulatedIsolate {
    lease: PermitLease,
    holder: Holder,
    /// Until this time the actor surely lends as many permits as requests are in flight, also to an
    /// instance of the module that has not asked yet.
    covered_until: Time,
    /// The same for requests with each of [`LEAVING`] or a larger reserve.
    covered_until_for: [Time; 2],
    /// How far the isolate's clock is ahead.
    ahead: Span,
    /// The requests in flight, as the origin sees them.
    in_flight: Vec<u64>,
}

impl SimulatedIsolate {
    /// The number of requests in flight with this `reserve` or a larger one.
    fn in_flight_for(&self, reserve: Reserve) -> u64 {
        self.in_flight.iter().filter(|id| reserve_of(**id) >= reserve).count() as u64
    }

    /// Permits held, or requests in flight where these are more and surely covered.
    fn taken(&self, now: Time) -> u64 {
        let held = self.lease.held(now.plus(self.ahead));
        if now < self.covered_until { held.max(self.in_flight.len() as u64) } else { held }
    }

    /// The same for requests with the reserve `LEAVING[index]`, or a larger one.
    fn taken_for(&self, index: usize, now: Time) -> u64 {
        let held = self.lease.held_for(LEAVING[index], now.plus(self.ahead));
        if now < self.covered_until_for[index] { held.max(self.in_flight_for(LEAVING[index])) } else { held }
    }
}

/// One step of a schedule. `pick` chooses the isolate or message that it is about.
#[derive(Clone, Copy, Debug)]
enum Step {
    Request(Reserve),
    DeliverQuestion,
    DeliverReply,
    LoseQuestion,
    LoseReply,
    EndRequest,
    /// A client leaves, and nothing reports that.
    LeaveSilently,
    CrashActor,
    /// An isolate vanishes with all its requests, and another one starts.
    ReplaceIsolate,
    Tick,
    /// A request waits, and leaves without a word.
    Wait(Reserve),
    /// A module fails. So many requests still waited for the origin, and are gone.
    FailModule(usize),
    PassTime(Span),
}

impl Step {
    fn new(kind: u8, pick: u8) -> Step {
        let number = usize::from(pick);
        match kind {
            0..=2 => Step::Request(Reserve::Nothing),
            3 => Step::Request(Reserve::Tenth),
            4..=5 => Step::Request(Reserve::Fifth),
            6..=9 => Step::DeliverQuestion,
            10..=13 => Step::DeliverReply,
            14 => Step::LoseQuestion,
            15 => Step::LoseReply,
            16..=17 => Step::EndRequest,
            18 => Step::LeaveSilently,
            19 => Step::CrashActor,
            20 if pick.is_multiple_of(4) => Step::ReplaceIsolate,
            21 => Step::Tick,
            22 if pick.is_multiple_of(3) => Step::FailModule(number / 3 % 3),
            23 => Step::Wait(Reserve::ALL[number / ISOLATES % 3]),
            _ => Step::PassTime(Span::from_millis(u64::from(pick) * 4)),
        }
    }
}

struct CapFleet {
    lender: PermitLender,
    store: SavedRows,
    isolates: Vec<SimulatedIsolate>,
    /// Questions on their way, with the isolate that asks.
    questions: Vec<(usize, PermitAsk)>,
    /// When each isolate asked the question with each number.
    asked: BTreeMap<(usize, u64), Time>,
    /// Replies on their way, with the isolate and the number of its question.
    replies: Vec<(usize, u64, PermitReply)>,
    now: Time,
    isolates_started: u64,
}

impl CapFleet {
    fn new() -> CapFleet {
        let mut fleet = CapFleet {
            lender: PermitLender::default(),
            store: SavedRows::default(),
            isolates: Vec::new(),
            questions: Vec::new(),
            asked: BTreeMap::new(),
            replies: Vec::new(),
            now: EVENING,
            isolates_started: 0,
        };
        for index in 0..ISOLATES {
            let isolate = fleet.new_isolate(index as u64);
            fleet.isolates.push(isolate);
        }
        fleet
    }

    fn new_isolate(&mut self, seed: u64) -> SimulatedIsolate {
        self.isolates_started += 1;
        let holder = Holder { id: self.isolates_started, life: 0 };
        SimulatedIsolate {
            lease: PermitLease::new(holder, Size::Fixed(CAP)),
            holder,
            covered_until: Time::default(),
            covered_until_for: Default::default(),
            ahead: Span::from_secs(100 * seed),
            in_flight: Vec::new(),
        }
    }

    fn step(&mut self, step: Step, pick: u8) {
        let index = usize::from(pick) % ISOLATES;
        match step {
            Step::Request(reserve) => self.request(index, reserve),
            Step::DeliverQuestion => self.deliver_question(pick),
            Step::DeliverReply => {
                if let Some((to, number, reply)) = chosen(&mut self.replies, pick) {
                    self.observe(to, number, reply);
                }
            }
            Step::LoseQuestion => self.lose_question(pick),
            Step::LoseReply => drop(chosen(&mut self.replies, pick)),
            Step::EndRequest => {
                let isolate = &mut self.isolates[index];
                if let Some(id) = isolate.in_flight.pop() {
                    isolate.lease.end(id);
                }
            }
            Step::LeaveSilently => drop(self.isolates[index].in_flight.pop()),
            Step::CrashActor => {
                self.lender = PermitLender::default();
                self.store.0.borrow().values().for_each(|row| self.lender.restore(*row));
            }
            Step::ReplaceIsolate => {
                self.isolates[index] = self.new_isolate(u64::from(pick));
                self.questions.retain(|(from, _)| *from != index);
                self.replies.retain(|(to, ..)| *to != index);
            }
            Step::Tick => self.tick(index),
            Step::Wait(reserve) => {
                let isolate = &mut self.isolates[index];
                isolate.lease.try_wait(reserve, self.now.plus(isolate.ahead));
            }
            Step::FailModule(lost) => self.fail_module(index, lost),
            Step::PassTime(span) => self.pass_time(span),
        }
    }

    fn request(&mut self, index: usize, reserve: Reserve) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        match isolate.lease.next_step(reserve, now, PATIENCE) {
            NextStep::Start(id) => {
                isolate.in_flight.push(id);
                let in_flight = isolate.in_flight.len() as u64;
                assert!(in_flight <= isolate.lease.held(now), "more in flight than held");
                assert!(in_flight <= isolate.lease.held_for(reserve, now), "{reserve:?} is not kept free");
            }
            NextStep::Ask(question) => self.ask(index, question),
            _ => isolate.lease.note_unmet(reserve),
        }
    }

    fn tick(&mut self, index: usize) {
        let isolate = &mut self.isolates[index];
        if let Some(question) = isolate.lease.tick(self.now.plus(isolate.ahead), PATIENCE) {
            self.ask(index, question);
        }
    }

    fn ask(&mut self, index: usize, question: PermitAsk) {
        self.asked.insert((index, question.number), self.now);
        self.questions.push((index, question));
    }

    /// A question reaches the actor, in any order, and some of them twice.
    fn deliver_question(&mut self, pick: u8) {
        if self.questions.is_empty() {
            return;
        }
        let chosen = usize::from(pick) % self.questions.len();
        let (from, question) = self.questions[chosen];
        if !pick.is_multiple_of(7) {
            self.questions.swap_remove(chosen);
        }
        if let Ok(reply) = self.lender.answer(&question, &self.store, self.now) {
            let SimulatedIsolate { covered_until, in_flight, .. } = &self.isolates[from];
            let covered = *covered_until <= self.now || reply.slots >= in_flight.len() as u64;
            assert!(covered, "permits of requests in flight are lent to others");
            self.replies.push((from, question.number, reply));
        }
    }

    /// A question is lost, and half of the isolates learn of it.
    fn lose_question(&mut self, pick: u8) {
        if let Some((from, question)) = chosen(&mut self.questions, pick)
            && pick.is_multiple_of(2)
        {
            let isolate = &mut self.isolates[from];
            isolate.lease.observe(question.number, Err(CallResult::Failure), self.now.plus(isolate.ahead));
        }
    }

    fn observe(&mut self, index: usize, number: u64, reply: PermitReply) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        let before = isolate.lease.held(now);
        isolate.lease.observe(number, Ok(reply), now);
        // A reply to an older question changes nothing.
        let held = isolate.lease.held(now);
        if held != before && held >= isolate.in_flight.len() as u64 {
            isolate.covered_until = isolate.covered_until.max(self.asked[&(index, number)].plus(TERM));
        }
        if held != before || held > 0 {
            for (class, reserve) in LEAVING.into_iter().enumerate() {
                let covered = isolate.lease.held_for(reserve, now) >= isolate.in_flight_for(reserve);
                if covered || self.now < isolate.covered_until_for[class] {
                    isolate.covered_until_for[class] = isolate.covered_until;
                }
            }
        }
    }

    /// The next instance of the module takes over the requests in flight, but for the last `lost`.
    fn fail_module(&mut self, index: usize, lost: usize) {
        let isolate = &mut self.isolates[index];
        isolate.holder.life += 1;
        isolate.lease = PermitLease::new(isolate.holder, Size::Fixed(CAP));
        isolate.in_flight.truncate(isolate.in_flight.len().saturating_sub(lost));
        let now = self.now.plus(isolate.ahead);
        isolate.in_flight.iter().for_each(|id| isolate.lease.heartbeat(*id, now));
    }

    /// Time passes, and all requests in flight give a heartbeat.
    fn pass_time(&mut self, span: Span) {
        self.now = self.now.plus(span);
        for isolate in &mut self.isolates {
            let now = self.now.plus(isolate.ahead);
            isolate.in_flight.iter().for_each(|id| isolate.lease.heartbeat(*id, now));
        }
    }

    /// A crowd of requests comes to each of these isolates, and every message arrives.
    fn send_crowd(&mut self, isolates: &[usize], reserve: Reserve) {
        for _ in 0..4 * CAP {
            for &index in isolates {
                // A request that is lent a permit takes it with its next step.
                for _ in 0..3 {
                    self.request(index, reserve);
                    for (from, question) in core::mem::take(&mut self.questions) {
                        if let Ok(reply) = self.lender.answer(&question, &self.store, self.now) {
                            self.observe(from, question.number, reply);
                        }
                    }
                    self.check();
                }
            }
            self.pass_time(Span::from_millis(300));
            (0..ISOLATES).for_each(|index| self.tick(index));
        }
    }

    fn in_flight(&self) -> u64 {
        self.isolates.iter().map(|isolate| isolate.in_flight.len() as u64).sum()
    }

    /// All clients leave silently, and two terms pass.
    fn empty(&mut self) {
        self.isolates.iter_mut().for_each(|isolate| isolate.in_flight.clear());
        self.questions.clear();
        (0..44).for_each(|_| self.pass_time(Span::from_millis(500)));
    }

    fn check(&mut self) {
        let now = self.now;
        let held: u64 = self.isolates.iter().map(|isolate| isolate.lease.held(now.plus(isolate.ahead))).sum();
        assert!(held <= CAP, "{held} permits held of {CAP}");
        let taken: u64 = self.isolates.iter().map(|isolate| isolate.taken(now)).sum();
        assert!(taken <= CAP, "{taken} in flight of {CAP}");
        for (index, reserve) in LEAVING.into_iter().enumerate() {
            let taken: u64 = self.isolates.iter().map(|isolate| isolate.taken_for(index, now)).sum();
            let most = CAP - reserve.of_cap(CAP);
            assert!(taken <= most, "{taken} in flight of the {most} that leave {reserve:?}");
        }
        for isolate in &mut self.isolates {
            let (in_flight, known) = (isolate.in_flight.len() as u64, isolate.lease.in_use(now.plus(isolate.ahead)));
            assert!(in_flight <= known, "{in_flight} in flight, {known} known");
        }
    }
}

/// Takes out the message that `pick` chooses.
fn chosen<T>(messages: &mut Vec<T>, pick: u8) -> Option<T> {
    (!messages.is_empty()).then(|| messages.swap_remove(usize::from(pick) % messages.len()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_stays_within_the_cap_and_loses_no_permit(steps in prop::collection::vec((0u8..28, any::<u8>()), 1..500)) {
        let mut fleet = CapFleet::new();
        for (kind, pick) in steps {
            fleet.step(Step::new(kind, pick), pick);
            fleet.check();
        }
        // All clients leave, and no message is on its way. Two terms later every permit can be
        // lent.
        fleet.replies.clear();
        fleet.empty();
        prop_assert_eq!(fleet.lender.sweep(&fleet.store, fleet.now), Ok(None));
        prop_assert!(fleet.store.0.borrow().is_empty());
        for (index, reserve) in (0..ISOLATES).flat_map(|index| Reserve::ALL.map(|reserve| (index, reserve))) {
            fleet.send_crowd(&[index], reserve);
            prop_assert_eq!(fleet.in_flight(), CAP - reserve.of_cap(CAP), "isolate {}, {:?}", index, reserve);
            fleet.empty();
        }
        // The same with a crowd in all isolates at once. High requests still find their reserve.
        for reserve in Reserve::ALL {
            fleet.send_crowd(&[0, 1, 2, 3], reserve);
            prop_assert_eq!(fleet.in_flight(), CAP - reserve.of_cap(CAP), "all, {:?}", reserve);
            fleet.send_crowd(&[1], Reserve::Nothing);
            prop_assert_eq!(fleet.in_flight(), CAP, "high ones after {:?}", reserve);
            fleet.empty();
        }
    }
}
