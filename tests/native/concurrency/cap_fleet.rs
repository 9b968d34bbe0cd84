//! Isolates and an actor in a world where questions and answers are late, lost and out of order, the actor crashes, isolates vanish,
//! clients leave without a word, modules fail, and clocks do not agree.

use super::FakeShelf;
use crate::support::EVENING;
use penstock::actor::permits::lender::PermitLender;
use penstock::concurrency::heartbeats;
use penstock::concurrency::permit_lease::{NextStep, PermitLease};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::circuit_breaker::CallResult;
use penstock::protocol::permits::{Holder, PermitAsk, PermitReply, Reserve, TERM};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CAP: u64 = 10;
const ISOLATES: usize = 4;
const LEAVING: [Reserve; 2] = [Reserve::Tenth, Reserve::Fifth];
const PATIENCE: Span = Span::from_millis(250);

struct Isolate {
    lease: PermitLease,
    me: Holder,
    /// Until then the actor surely lends what is under way, also to an instance that has not asked yet.
    safe: Time,
    /// The same of those that leave something to others: the term has not passed since they were let in.
    safe_for: [Time; 2],
    /// How far its clock is ahead.
    ahead: Span,
    /// Requests under way, as the origin sees them.
    live: Vec<u64>,
}

impl Isolate {
    /// Requests under way that leave so much to others, or more.
    fn live_for(&self, reserve: Reserve) -> u64 {
        self.live.iter().filter(|id| heartbeats::reserve_of(**id) >= reserve).count() as u64
    }
}

struct World {
    slots: PermitLender,
    shelf: FakeShelf,
    isolates: Vec<Isolate>,
    questions: Vec<(usize, PermitAsk)>,
    /// When which question was asked.
    asked: BTreeMap<(usize, u64), Time>,
    answers: Vec<(usize, u64, PermitReply)>,
    now: Time,
    born: u64,
}

impl World {
    fn new() -> World {
        let mut world = World {
            slots: PermitLender::default(),
            shelf: FakeShelf::default(),
            isolates: Vec::new(),
            questions: Vec::new(),
            asked: BTreeMap::new(),
            answers: Vec::new(),
            now: EVENING,
            born: 0,
        };
        (0..ISOLATES).for_each(|index| {
            let isolate = world.isolate(index as u64);
            world.isolates.push(isolate);
        });
        world
    }

    fn isolate(&mut self, seed: u64) -> Isolate {
        self.born += 1;
        let ahead = Span::from_secs(100 * seed);
        let me = Holder { id: self.born, life: 0 };
        Isolate {
            lease: PermitLease::new(me, Size::Fixed(CAP)),
            me,
            safe: Time::default(),
            safe_for: Default::default(),
            ahead,
            live: Vec::new(),
        }
    }

