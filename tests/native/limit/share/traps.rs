//! A script of a few lines for each planted bug. The right rules pass it.

use super::planted::Bug;
use super::world::{Isolate, Keeper, MILLI, SECOND, over};
use penstock::limit::share::{Fraction, PartAnswer, PartSize, Question};
use penstock::limit::time::Span;

/// 100 tokens a second, up to 100: the bucket fills up in a second.
const T: u64 = 10 * MILLI;
const B: u64 = 100;
const SHORT: u64 = 10 * SECOND;

/// The time on an isolate's clock when a script begins.
const EPOCH: u64 = 1_000 * SECOND;

/// What was admitted, with the interval and the burst that bound it.
type Admitted = (Vec<u64>, u64, u64);

struct Script {
    keeper: Keeper,
    log: Vec<u64>,
    bug: Option<Bug>,
}

/// A part to ask for: fraction, room, tokens, term.
type Size = (f64, u64, u64, u64);

impl Script {
    fn new(bug: Option<Bug>) -> Script {
        Script { keeper: Keeper::new(T, B, SHORT, bug), log: Vec::new(), bug }
    }

    fn isolate(&self, id: u64) -> Isolate {
        Isolate::new(id, T, B, 1.0, EPOCH, self.bug)
    }

    /// Asks for a part at `t`, and hears the answer at `heard`.
    fn give(
        &mut self,
        isolate: &mut Isolate,
        t: u64,
        heard: Option<u64>,
        size: Size,
        keep: u64,
        written: bool,
    ) -> Question {
        let question = isolate.ask(t, keep);
        let answer = self.answer(t, question, size, written);
        if let Some(heard) = heard {
            isolate.hear(heard, &question, answer);
        }
        question
    }

    fn answer(
        &mut self,
        t: u64,
        question: Question,
        (fraction, room, tokens, term): Size,
        written: bool,
    ) -> PartAnswer {
        let fraction = Fraction::from_f64(fraction);
        let size = PartSize { fraction, room, tokens, term: Span::from_nanos(term), written };
        self.keeper.answer(t, question, size)
    }

    fn drain(&mut self, t: u64) {
        while self.keeper.take(t) {
            self.log.push(t);
        }
    }

    /// All isolates, and callers of the actor, take all that they can get, each `step` from `from`
    /// to `to`.
    fn flood(&mut self, isolates: &mut [&mut Isolate], from: u64, to: u64, step: u64) {
        for t in (from..=to).step_by(usize::try_from(step).unwrap()) {
            for isolate in isolates.iter_mut() {
                while isolate.spend(t) {
                    self.log.push(t);
                }
            }
            self.drain(t);
        }
    }

    fn done(self) -> Admitted {
        (self.log, T, B)
    }
}

const ALL: u64 = u64::MAX;

fn term_from_hearing(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(2 * SECOND), (0.5, 50, 50, SECOND), ALL, true);
    s.flood(&mut [&mut h], 2 * SECOND, 3 * SECOND, T);
    s.done()
}

fn outlives(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 50, SECOND), ALL, true);
    s.flood(&mut [&mut h], 2 * SECOND, 3 * SECOND, T);
    s.done()
}

fn wakes_careless(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.1, 12, 12, SECOND), ALL, false);
    s.keeper.clear_disk();
    s.keeper.wake(1);
    s.flood(&mut [&mut h], 1, SECOND / 2, T);
    s.done()
}

/// Two lives within a short term hand out unwritten parts; each may have an eighth.
fn quarter_unwritten(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut holders: Vec<Isolate> = (1..=2).map(|id| s.isolate(id)).collect();
    let size = if bug.is_some() { 24 } else { 12 };
    for (k, h) in (0..).zip(&mut holders) {
        s.give(h, k, Some(k), (0.1, size, size, SECOND), ALL, false);
        s.keeper.clear_disk();
        s.keeper.wake(k + 1);
    }
    s.flood(&mut holders.iter_mut().collect::<Vec<_>>(), 3, SECOND / 2, T);
    s.done()
}

