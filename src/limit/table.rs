//! A bounded table of buckets. A bucket at rest (its TAT has passed) is the same as no bucket, so it may be
//! dropped at any time; a bucket in debt never is, so nobody can wash off a debt by flooding the table.

use super::time::{Span, Time};
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

/// The TATs of at most `capacity` buckets.
#[derive(Debug)]
pub struct Table {
    tats: HashMap<BucketId, Time>,
    capacity: usize,
    sweep_at: usize,
    swept: Time,
    earliest: Time,
}

impl Table {
    /// An empty table for at most `capacity` buckets.
    pub fn new(capacity: usize) -> Table {
        Table {
            tats: HashMap::new(),
            capacity,
            sweep_at: SMALL.min(capacity),
            swept: Time::default(),
            earliest: Time::default(),
        }
    }

    /// How many buckets the table holds, those at rest but not yet swept included.
    pub fn len(&self) -> usize {
        self.tats.len()
    }

    /// Whether the table holds no bucket.
    pub fn is_empty(&self) -> bool {
        self.tats.is_empty()
    }

    /// The bucket's TAT; long ago for a bucket that is not there, which is a full one.
    pub fn tat(&self, id: BucketId) -> Time {
        self.tats.get(&id).copied().unwrap_or_default()
    }

    /// Makes sure that [`put`](Table::put) has room for every one of `ids`.
    ///
    /// # Errors
    /// [`Full`] where too many of them are new and no bucket is at rest.
    pub fn reserve(&mut self, ids: impl Iterator<Item = BucketId>, now: Time) -> Result<(), Full> {
        let new = ids.filter(|id| !self.tats.contains_key(id)).count();
        if self.tats.len().saturating_add(new) > self.sweep_at {
            self.sweep(now);
        }
        if new > 0 && self.tats.len().saturating_add(new) > self.capacity {
            return Err(Full { wait: self.earliest.since(now).max(SWEEP_EVERY) });
        }
        Ok(())
    }

    /// Sets a bucket's TAT. The caller has reserved room for it.
    pub fn put(&mut self, id: BucketId, tat: Time) {
        self.tats.insert(id, tat);
    }

    /// Drops the buckets at rest, unless that was done a moment ago.
    fn sweep(&mut self, now: Time) {
        if self.swept.plus(SWEEP_EVERY) > now && self.tats.len() >= self.capacity {
            return;
        }
        self.tats.retain(|_, tat| *tat > now);
        self.swept = now;
        self.earliest = self.tats.values().copied().min().unwrap_or(now);
        // Twice what is in use, so that the cost of sweeping is spread over as many insertions.
        self.sweep_at = self.tats.len().saturating_mul(2).clamp(SMALL.min(self.capacity), self.capacity);
    }
}