    fn next_step(&mut self, index: usize, reserve: Reserve) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        match isolate.lease.next_step(reserve, now, PATIENCE) {
            NextStep::Start(id) => {
                isolate.live.push(id);
                assert!(isolate.live.len() as u64 <= isolate.lease.held(now), "more under way than held");
                let held = isolate.lease.held_for(reserve, now);
                assert!(isolate.live.len() as u64 <= held, "more under way than leaves them what is theirs");
            }
            NextStep::Ask(question) => self.ask(index, question),
            _ => isolate.lease.note_unmet(reserve),
        }
    }

    fn ask(&mut self, index: usize, question: PermitAsk) {
        self.asked.insert((index, question.number), self.now);
        self.questions.push((index, question));
    }

    fn hear(&mut self, index: usize, number: u64, answer: PermitReply) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        let before = isolate.lease.held(now);
        isolate.lease.observe(number, Ok(answer), now);
        // One that is not to the latest question changes nothing.
        let held = isolate.lease.held(now);
        if held != before && held >= isolate.live.len() as u64 {
            isolate.safe = isolate.safe.max(self.asked[&(index, number)].plus(TERM));
        }
        if held != before || held > 0 {
            for (permit, reserve) in LEAVING.into_iter().enumerate() {
                let covered = isolate.lease.held_for(reserve, now) >= isolate.live_for(reserve);
                if covered || self.now < isolate.safe_for[permit] {
                    isolate.safe_for[permit] = isolate.safe;
                }
            }
        }
    }

    /// The module fails: what it had under way goes on, but for what waited for the origin.
    fn fail(&mut self, index: usize, waited: usize) {
        let isolate = &mut self.isolates[index];
        isolate.me.life += 1;
        isolate.lease = PermitLease::new(isolate.me, Size::Fixed(CAP));
        isolate.live.truncate(isolate.live.len().saturating_sub(waited));
        let now = self.now.plus(isolate.ahead);
        isolate.live.iter().for_each(|id| isolate.lease.heartbeat(*id, now));
    }

    fn step(&mut self, what: u8, which: u8) {
        let index = usize::from(which) % ISOLATES;
        let pick = |len: usize| (len > 0).then(|| usize::from(which) % len);
        match what {
            0..=2 => self.next_step(index, Reserve::Nothing),
            3 => self.next_step(index, Reserve::Tenth),
            4..=5 => self.next_step(index, Reserve::Fifth),
            // A question arrives, in whatever order; sometimes twice.
            6..=9 => {
                if let Some(permit) = pick(self.questions.len()) {
                    let (from, question) = self.questions[permit];
                    if !which.is_multiple_of(7) {
                        self.questions.swap_remove(permit);
                    }
                    if let Ok(answer) = self.slots.answer(&question, &self.shelf, self.now) {
                        let Isolate { safe, live, .. } = &self.isolates[from];
                        assert!(*safe <= self.now || answer.slots >= live.len() as u64, "what is under way is lent on");
                        self.answers.push((from, question.number, answer));
                    }
                }
            }
            // An answer arrives.
            10..=13 => {
                if let Some(permit) = pick(self.answers.len()) {
                    let (to, number, answer) = self.answers.swap_remove(permit);
                    self.hear(to, number, answer);
                }
            }
            // A question, or an answer, is lost.
            14 => {
                if let Some(permit) = pick(self.questions.len()) {
                    let (from, question) = self.questions.swap_remove(permit);
                    let isolate = &mut self.isolates[from];
                    if which.is_multiple_of(2) {
                        isolate.lease.observe(question.number, Err(CallResult::Failure), self.now.plus(isolate.ahead));
                    }
                }
            }
            15 => drop(pick(self.answers.len()).map(|permit| self.answers.swap_remove(permit))),
            // A request ends; or its client leaves, and nobody tells.
            16..=18 => {
                let isolate = &mut self.isolates[index];
                if let Some(id) = isolate.live.pop()
                    && what < 18
                {
                    isolate.lease.end(id);
                }
            }
            // The actor crashes.
            19 => {
                let mut restored = PermitLender::default();
                self.shelf.rows.borrow().values().for_each(|row| restored.restore(*row));
                self.slots = restored;
            }
            // An isolate vanishes, with all that it had under way.
            20 if which.is_multiple_of(4) => {
                self.isolates[index] = self.isolate(u64::from(which));
                self.questions.retain(|(from, _)| *from != index);
                self.answers.retain(|(to, ..)| *to != index);
            }
            21 => {
                let isolate = &mut self.isolates[index];
                if let Some(question) = isolate.lease.tick(self.now.plus(isolate.ahead), PATIENCE) {
                    self.ask(index, question);
                }
            }
            // One waits, and leaves without a word.
            23 => {
                let isolate = &mut self.isolates[index];
                let reserve = Reserve::ALL[usize::from(which) / ISOLATES % 3];
                isolate.lease.try_wait(reserve, self.now.plus(isolate.ahead));
            }
            22 if which.is_multiple_of(3) => self.fail(index, usize::from(which) / 3 % 3),
            _ => self.forward(Span::from_millis(u64::from(which) * 4)),
        }
    }

    /// Time goes on; the living give signs of life.
    fn forward(&mut self, span: Span) {
        self.now = self.now.plus(span);
        for isolate in &mut self.isolates {
            let now = self.now.plus(isolate.ahead);
            isolate.live.iter().for_each(|id| isolate.lease.heartbeat(*id, now));
        }
    }

    /// A crowd comes to each of these isolates; every message arrives.
    fn crowd(&mut self, isolates: &[usize], reserve: Reserve) {
        for _ in 0..4 * CAP {
            for &index in isolates {
                // Who is given a slot takes it.
                for _ in 0..3 {
                    self.next_step(index, reserve);
                    for (from, question) in core::mem::take(&mut self.questions) {
                        if let Ok(answer) = self.slots.answer(&question, &self.shelf, self.now) {
                            self.hear(from, question.number, answer);
                        }
                    }
                    self.check();
                }
            }
            self.forward(Span::from_millis(300));
            (0..ISOLATES).for_each(|index| self.step(21, index as u8));
        }
    }

    fn live(&self) -> u64 {
        self.isolates.iter().map(|isolate| isolate.live.len() as u64).sum()
    }

    /// Everybody goes home, and nobody tells.
    fn empty(&mut self) {
        self.isolates.iter_mut().for_each(|isolate| isolate.live.clear());
        self.questions.clear();
        (0..44).for_each(|_| self.forward(Span::from_millis(500)));
    }

    fn check(&mut self) {
        let now = self.now;
        let held: u64 = self.isolates.iter().map(|isolate| isolate.lease.held(now.plus(isolate.ahead))).sum();
        assert!(held <= CAP, "{held} slots in use of {CAP}");
        let surely = |isolate: &Isolate| {
            let live = isolate.live.len() as u64;
            let held = isolate.lease.held(now.plus(isolate.ahead));
            if now < isolate.safe { held.max(live) } else { held }
        };
        let under: u64 = self.isolates.iter().map(surely).sum();
        assert!(under <= CAP, "{under} under way of {CAP}");
        for (permit, reserve) in LEAVING.into_iter().enumerate() {
            let surely = |isolate: &Isolate| {
                let held = isolate.lease.held_for(reserve, now.plus(isolate.ahead));
                if now < isolate.safe_for[permit] { held.max(isolate.live_for(reserve)) } else { held }
            };
            let (under, most) = (self.isolates.iter().map(surely).sum::<u64>(), CAP - reserve.of_cap(CAP));
            assert!(under <= most, "{under} under way of {most} that may, {reserve:?}");
        }
        for isolate in &mut self.isolates {
            let used = isolate.lease.in_use(now.plus(isolate.ahead));
            assert!(isolate.live.len() as u64 <= used, "{} under way, {used} known", isolate.live.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schedule_uses_more_than_the_cap_and_none_loses_a_slot(steps in prop::collection::vec((0u8..28, any::<u8>()), 1..500)) {
        let mut world = World::new();
        for (what, which) in steps {
            world.step(what, which);
            world.check();
        }
        // Everybody goes home, and no message is on its way. Twice a term later all is there again, for anyone.
        world.answers.clear();
        world.empty();
        prop_assert_eq!(world.slots.sweep(&world.shelf, world.now), Ok(None));
        prop_assert!(world.shelf.rows.borrow().is_empty());
        let all = [Reserve::Nothing, Reserve::Tenth, Reserve::Fifth];
        for (index, reserve) in (0..ISOLATES).flat_map(|index| all.map(|reserve| (index, reserve))) {
            world.crowd(&[index], reserve);
            prop_assert_eq!(world.live(), CAP - reserve.of_cap(CAP), "isolate {}, {:?}", index, reserve);
            world.empty();
        }
        // The same where all of them come at once, and then there is still room for those above.
        for reserve in all {
            world.crowd(&[0, 1, 2, 3], reserve);
            prop_assert_eq!(world.live(), CAP - reserve.of_cap(CAP), "all, {:?}", reserve);
            world.crowd(&[1], Reserve::Nothing);
            prop_assert_eq!(world.live(), CAP, "high ones after {:?}", reserve);
            world.empty();
        }
    }
}
