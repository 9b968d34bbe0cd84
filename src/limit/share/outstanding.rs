//! The parts of a bucket that are out, by holder.

use crate::limit::share::fraction::Fraction;
use crate::limit::time::{Span, Time};
use std::collections::BTreeMap;

/// The name of a holder: random, and new for each life of an isolate.
pub type HolderId = u64;

/// One of the parts that a holder may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The fraction of the rate that the part regains.
    pub fraction: Fraction,
    /// The most tokens that the part holds.
    pub room: u64,
    /// The end of the part's term, by the actor's clock.
    pub until: Time,
    /// The number of the question that brought the part.
    pub seq: u64,
    /// Whether the part is on the actor's disk.
    pub written: bool,
}

/// A holder, as the actor knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The number of the holder's last question.
    pub seq: u64,
    /// The parts of which the holder has one: the one that it had when it asked last, and the one
    /// of the answer.
    pub ways: Vec<Way>,
}

impl Entry {
    /// The largest fraction and the largest room of the ways that `counts` picks.
    fn counted(&self, counts: impl Fn(&Way) -> bool) -> Sum {
        let ways = self.ways.iter().filter(|way| counts(way));
        ways.fold(Sum::default(), |sum, way| Sum {
            fraction: sum.fraction.max(way.fraction),
            room: sum.room.max(way.room),
        })
    }
}

/// The sum of several parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub fraction: Fraction,
    pub room: u64,
}

impl Sum {
    fn plus(self, other: Sum) -> Sum {
        Sum { fraction: self.fraction.plus(other.fraction), room: self.room.saturating_add(other.room) }
    }

    fn minus(self, other: Sum) -> Sum {
        Sum { fraction: self.fraction.minus(other.fraction), room: self.room.saturating_sub(other.room) }
    }
}

/// All parts that are out, with their sums, and the part that an actor holds back after it woke.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outstanding {
    entries: BTreeMap<HolderId, Entry>,
    /// The part of no holder that covers unwritten ones of earlier lives.
    held_back: Option<Way>,
    /// The sum of all entries and of `held_back`.
    total: Sum,
    /// The sum of the parts that are not on disk.
    unwritten: Sum,
    /// The earliest end of a term.
    next_end: Option<Time>,
}

impl Outstanding {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.held_back.is_none()
    }

    pub fn total(&self) -> Sum {
        self.total
    }

    /// The sum of all parts but those of `holder`.
    pub fn beside(&self, holder: HolderId) -> Sum {
        let own = self.entries.get(&holder).map(|entry| entry.counted(|_| true));
        self.total.minus(own.unwrap_or_default())
    }

    pub fn unwritten(&self) -> Sum {
        self.unwritten
    }

    pub fn next_end(&self) -> Option<Time> {
        self.next_end
    }

    pub fn get(&self, holder: HolderId) -> Option<&Entry> {
        self.entries.get(&holder)
    }

    pub fn iter(&self) -> impl Iterator<Item = (HolderId, &Entry)> {
        self.entries.iter().map(|(holder, entry)| (*holder, entry))
    }

    /// Replaces the entry of `holder`; an entry without ways is none.
    pub fn set(&mut self, holder: HolderId, entry: Entry) {
        let all = |_: &Way| true;
        let unwritten = |way: &Way| !way.written;
        let old = self.entries.remove(&holder).unwrap_or_default();
        self.total = self.total.minus(old.counted(all)).plus(entry.counted(all));
        self.unwritten = self.unwritten.minus(old.counted(unwritten)).plus(entry.counted(unwritten));
        let first = entry.ways.iter().map(|way| way.until).min();
        if !entry.ways.is_empty() {
            self.entries.insert(holder, entry);
        }
        self.next_end = if old.ways.iter().any(|way| Some(way.until) == self.next_end) {
            self.earliest_end()
        } else {
            self.next_end.into_iter().chain(first).min()
        };
    }

    /// Holds back `way`, which no holder has, in place of the one before.
    pub fn hold_back(&mut self, way: Option<Way>) {
        self.held_back = way;
        self.sum_up();
    }

    /// Drops the parts whose terms end at `end` or before.
    pub fn end_terms(&mut self, end: Time) {
        self.entries.retain(|_, entry| {
            entry.ways.retain(|way| way.until > end);
            !entry.ways.is_empty()
        });
        self.held_back = self.held_back.filter(|way| way.until > end);
        self.sum_up();
    }

    /// Gives each part the fraction of the rate of one token per `new` that keeps its tokens per
    /// second, where the rate was one token per `old`.
    pub fn rescale(&mut self, old: Span, new: Span) {
        let ways = self.entries.values_mut().flat_map(|entry| &mut entry.ways);
        for way in ways.chain(&mut self.held_back) {
            way.fraction = way.fraction.rescaled(old, new);
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let sum = |counts: fn(&Way) -> bool| {
            self.entries.values().fold(Sum::default(), |sum, entry| sum.plus(entry.counted(counts)))
        };
        let (total, unwritten) = (sum(|_| true), sum(|way| !way.written));
        let held_back = self.held_back.map(|way| Sum { fraction: way.fraction, room: way.room });
        self.total = total.plus(held_back.unwrap_or_default());
        self.unwritten = unwritten;
        self.next_end = self.earliest_end();
    }

    fn earliest_end(&self) -> Option<Time> {
        let ways = self.entries.values().flat_map(|entry| &entry.ways);
        ways.chain(&self.held_back).map(|way| way.until).min()
    }
}
