//! Isolates and an actor in a world where questions and answers are late, lost and out of order, the actor crashes, isolates vanish,
//! clients leave without a word, modules fail, and clocks do not agree.

use super::FakeShelf;
use crate::support::EVENING;
use penstock::actor::permits::lender::PermitLender;
use penstock::concurrency::heartbeats;
use penstock::concurrency::permit_lease::{NextStep, PermitLease};
use penstock::gate::state::actor_health::CallResult;
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{Holder, PermitAsk, PermitReply, Reserve, TERM};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CAP: u64 = 10;
const ISOLATES: usize = 4;
const LEAVING: [Reserve; 2] = [Reserve::Tenth, Reserve::Fifth];
const PATIENCE: Span = Span::from_millis(250);

struct Isolate {
    book: PermitLease,
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
    fn live_for(&self, leaves: Reserve) -> u64 {
        self.live.iter().filter(|id| heartbeats::leaves(**id) >= leaves).count() as u64
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
            book: PermitLease::new(me, Size::Fixed(CAP)),
            me,
            safe: Time::default(),
            safe_for: Default::default(),
            ahead,
            live: Vec::new(),
        }
    }

    fn turn(&mut self, index: usize, leaves: Reserve) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        match isolate.book.turn(leaves, now, PATIENCE) {
            NextStep::Go(id) => {
                isolate.live.push(id);
                assert!(isolate.live.len() as u64 <= isolate.book.held(now), "more under way than held");
                let held = isolate.book.held_for(leaves, now);
                assert!(isolate.live.len() as u64 <= held, "more under way than leaves them what is theirs");
            }
            NextStep::Ask(question) => self.ask(index, question),
            _ => isolate.book.press(leaves),
        }
    }

    fn ask(&mut self, index: usize, question: PermitAsk) {
        self.asked.insert((index, question.number), self.now);
        self.questions.push((index, question));
    }

    fn hear(&mut self, index: usize, number: u64, answer: PermitReply) {
        let isolate = &mut self.isolates[index];
        let now = self.now.plus(isolate.ahead);
        let before = isolate.book.held(now);
        isolate.book.hear(number, Ok(answer), now);
        // One that is not to the latest question changes nothing.
        let held = isolate.book.held(now);
        if held != before && held >= isolate.live.len() as u64 {
            isolate.safe = isolate.safe.max(self.asked[&(index, number)].plus(TERM));
        }
        if held != before || held > 0 {
            for (place, leaves) in LEAVING.into_iter().enumerate() {
                let covered = isolate.book.held_for(leaves, now) >= isolate.live_for(leaves);
                if covered || self.now < isolate.safe_for[place] {
                    isolate.safe_for[place] = isolate.safe;
                }
            }
        }
    }

    /// The module fails: what it had under way goes on, but for what waited for the origin.
    fn fail(&mut self, index: usize, waited: usize) {
        let isolate = &mut self.isolates[index];
        isolate.me.life += 1;
        isolate.book = PermitLease::new(isolate.me, Size::Fixed(CAP));
        isolate.live.truncate(isolate.live.len().saturating_sub(waited));
        let now = self.now.plus(isolate.ahead);
        isolate.live.iter().for_each(|id| isolate.book.beat(*id, now));
    }

    fn step(&mut self, what: u8, which: u8) {
        let index = usize::from(which) % ISOLATES;
        let pick = |len: usize| (len > 0).then(|| usize::from(which) % len);
        match what {
            0..=2 => self.turn(index, Reserve::Nothing),
            3 => self.turn(index, Reserve::Tenth),
            4..=5 => self.turn(index, Reserve::Fifth),
            // A question arrives, in whatever order; sometimes twice.
            6..=9 => {
                if let Some(place) = pick(self.questions.len()) {
                    let (from, question) = self.questions[place];
                    if !which.is_multiple_of(7) {
                        self.questions.swap_remove(place);
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
                if let Some(place) = pick(self.answers.len()) {
                    let (to, number, answer) = self.answers.swap_remove(place);
                    self.hear(to, number, answer);
                }
            }
            // A question, or an answer, is lost.
            14 => {
                if let Some(place) = pick(self.questions.len()) {
                    let (from, question) = self.questions.swap_remove(place);
                    let isolate = &mut self.isolates[from];
                    if which.is_multiple_of(2) {
                        isolate.book.hear(question.number, Err(CallResult::Failure), self.now.plus(isolate.ahead));
                    }
                }
            }
            15 => drop(pick(self.answers.len()).map(|place| self.answers.swap_remove(place))),
            // A request ends; or its client leaves, and nobody tells.
            16..=18 => {
                let isolate = &mut self.isolates[index];
                if let Some(id) = isolate.live.pop()
                    && what < 18
                {
                    isolate.book.leave(id);
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
                if let Some(question) = isolate.book.tick(self.now.plus(isolate.ahead), PATIENCE) {
                    self.ask(index, question);
                }
            }
            // One waits, and leaves without a word.
            23 => {
                let isolate = &mut self.isolates[index];
                let leaves = Reserve::ALL[usize::from(which) / ISOLATES % 3];
                isolate.book.may_wait(leaves, self.now.plus(isolate.ahead));
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
            isolate.live.iter().for_each(|id| isolate.book.beat(*id, now));
        }
    }

    /// A crowd comes to each of these isolates; every message arrives.
    fn crowd(&mut self, isolates: &[usize], leaves: Reserve) {
        for _ in 0..4 * CAP {
            for &index in isolates {
                // Who is given a slot takes it.
                for _ in 0..3 {
                    self.turn(index, leaves);
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
        let held: u64 = self.isolates.iter().map(|isolate| isolate.book.held(now.plus(isolate.ahead))).sum();
        assert!(held <= CAP, "{held} slots in use of {CAP}");
        let surely = |isolate: &Isolate| {
            let live = isolate.live.len() as u64;
            let held = isolate.book.held(now.plus(isolate.ahead));
            if now < isolate.safe { held.max(live) } else { held }
        };
        let under: u64 = self.isolates.iter().map(surely).sum();
        assert!(under <= CAP, "{under} under way of {CAP}");
        for (place, leaves) in LEAVING.into_iter().enumerate() {
            let surely = |isolate: &Isolate| {
                let held = isolate.book.held_for(leaves, now.plus(isolate.ahead));
                if now < isolate.safe_for[place] { held.max(isolate.live_for(leaves)) } else { held }
            };
            let (under, most) = (self.isolates.iter().map(surely).sum::<u64>(), CAP - leaves.of_cap(CAP));
            assert!(under <= most, "{under} under way of {most} that may, {leaves:?}");
        }
        for isolate in &mut self.isolates {
            let used = isolate.book.in_use(now.plus(isolate.ahead));
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
        for (index, leaves) in (0..ISOLATES).flat_map(|index| all.map(|leaves| (index, leaves))) {
            world.crowd(&[index], leaves);
            prop_assert_eq!(world.live(), CAP - leaves.of_cap(CAP), "isolate {}, {:?}", index, leaves);
            world.empty();
        }
        // The same where all of them come at once, and then there is still room for those above.
        for leaves in all {
            world.crowd(&[0, 1, 2, 3], leaves);
            prop_assert_eq!(world.live(), CAP - leaves.of_cap(CAP), "all, {:?}", leaves);
            world.crowd(&[1], Reserve::Nothing);
            prop_assert_eq!(world.live(), CAP, "high ones after {:?}", leaves);
            world.empty();
        }
    }
}
