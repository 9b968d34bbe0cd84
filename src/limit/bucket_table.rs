//! A bounded table of buckets. A bucket at rest (its TAT has passed) is the same as no bucket, so it may be
//! dropped at any time; a bucket in debt never is, so nobody can wash off a debt by flooding the table.

use crate::limit::lease::SavedTat;
use crate::limit::time::{Span, Time};
use hashbrown::HashMap;

/// Names one bucket: a digest of its limit and its subject.
pub type BucketId = u128;

/// How long a full table waits between two sweeps. Sweeping costs time in proportion to the table; a flood of
/// newcomers must not be able to ask for it with every request.
const SWEEP_EVERY: Span = Span::from_secs(1);

/// Below this many buckets a table is never swept.
const SMALL: usize = 1_024;

/// The table has no room for another bucket before `wait` has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// How long until the earliest bucket in debt is at rest again; at least [`SWEEP_EVERY`].
    pub wait: Span,
}

/// One bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Its TAT; long ago for a full one.
    pub tat: Time,
    /// What is on the disk for it.
    pub ahead: SavedTat,
}

/// At most `capacity` buckets.
#[derive(Debug)]
pub struct BucketTable {
    buckets: HashMap<BucketId, Bucket>,
    capacity: usize,
    sweep_at: usize,
    swept: Time,
    earliest: Time,
}

impl BucketTable {
    /// An empty table for at most `capacity` buckets.
    pub fn new(capacity: usize) -> BucketTable {
        BucketTable {
            buckets: HashMap::new(),
            capacity,
            sweep_at: SMALL.min(capacity),
            swept: Time::default(),
            earliest: Time::default(),
        }
    }

    /// How many buckets the table holds, those at rest but not yet swept included.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether the table holds no bucket.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// A bucket; a full one where there is none of that name.
    pub fn get(&self, id: BucketId) -> Bucket {
        self.buckets.get(&id).copied().unwrap_or_default()
    }

    /// A bucket's TAT.
    pub fn tat(&self, id: BucketId) -> Time {
        self.get(id).tat
    }

    /// Makes sure that [`put`](BucketTable::put) has room for every one of `ids`.
    ///
    /// # Errors
    /// [`Full`] where too many of them are new and no bucket is at rest.
    pub fn reserve(&mut self, ids: impl Iterator<Item = BucketId>, now: Time) -> Result<(), Full> {
        let new = ids.filter(|id| !self.buckets.contains_key(id)).count();
        if self.buckets.len().saturating_add(new) > self.sweep_at {
            self.sweep(now);
        }
        if new > 0 && self.buckets.len().saturating_add(new) > self.capacity {
            return Err(Full { wait: self.earliest.since(now).max(SWEEP_EVERY) });
        }
        Ok(())
    }

    /// Sets a bucket. The caller has reserved room for it.
    pub fn put(&mut self, id: BucketId, bucket: Bucket) {
        self.buckets.insert(id, bucket);
    }

    /// Drops the buckets at rest, unless that was done a moment ago.
    fn sweep(&mut self, now: Time) {
        if self.swept.plus(SWEEP_EVERY) > now && self.buckets.len() >= self.capacity {
            return;
        }
        self.buckets.retain(|_, bucket| bucket.tat > now);
        self.swept = now;
        self.earliest = self.buckets.values().map(|bucket| bucket.tat).min().unwrap_or(now);
        // Twice what is in use, so that the cost of sweeping is spread over as many insertions.
        self.sweep_at = self.buckets.len().saturating_mul(2).clamp(SMALL.min(self.capacity), self.capacity);
    }
}
