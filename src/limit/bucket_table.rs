//! A bounded table of buckets. A full bucket (its TAT has passed) equals a bucket that is not in
//! the table, so it may be dropped at any time. A bucket in debt is never dropped, so no client can
//! lose its debt by filling the table with others.

use crate::limit::debt::Debt;
use crate::limit::lease::SavedTat;
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;
use std::collections::{BinaryHeap, VecDeque};

/// The name of one bucket: a digest of its counter and its subject.
pub type BucketId = u128;

/// The least time between two sweeps of a table at its capacity. A sweep takes time in proportion
/// to the table, so a flood of new callers must not cause one with every request.
const SWEEP_EVERY: Span = Span::from_secs(1);

/// A table with fewer buckets than this is never swept.
const SWEEP_FROM: usize = 1_024;

/// Newcomers that are told a place of their own. More take memory; with fewer, more newcomers come
/// back for the same place.
const PLACES: usize = 1_024;

/// No newcomer is told to wait longer than this for a place behind the first one. If it were
/// longer, a place would stay empty for longer where the newcomers before do not come back.
const LONGEST_QUEUE: Span = Span::from_secs(60);

/// The table is full of buckets in debt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// How long until there may be room for this newcomer; at least [`SWEEP_EVERY`]. Nothing more
    /// is known: the buckets in the table may take on more debt, and others may come first.
    pub wait: Span,
}

/// The state of one bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The tokens that are taken and not repaid.
    pub debt: Debt,
    /// The TAT that the disk has for the bucket.
    pub saved: SavedTat,
}

/// A table of at most `capacity` buckets.
#[derive(Debug)]
pub struct BucketTable {
    buckets: HashMap<BucketId, Bucket>,
    capacity: usize,
    /// The number of buckets above which the next insertion sweeps; at most `capacity`.
    sweep_at: usize,
    /// When the table was last swept.
    swept: Time,
    places: Places,
}

/// The places of newcomers in a full table. The k-th place is free when k buckets have repaid their
/// debts.
#[derive(Debug, Default)]
struct Places {
    /// The earliest TATs in the table, in order of time, as of the sweep at `swept`.
    free_at: Vec<Time>,
    swept: Time,
    /// The times that newcomers were told and that are not over yet, in order of time.
    told: VecDeque<Time>,
}

impl BucketTable {
    /// An empty table for at most `capacity` buckets.
    pub fn new(capacity: usize) -> BucketTable {
        BucketTable {
            buckets: HashMap::new(),
            capacity,
            sweep_at: SWEEP_FROM.min(capacity),
            swept: Time::default(),
            places: Places::default(),
        }
    }

    /// The number of buckets in the table, including full ones that no sweep has dropped yet.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The bucket `id`; a full bucket if the table does not have it.
    pub fn get(&self, id: BucketId) -> Bucket {
        self.buckets.get(&id).cloned().unwrap_or_default()
    }

    /// Makes sure that [`put`](BucketTable::put) has room for each of `ids`.
    ///
    /// # Errors
    /// [`Full`] if too many of them are new and no sweep can make room.
    pub fn reserve(&mut self, ids: impl Iterator<Item = BucketId>, now: Time) -> Result<(), Full> {
        let new = ids.filter(|id| !self.buckets.contains_key(id)).count();
        if self.buckets.len().saturating_add(new) > self.sweep_at {
            self.sweep(now);
        }
        if new > 0 && self.buckets.len().saturating_add(new) > self.capacity {
            if self.places.swept != self.swept || self.places.free_at.is_empty() {
                self.places.look(self.buckets.values().map(|bucket| bucket.debt.rests_at()), self.swept);
            }
            return Err(Full { wait: self.places.next_wait(now).max(SWEEP_EVERY) });
        }
        Ok(())
    }

    /// Sets the bucket `id`, for which [`reserve`](BucketTable::reserve) has found room.
    pub fn put(&mut self, id: BucketId, bucket: Bucket) {
        self.buckets.insert(id, bucket);
    }

    /// Takes out the bucket `id`; `None` if the table does not have it.
    pub fn remove(&mut self, id: BucketId) -> Option<Bucket> {
        self.buckets.remove(&id)
    }

    /// Drops the full buckets, unless a table at its capacity was swept less than [`SWEEP_EVERY`]
    /// ago.
    fn sweep(&mut self, now: Time) {
        if self.swept.plus(SWEEP_EVERY) > now && self.buckets.len() >= self.capacity {
            return;
        }
        self.buckets.retain(|_, bucket| bucket.debt.rests_at() > now);
        self.swept = now;
        // Twice the buckets in debt: the cost of a sweep is then spread over as many insertions.
        self.sweep_at = self.buckets.len().saturating_mul(2).clamp(SWEEP_FROM.min(self.capacity), self.capacity);
    }
}

impl Places {
    /// Takes over the earliest of `tats`, those of a table that was swept at `swept`.
    fn look(&mut self, tats: impl Iterator<Item = Time>, swept: Time) {
        let mut earliest = BinaryHeap::with_capacity(PLACES);
        for tat in tats {
            if earliest.len() < PLACES {
                earliest.push(tat);
            } else if let Some(mut last) = earliest.peek_mut().filter(|last| tat < **last) {
                *last = tat;
            }
        }
        self.free_at = earliest.into_sorted_vec();
        self.swept = swept;
    }

    /// Returns how long one more newcomer waits for the place behind those that others were told.
    fn next_wait(&mut self, now: Time) -> Span {
        while self.told.front().is_some_and(|at| *at <= now) {
            self.told.pop_front();
        }
        let first = self.free_at.first().copied().unwrap_or(now).since(now);
        let place = self.free_at.get(self.told.len()).or(self.free_at.last()).copied().unwrap_or(now);
        let wait = place.since(now).min(first.max(LONGEST_QUEUE));
        let at = self.told.back().copied().unwrap_or(now).max(now.plus(wait));
        if self.told.len() < PLACES {
            self.told.push_back(at);
        }
        wait
    }
}