fn row_not_rewritten(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 50, 10 * SECOND), ALL, true);
    s.drain(0);
    let question = s.give(&mut h, 1, Some(1), (0.1, 10, 1, SECOND), 0, false);
    s.drain(1);
    s.keeper.save(None);
    s.keeper.wake(2);
    s.answer(2, question, (0.1, 1, 0, SECOND), true);
    s.flood(&mut [&mut h], 2, 3, 1);
    s.done()
}

fn twice_given_back(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 30, 30, 10 * SECOND), ALL, true);
    s.drain(0);
    let question = s.give(&mut h, 1, Some(1), (0.1, 1, 1, 9 * SECOND), 0, true);
    for _ in 0..2 {
        s.answer(2, question, (0.1, 1, 0, SECOND), true);
    }
    s.flood(&mut [&mut h], 2, 3, 1);
    s.done()
}

/// Ten renewals, each of them spent from while it is under way.
fn spends_while_asking(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    let size = (0.5, 50, 50, 60 * SECOND);
    s.give(&mut h, 0, Some(0), size, ALL, true);
    s.drain(0);
    for t in (1..=10).map(|k| k * SECOND) {
        s.flood(&mut [&mut h], t - SECOND + 2 * T, t - SECOND / 2, T);
        s.flood(&mut [], t - SECOND / 2, t, T);
        let question = h.ask(t, 0);
        let answer = s.answer(t, question, size, true);
        while h.spend(t) {
            s.log.push(t);
        }
        h.hear(t + 2 * T, &question, answer);
        s.drain(t);
    }
    s.flood(&mut [&mut h], 10 * SECOND + 2 * T, 10 * SECOND + 2 * T, 1);
    s.done()
}

fn regains_while_asking(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.9, 50, 0, 60 * SECOND), ALL, true);
    s.give(&mut h, 1, None, (0.9, 1, 0, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 20 * SECOND, 20 * SECOND, 1);
    s.done()
}

fn regains_after_none(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.9, 50, 0, 60 * SECOND), ALL, true);
    // No room is wished for, so there is no part to give.
    s.give(&mut h, 1, Some(1), (0.0, 0, 0, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 20 * SECOND, 20 * SECOND, 1);
    s.done()
}

fn old_part_forgotten(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (1.0, 50, 50, 60 * SECOND), ALL, true);
    s.give(&mut h, 1, None, (0.01, 50, 0, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 1, 10 * SECOND, T);
    s.done()
}

fn not_moved_on(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 10, 10, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 0, 10 * SECOND, T);
    s.done()
}

fn not_held_up(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 0, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 10 * SECOND, 11 * SECOND, T);
    s.done()
}

fn saved_without_moment(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.drain(0);
    s.keeper.save(None);
    s.give(&mut h, T, Some(T), (1.0, 1, 0, 60 * SECOND), ALL, true);
    for t in (T..SECOND).step_by(T as usize) {
        if h.spend(t) {
            s.log.push(t);
        }
    }
    s.keeper.wake(SECOND);
    // Until the part that is held back has come back.
    s.flood(&mut [&mut h], SECOND, SECOND, 1);
    s.done()
}

/// An interval of 7 ns, looked at each nanosecond.
fn rounds_down(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    s.keeper = Keeper::new(7, 100, SHORT, bug);
    let mut h = Isolate::new(1, 7, 100, 1.0, EPOCH, bug);
    s.give(&mut h, 0, Some(0), (0.9, 20, 20, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 0, 20_000, 1);
    (s.log, 7, 100)
}

fn clocks_trusted(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = Isolate::new(1, T, B, 1.01, EPOCH, bug);
    s.give(&mut h, 0, Some(0), (1.0, 50, 50, 600 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 0, 200 * SECOND, T);
    s.done()
}

fn slots_stay(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 50, 60 * SECOND), ALL, true);
    let slots = s.keeper.lend(0, 20, 0).unwrap();
    h.lend(0, EPOCH, slots);
    s.flood(&mut [&mut h], 49 * T, 60 * T, T);
    s.done()
}

