//! Random schedules: loads, sizes, terms, losses, repeats, delays past the term, clocks that run
//! apart, deaths on both sides, slots beside parts. No more passes than the limit allows.

use super::Random;
use super::planted::Bug;
use super::world::{Isolate, Keeper, LentSlots, MILLI, over, span};
use penstock::limit::share::{Fraction, PartAnswer, PartSize, Question};
use std::collections::BinaryHeap;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Request(usize),
    Ask(usize, u64, Message),
    Reply(usize, u64, Reply),
    HolderDies(usize),
    Wake,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    /// Of a question: holder, number, base, room kept, tokens given up.
    question: (u64, u64, u64, u64, u64),
    asked: u64,
    takes: bool,
    /// Of a size: parts of the rate, room, tokens, term, written.
    size: (u64, u64, u64, u64, bool),
    slots: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reply {
    question: (u64, u64, u64, u64, u64),
    asked: u64,
    /// Of a part: parts of the rate, room, tokens, term. `None` if there is no part.
    part: Option<(u64, u64, u64, u64)>,
    slots: Option<(u64, u64, u64)>,
}

fn question((holder, seq, base, keep, back): (u64, u64, u64, u64, u64)) -> Question {
    Question { holder, seq, base, keep, back }
}

struct World {
    random: Random,
    queue: BinaryHeap<std::cmp::Reverse<(u64, u64, Event)>>,
    order: u64,
    round_trip: f64,
    /// How often a message is lost, repeated or late.
    bad: f64,
    /// The longest term.
    longest: f64,
}

impl World {
    fn push(&mut self, t: f64, event: Event) {
        self.order += 1;
        self.queue.push(std::cmp::Reverse((t as u64, self.order, event)));
    }

    /// Sends a message: lost, repeated, late or out of order at times.
    fn send(&mut self, t: u64, event: &Event) {
        if self.random.chance(self.bad) {
            return;
        }
        for _ in 0..1 + u8::from(self.random.chance(self.bad)) {
            let delay = if self.random.chance(self.bad) {
                self.random.between(0.0, 1.5 * self.longest)
            } else {
                self.round_trip * self.random.between(0.2, 1.5)
            };
            self.push(t as f64 + delay, event.clone());
        }
    }

    fn size(&mut self, burst: u64, is_renewal: bool) -> (u64, u64, u64, u64, bool) {
        let fractions: &[f64] = if is_renewal { &[0.02, 0.1, 0.5] } else { &[0.02, 0.1, 0.3, 0.6, 1.0] };
        let part = |random: &mut Random, parts: &[f64]| (burst as f64 * random.one_of(parts)) as u64;
        (
            Fraction::from_f64(self.random.one_of(fractions)).parts(),
            part(&mut self.random, fractions).max(1),
            part(&mut self.random, &[0.0, 0.02, 0.2, 0.5]),
            ((self.random.one_of(&[0.02, 0.2, 1.0, 1.0]) * self.longest) as u64).max(1),
            self.random.chance(0.5),
        )
    }
}

struct Setting {
    interval: u64,
    burst: u64,
    short: u64,
    style: &'static str,
    holders: usize,
}

/// Runs one schedule, and returns the nanoseconds over the limit, and the number of admissions.
fn run(seed: u64, bug: Option<Bug>) -> (i128, usize, u64) {
    let mut random = Random::new(seed);
    let interval = random.one_of(&[7, MILLI + 1, 10 * MILLI, 50 * MILLI - 3, 200 * MILLI]);
    let burst = random.one_of(&[4, 16, 40, 100, 400]);
    let fill = interval * burst;
    let unit = interval.max(fill / 50) as f64;
    let short = ((fill as f64 * random.one_of(&[0.2, 1.0])) as u64).max(1);
    let style = random.one_of(&["flood", "flood", "bursts", "quiet then flood", "mixed"]);
    let holders = random.whole(1, 5) as usize;
    let setting = Setting { interval, burst, short, style, holders };
    let end = fill * random.one_of(&[4, 12]);
    let round_trip = (unit * random.one_of(&[0.02, 0.3, 2.0])).max(1.0);
    let bad = random.one_of(&[0.0, 0.05, 0.3]);
    let world = World { random, queue: BinaryHeap::new(), order: 0, round_trip, bad, longest: fill as f64 };
    let log = play(world, &setting, unit, end, bug);
    (over(&log, interval, burst), log.len(), interval)
}

