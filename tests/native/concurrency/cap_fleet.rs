//! The isolates and the actor of one cap under random schedules of faults.
//!
//! Questions and replies are late, lost, doubled and out of order. The actor crashes, isolates
//! vanish, clients leave silently, modules fail, and clocks differ. After each step the invariants
//! of `concurrency` have to hold; at the end all permits have to come back.

mod isolate;
mod step;

use crate::support::EVENING;
use core::cell::RefCell;
use isolate::{LEAVING, SimulatedIsolate};
use penstock::actor::permits::lender::{PermitLender, PermitRow, PermitStore};
use penstock::concurrency::permit_lease::{NextStep, PermitLease};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::circuit_breaker::CallResult;
use penstock::protocol::permits::{PermitAsk, PermitReply, Reserve, TERM};
use proptest::prelude::*;
use std::collections::BTreeMap;
use step::{ISOLATES, Step};

const CAP: u64 = 10;
const PATIENCE: Span = Span::from_millis(250);

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
        SimulatedIsolate::new(self.isolates_started, Span::from_secs(100 * seed), CAP)
    }

    /// Does one step. `pick` chooses the isolate or message that it is about.
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
            let covered = *covered_until <= self.now || reply.permits >= in_flight.len() as u64;
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
