//! Explores every schedule of a case up to a depth, and long schedules at random.

use super::case::{Case, Move};
use super::check;
use super::world::{Memory, ModelWorld};
use penstock::limit::jitter::SplitMix64;
use std::collections::{HashMap, HashSet};

/// The counts of a search, and the violation that ended it.
#[derive(Debug, Default)]
pub struct Seen {
    pub states: u64,
    /// Different states at the end of a schedule, with all messages delivered.
    pub ends: u64,
    pub schedules: u64,
    pub moves: u64,
    pub violation: Option<Violation>,
}

/// A path after which a check fails.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub moves: Vec<Move>,
    pub what: String,
}

/// Makes the world after these moves.
fn after(case: &Case, moves: &[Move], memory: Memory) -> ModelWorld {
    let mut world = ModelWorld::new(case, memory);
    for step in moves {
        world.apply(*step);
    }
    world
}

/// Explores every schedule. A world cannot be copied, so each one is made anew from its beginning.
pub fn explore(case: &Case) -> Seen {
    let mut seen = Seen::default();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut ends: HashSet<u64> = HashSet::new();
    let mut path: Vec<Move> = Vec::new();
    let mut open: Vec<Vec<Move>> = Vec::new();
    let mut world = ModelWorld::new(case, Memory::Kept);
    loop {
        let rest = case.depth - path.len();
        let known = known.entry(world.key()).or_insert(usize::MAX);
        // A state that was explored this deeply before has nothing new to show.
        let new = *known == usize::MAX || *known < rest;
        seen.states += u64::from(*known == usize::MAX);
        let mut moves = Vec::new();
        if new {
            *known = rest;
            if let Err(what) = check::always(&world) {
                seen.violation = Some(shrink(case, Violation { moves: path, what }));
                return seen;
            }
            if rest > 0 {
                moves = world.moves();
                moves.reverse();
            } else {
                seen.schedules += 1;
                let mut end = after(case, &path, Memory::None);
                end.settle();
                let again = || after(case, &path, Memory::None);
                let new = ends.insert(end.key());
                seen.ends += u64::from(new);
                if new && let Err(what) = check::finally(&again) {
                    seen.violation = Some(shrink(case, Violation { moves: path, what }));
                    return seen;
                }
            }
        }
        open.push(moves);
        // Go on from this state if possible, or else back to the last one with a move that is not
        // made yet.
        let straight = open.last().is_some_and(|moves| !moves.is_empty());
        while open.last().is_some_and(Vec::is_empty) {
            open.pop();
            path.pop();
        }
        let Some(next) = open.last_mut().and_then(Vec::pop) else { return seen };
        if !straight {
            world = after(case, &path, Memory::Kept);
        }
        world.apply(next);
        path.push(next);
        seen.moves += 1;
    }
}

/// Walks at random: `walks` times, `case.depth` moves each.
pub fn wander(case: &Case, walks: u64, seed: u64) -> Seen {
    let mut seen = Seen::default();
    let mut random = SplitMix64::new(seed);
    for _ in 0..walks {
        let mut world = ModelWorld::new(case, Memory::None);
        let mut path = Vec::new();
        seen.schedules += 1;
        for _ in 0..case.depth {
            let moves = world.moves();
            // One move in eight may be a fault. More would use up all faults at the beginning.
            let usual: Vec<Move> = moves.iter().copied().filter(|next| !matches!(next, Move::Fault(..))).collect();
            let from = if below(&mut random, 8) == 0 { &moves } else { &usual };
            let next = from[below(&mut random, from.len())];
            world.apply(next);
            path.push(next);
            seen.moves += 1;
            if let Err(what) = check::always(&world) {
                seen.violation = Some(shrink(case, Violation { moves: path, what }));
                return seen;
            }
        }
        if let Err(what) = check::finally(&|| after(case, &path, Memory::None)) {
            seen.violation = Some(shrink(case, Violation { moves: path, what }));
            return seen;
        }
    }
    seen
}

/// Leaves out every move that the violation does not need.
fn shrink(case: &Case, mut violation: Violation) -> Violation {
    let mut index = 0;
    while index < violation.moves.len() {
        let mut fewer = violation.moves.clone();
        fewer.remove(index);
        match violates(case, &fewer) {
            Some(what) => violation = Violation { moves: fewer, what },
            None => index += 1,
        }
    }
    violation
}

/// Returns the check that fails after these moves; `None` if all hold.
pub fn violates(case: &Case, moves: &[Move]) -> Option<String> {
    let mut world = ModelWorld::new(case, Memory::None);
    for step in moves {
        world.apply(*step);
        if let Err(what) = check::always(&world) {
            return Some(what);
        }
    }
    check::finally(&|| after(case, moves, Memory::None)).err()
}

/// Draws a number from zero to less than `bound`.
fn below(random: &mut SplitMix64, bound: usize) -> usize {
    (random.draw() % bound.max(1) as u64) as usize
}

/// Explores a case, `PENSTOCK_MODEL_DEPTH` moves deeper, and prints the counts. Panics on a
/// violation.
pub fn holds(name: &str, case: &Case) {
    let deeper = std::env::var("PENSTOCK_MODEL_DEPTH").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let case = Case { depth: case.depth + deeper, ..case.clone() };
    report(name, &format!("every schedule of {} moves", case.depth), &explore(&case));
}

/// Walks through a case, ten times as often for each step of `PENSTOCK_MODEL_DEPTH`, and prints the
/// counts. Panics on a violation.
pub fn wanders(name: &str, case: &Case, walks: u64) {
    let deeper: u32 = std::env::var("PENSTOCK_MODEL_DEPTH").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    report(name, &format!("walks of {} moves", case.depth), &wander(case, walks * 10_u64.pow(deeper), 1));
}

fn report(name: &str, how: &str, seen: &Seen) {
    let Seen { states, ends, schedules, moves, .. } = seen;
    println!("model: {name}, {how}: {schedules} schedules, {states} states, {ends} ends, {moves} moves");
    if let Some(Violation { moves, what }) = &seen.violation {
        panic!("{name}: {what}, after {moves:?}");
    }
}