fn isolate(world: &mut World, setting: &Setting, id: u64, bug: Option<Bug>) -> Isolate {
    let rate = 1.0 + world.random.between(-0.01, 0.01);
    let zero = world.random.whole(0, 1_000_000) * 1_000_000_000;
    // Two holders of one name, where that is the bug.
    let id = if bug == Some(Bug::NamesAgain) { id % 2 } else { id };
    Isolate::new(id, setting.interval, setting.burst, rate, zero, bug)
}

fn play(mut world: World, setting: &Setting, unit: f64, end: u64, bug: Option<Bug>) -> Vec<u64> {
    let mut keeper = Keeper::new(setting.interval, setting.burst, setting.short, bug);
    let mut names = 0;
    let mut isolates: Vec<Isolate> = Vec::new();
    for index in 0..setting.holders {
        names += 1;
        isolates.push(isolate(&mut world, setting, names, bug));
        let first = world.random.between(0.0, unit);
        world.push(first, Event::Request(index));
    }
    schedule_deaths(&mut world, setting, end);
    let gap = unit / world.random.one_of(&[0.5, 3.0, 12.0, 40.0]) / 3.0;
    let with_slots = world.random.chance(0.6);
    let mut log = Vec::new();
    for _ in 0..6_000 {
        let Some(std::cmp::Reverse((t, _, event))) = world.queue.pop() else { break };
        if t > end {
            break;
        }
        match event {
            Event::Request(index) => {
                request(&mut world, setting, &mut isolates[index], (t, index), with_slots, &mut log);
                let next = t as f64 + next_gap(&mut world, setting, gap);
                world.push(next, Event::Request(index));
            }
            Event::Ask(index, life, message) => {
                if message.takes && keeper.take(t) && isolates[index].id == life {
                    log.push(t);
                }
                let reply = answer(&mut world, setting, &mut keeper, t, message);
                world.send(t, &Event::Reply(index, life, reply));
            }
            Event::Reply(index, life, reply) if isolates[index].id == life => hear(&mut isolates[index], t, reply),
            Event::Reply(..) => {}
            Event::HolderDies(index) => {
                names += 1;
                isolates[index] = isolate(&mut world, setting, names, bug);
            }
            Event::Wake => keeper.wake(t),
        }
    }
    log
}

/// Deaths of holders, and wakes of the actor: at most two lives end within one short term.
fn schedule_deaths(world: &mut World, setting: &Setting, end: u64) {
    for _ in 0..world.random.whole(0, 4) {
        let t = world.random.between(0.0, end as f64);
        let index = world.random.whole(0, setting.holders as u64 - 1) as usize;
        world.push(t, Event::HolderDies(index));
    }
    let count = world.random.whole(0, 3);
    let mut wakes: Vec<f64> = (0..count).map(|_| world.random.between(0.0, end as f64)).collect();
    wakes.sort_by(f64::total_cmp);
    let mut kept: Vec<f64> = Vec::new();
    for t in wakes {
        if kept.len() < 2 || t - kept[kept.len() - 2] >= setting.short as f64 {
            kept.push(t);
            world.push(t, Event::Wake);
        }
    }
}

fn request(
    world: &mut World,
    setting: &Setting,
    isolate: &mut Isolate,
    (t, index): (u64, usize),
    with_slots: bool,
    log: &mut Vec<u64>,
) {
    let is_burst = setting.style == "bursts" && world.random.chance(0.02);
    let patience = (world.round_trip * 4.0) as u64;
    for _ in 0..if is_burst { setting.burst } else { 1 } {
        if isolate.spend(t) {
            log.push(t);
            continue;
        }
        let is_under_way = isolate.asked.is_some_and(|asked| isolate.clock(t) - asked < patience);
        if !is_under_way {
            let keep = world.random.one_of(&[0, 1, setting.burst]);
            let slots = with_slots && world.random.chance(0.5);
            send_question(world, setting, isolate, (t, index), keep, true, slots);
        }
        break;
    }
    if isolate.has_part(t) && isolate.asked.is_none() && world.random.chance(0.1) {
        let keep = world.random.one_of(&[0, 2, setting.burst]);
        send_question(world, setting, isolate, (t, index), keep, false, false);
    }
}

