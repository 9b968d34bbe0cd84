//! The memory of an actor that keeps rates and quotas.
//!
//! **Invariant:** whenever the actor hands out tokens of a bucket whose debt is then
//! `durable_after` or more, `TAT in memory ≤ saved TAT`, with the same interval. A bucket that
//! wakes up after a crash is therefore never fuller than it was, but for a debt below
//! `durable_after` that was never saved.

use crate::actor::rates::cuts::{Cuts, SavedPart};
use crate::actor::rates::demand_bucket::DemandBucket;
use crate::actor::rates::former_names::FormerNames;
use crate::actor::rates::prepaid_quota::PrepaidQuotas;
use crate::actor::rates::warmup::Warmups;
use crate::ledger::UnusedQuota;
use crate::limit::bucket_table::{Bucket, BucketId, BucketTable, Full};
use crate::limit::debt::{Debt, SavedDebt};
use crate::limit::gcra::Gcra;
use crate::limit::lease::{Horizon, SavedTat};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::share::HolderId;
use crate::limit::time::{Span, Time};
use crate::limit::warmup::{SavedWarmup, Warmup, WarmupStep};
use crate::protocol::circuit_breaker::CircuitBreaker;

/// The number of buckets that one actor keeps. They take about 10 MB, a small part of the memory
/// that its isolate may use. With more, a flood of new callers takes more memory; with fewer, such
/// a flood fills the actor sooner, and newcomers are refused.
pub const CAPACITY: usize = 100_000;

/// The actor's storage for buckets.
pub trait BucketStore {
    /// Saves a bucket's debt before its tokens are handed out; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The actor may hand out nothing then.
    fn save(&self, id: BucketId, debt: SavedDebt) -> Result<u32, String>;

    /// Saves the warm-up state of a bucket, in one row; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The actor may hand out nothing then.
    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String>;

    /// Marks the rows of a bucket whose state another one has taken over, so that no later life
    /// of the actor restores them; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    fn retire(&self, id: BucketId) -> Result<u32, String>;

    /// Saves the part of a holder, or deletes its row; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The actor may hand out nothing then.
    fn save_part(&self, id: BucketId, holder: HolderId, part: Option<&SavedPart>) -> Result<u32, String>;

    /// Saves that parts which are not saved may be out until `until`; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The actor may hand out nothing then.
    fn mark_parts(&self, until: Time) -> Result<u32, String>;

    /// Saves the counter that takes over the state of a printed name; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The actor may hand out nothing then.
    fn save_former(&self, printed: &str, counter: &str) -> Result<u32, String>;
}

/// Everything that an actor keeps in memory of rates and quotas.
#[derive(Debug)]
pub struct Buckets {
    /// One bucket per rate and subject.
    pub(crate) table: BucketTable,
    /// Quota tokens that D1 has counted and no request has used.
    pub(crate) prepaid: PrepaidQuotas,
    /// Leaves D1 alone while it fails.
    pub(crate) ledger_breaker: CircuitBreaker,
    /// How long grants should last; longer while the actor has too many calls.
    pub(crate) horizon: Horizon,
    /// The rates that open slowly.
    pub(crate) warmups: Warmups,
    /// The buckets that are cut into parts.
    pub(crate) cuts: Cuts,
    /// The printed names of limits, and the counters to which they belong.
    pub(crate) former_names: FormerNames,
    clock: MonotonicClock,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets::with_capacity(CAPACITY)
    }
}

impl Buckets {
    /// An empty memory for at most `capacity` buckets: every bucket is full of tokens.
    pub fn with_capacity(capacity: usize) -> Buckets {
        Buckets {
            table: BucketTable::new(capacity),
            prepaid: PrepaidQuotas::default(),
            ledger_breaker: CircuitBreaker::default(),
            horizon: Horizon::default(),
            warmups: Warmups::default(),
            cuts: Cuts::default(),
            former_names: FormerNames::default(),
            clock: MonotonicClock::default(),
        }
    }

    /// Takes over the debt of a bucket that an earlier life of the actor saved. Without an interval
    /// it is the state of a printed name, as an earlier version has saved it.
    pub fn restore(&mut self, id: BucketId, saved: SavedDebt) {
        self.former_names.any_state |= saved.interval == Span::ZERO;
        self.table.put(id, Bucket { debt: Debt::restored(saved), saved: SavedTat::exact(saved.tat) });
    }

    /// Takes over the warm-up state of a bucket that an earlier life of the actor saved.
    pub fn restore_warm(&mut self, id: BucketId, saved: SavedWarmup, wall: Time) {
        let now = self.now(wall);
        self.warmups.put(id, Warmup::restore(saved, now));
    }