fn slots_too_soon(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let (mut h, mut g) = (s.isolate(1), s.isolate(2));
    s.give(&mut h, 0, Some(0), (0.9, 10, 10, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 0, 0, 1);
    if let Some(slots) = s.keeper.lend(0, 40, SECOND / 2) {
        g.lend(0, EPOCH, slots);
    }
    s.flood(&mut [&mut h, &mut g], 0, SECOND, T);
    s.done()
}

fn overdraws(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    for _ in 0..90 {
        assert!(s.keeper.take(0));
        s.log.push(0);
    }
    s.give(&mut h, 0, Some(0), (0.1, 50, 50, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h], 0, 0, 1);
    s.done()
}

fn wake_forgets(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 0, 60 * SECOND), ALL, true);
    s.keeper.wake(1);
    s.flood(&mut [&mut h], 10 * SECOND, 11 * SECOND, T);
    s.done()
}

fn names_again(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let (mut h, mut g) = (s.isolate(1), s.isolate(if bug.is_some() { 1 } else { 2 }));
    s.give(&mut h, 0, Some(0), (0.4, 50, 50, 60 * SECOND), ALL, true);
    g.ask(0, ALL);
    s.give(&mut g, 0, Some(0), (0.4, 10, 0, 60 * SECOND), ALL, true);
    s.flood(&mut [&mut h, &mut g], 10 * SECOND, 11 * SECOND, T);
    s.done()
}

/// Lowered to a tenth: the part that is out goes on for its term, and nothing passes beside it.
fn fractions_of_new_rate(bug: Option<Bug>) -> Admitted {
    let mut s = Script::new(bug);
    let mut h = s.isolate(1);
    s.give(&mut h, 0, Some(0), (0.5, 50, 50, 10 * SECOND), ALL, true);
    s.keeper.change(1, 10 * T, B);
    s.flood(&mut [&mut h], 1, 9 * SECOND, T);
    (s.log, 2 * T, B)
}

/// The script of one bug.
type Run = fn(Option<Bug>) -> Admitted;

const SCRIPTS: [(Bug, Run); 21] = [
    (Bug::Outlives, outlives),
    (Bug::TermFromHearing, term_from_hearing),
    (Bug::WakeForgets, wake_forgets),
    (Bug::WakesCareless, wakes_careless),
    (Bug::QuarterUnwritten, quarter_unwritten),
    (Bug::RowNotRewritten, row_not_rewritten),
    (Bug::TwiceGivenBack, twice_given_back),
    (Bug::SpendsWhileAsking, spends_while_asking),
    (Bug::RegainsWhileAsking, regains_while_asking),
    (Bug::RegainsAfterNone, regains_after_none),
    (Bug::OldPartForgotten, old_part_forgotten),
    (Bug::NotMovedOn, not_moved_on),
    (Bug::NotHeldUp, not_held_up),
    (Bug::SavedWithoutMoment, saved_without_moment),
    (Bug::RoundsDown, rounds_down),
    (Bug::ClocksTrusted, clocks_trusted),
    (Bug::SlotsStay, slots_stay),
    (Bug::SlotsTooSoon, slots_too_soon),
    (Bug::Overdraws, overdraws),
    (Bug::NamesAgain, names_again),
    (Bug::FractionsOfNewRate, fractions_of_new_rate),
];

#[test]
fn each_broken_rule_is_found_by_its_script_and_the_right_rules_pass_it() {
    let mut wrong = Vec::new();
    for (bug, script) in SCRIPTS {
        let excess = |(log, interval, burst): Admitted| over(&log, interval, burst) as f64 / interval as f64;
        let (right, broken) = (excess(script(None)), excess(script(Some(bug))));
        println!("{bug:?}: right {right:+.3}, broken {broken:+.3} tokens over");
        if right > 0.0 || broken <= 0.0 {
            wrong.push((bug, right, broken));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