fn send_question(
    world: &mut World,
    setting: &Setting,
    isolate: &mut Isolate,
    (t, index): (u64, usize),
    keep: u64,
    takes: bool,
    slots: bool,
) {
    let Question { holder, seq, base, keep, back } = isolate.ask(t, keep);
    let asked = isolate.clock(t);
    let size = world.size(setting.burst, !takes);
    let message = Message { question: (holder, seq, base, keep, back), asked, takes, size, slots };
    world.send(t, &Event::Ask(index, isolate.id, message));
}

fn answer(world: &mut World, setting: &Setting, keeper: &mut Keeper, t: u64, message: Message) -> Reply {
    let (fraction, room, tokens, term, written) = message.size;
    let term = if written { term } else { term.min(setting.short) };
    let size = PartSize { fraction: Fraction::from_parts(fraction), room, tokens, term: span(term), written };
    let answer = keeper.answer(t, question(message.question), size);
    let slots = (message.slots && answer != PartAnswer::Stale).then(|| {
        let count = world.random.whole(1, (setting.burst / 4).max(1));
        let hold = (keeper.gcra.tolerance().as_nanos() as f64 * world.random.one_of(&[0.0, 0.1, 0.5])) as u64;
        keeper.lend(t, count, hold)
    });
    keeper.save(None);
    let part = match answer {
        PartAnswer::Part(part) => Some((part.fraction.parts(), part.room, part.tokens, part.term.as_nanos())),
        PartAnswer::None | PartAnswer::Stale => None,
    };
    let slots = slots.flatten().map(|(first, count, sooner)| (first.as_nanos(), count, sooner.as_nanos()));
    Reply { question: message.question, asked: message.asked, part, slots }
}

fn hear(isolate: &mut Isolate, t: u64, reply: Reply) {
    let is_fresh = isolate.asked == Some(reply.asked);
    if let (true, Some((first, count, sooner))) = (is_fresh, reply.slots) {
        let slots: LentSlots = (span(first), count, span(sooner));
        isolate.lend(t, reply.asked, slots);
    }
    let answer = reply.part.map_or(PartAnswer::None, |(fraction, room, tokens, term)| {
        let fraction = Fraction::from_parts(fraction);
        PartAnswer::Part(penstock::limit::share::Part { fraction, room, tokens, term: span(term) })
    });
    isolate.hear(t, &question(reply.question), answer);
}

fn next_gap(world: &mut World, setting: &Setting, gap: f64) -> f64 {
    let fill = (setting.interval * setting.burst) as f64;
    let mut next = world.random.exponential(gap);
    if setting.style == "quiet then flood" && world.random.chance(0.01) {
        next += fill;
    }
    if setting.style == "mixed" && world.random.chance(0.05) {
        next += fill * world.random.unit() * 0.5;
    }
    next.max(1.0)
}

#[test]
fn no_schedule_of_messages_losses_and_deaths_admits_more() {
    let (mut admitted, mut worst) = (0, i128::MIN);
    for seed in 0..1_000 {
        let (over, count, interval) = run(seed, None);
        assert!(over <= 0, "seed {seed}: {:.6} tokens over", over as f64 / interval as f64);
        admitted += count;
        worst = worst.max(over);
    }
    // The search is worth something if it admits much, and reaches the limit itself.
    assert!(admitted > 100_000, "{admitted}");
    assert!(worst > -1_000_000_000, "{worst}");
}

/// The scripts in `traps` find all bugs; the search finds these without being told where to look.
#[test]
fn the_search_finds_planted_bugs_by_itself() {
    for bug in [
        Bug::Outlives,
        Bug::SpendsWhileAsking,
        Bug::OldPartForgotten,
        Bug::NotMovedOn,
        Bug::SlotsTooSoon,
        Bug::Overdraws,
        Bug::NamesAgain,
    ] {
        let found = (0..300).find(|seed| run(*seed, Some(bug)).0 > 0);
        assert!(found.is_some(), "{bug:?}");
    }
}