    /// Takes over the parts of a bucket that an earlier life of the actor saved. The bucket's debt
    /// has been restored before.
    pub fn restore_parts(&mut self, id: BucketId, parts: Vec<(HolderId, SavedPart)>, wall: Time) {
        let now = self.now(wall);
        let tat = self.table.get(id).debt.tat();
        self.cuts.restore(id, tat, parts, now);
    }

    /// Takes over the mark of an earlier life: until `marked`, parts may be out that it has not
    /// saved. Before the parts themselves.
    pub fn restore_parts_mark(&mut self, marked: Time, wall: Time) {
        let now = self.now(wall);
        self.cuts.restore_mark(marked, now);
    }

    /// Saves the debts that parts have moved on, before the rows of parts are deleted whose terms
    /// have ended.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    pub fn settle_cuts(&mut self, store: &impl BucketStore, wall: Time) -> Result<(), String> {
        let now = self.now(wall);
        for (id, tat) in self.cuts.settle(now) {
            let mut bucket = self.table.get(id);
            if bucket.saved.tat() > now && tat > bucket.debt.tat() {
                bucket.debt.delay_to(tat);
                let saved = bucket.debt.saved(now);
                store.save(id, saved)?;
                bucket.saved = SavedTat::exact(saved.tat);
                self.table.put(id, bucket);
            }
        }
        Ok(())
    }

    /// Takes out the tokens of one idle quota, to give them back to D1; `None` if no quota is idle.
    /// See [`PrepaidQuotas::take_idle`].
    pub fn take_idle_quota(&mut self, wall: Time) -> Option<UnusedQuota> {
        let now = self.now(wall);
        self.prepaid.take_idle(now)
    }

    /// Whether D1 is left alone for a while, because it failed.
    pub fn leaves_ledger_alone(&self) -> bool {
        self.ledger_breaker.is_open()
    }

    /// Whether the actor holds quota tokens that it may have to give back.
    pub fn holds_quota(&self) -> bool {
        self.prepaid.holds_tokens()
    }

    /// The monotonic time at which the wall clock reads `wall`.
    pub(crate) fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// Makes room in the table for the bucket of each rate in `demands`.
    ///
    /// # Errors
    /// [`Full`], with the time until a bucket may be free.
    pub(crate) fn reserve(&mut self, demands: &[DemandBucket<'_>], now: Time) -> Result<(), Full> {
        self.table.reserve(demands.iter().filter(|target| target.rate().is_some()).map(|target| target.id), now)
    }

    /// Puts a demand's bucket under the terms of its question; returns the rows written. After an
    /// edit the saved debt is rewritten, since the disk has it in other terms.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The bucket is unchanged then.
    pub(crate) fn put_under_terms(
        &mut self,
        target: &DemandBucket<'_>,
        gcra: &Gcra,
        store: &impl BucketStore,
        now: Time,
    ) -> Result<u32, String> {
        let mut bucket = self.table.get(target.id);
        if !target.ask(&mut bucket.debt, gcra, now) {
            return Ok(0);
        }
        let mut rows = 0;
        if bucket.saved.tat() > now {
            let saved = bucket.debt.saved(now);
            rows = store.save(target.id, saved)?;
            bucket.saved = SavedTat::exact(saved.tat);
        }
        self.table.put(target.id, bucket);
        Ok(rows)
    }

    /// Brings the warm-up of a demand's bucket up to `now`, and begins one after a cold start or a
    /// raise of the rate; returns the rows written. A bucket without warm-up stays as it is.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The bucket is unchanged then.
    pub(crate) fn advance_warmup(
        &mut self,
        target: &DemandBucket<'_>,
        gcra: &Gcra,
        store: &impl BucketStore,
        now: Time,
    ) -> Result<u32, String> {
        let (demand, id) = (target.demand, target.id);
        if demand.warmup == Span::ZERO {
            self.warmups.remove(id);
            return Ok(0);
        }
        let Bucket { mut debt, saved: mut saved_tat } = self.table.get(id);
        target.ask(&mut debt, gcra, now);
        let known = self.warmups.get(id);
        let WarmupStep { warmup, tat, save, ramp_starts } =
            Warmup::advance(known, gcra, demand.warmup, debt.tat(), now, demand.per_request);
        debt.delay_to(tat);
        if self.reserve(core::slice::from_ref(target), now).is_err() {
            return Ok(0);
        }
        let mut rows = 0_u32;
        if ramp_starts {
            let saved = debt.saved(now);
            rows = store.save(id, saved)?;
            saved_tat = SavedTat::exact(saved.tat);
        }
        if let Some(saved) = save {
            rows = rows.saturating_add(store.save_warm(id, &saved)?);
        }
        self.warmups.put(id, warmup);
        self.table.put(id, Bucket { debt, saved: saved_tat });
        Ok(rows)
    }
}
