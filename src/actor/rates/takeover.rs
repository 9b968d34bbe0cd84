//! The takeover of state under printed names, step by step; see
//! [`former_names`](crate::actor::rates::former_names).

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::actor::rates::demand_bucket::DemandBucket;
use crate::limit::bucket_table::Bucket;
use crate::limit::debt::Debt;
use crate::limit::gcra::Gcra;
use crate::limit::lease::SavedTat;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::bucket_id;

impl Buckets {
    /// Takes over the counter of a printed name that an earlier life of the actor saved.
    pub fn restore_former(&mut self, printed: &str, counter: &str) {
        self.former_names.restore(printed, counter);
    }

    /// Whether the state of a printed name has been looked for in other objects.
    pub(crate) fn has_arrived(&self, printed: &str) -> bool {
        self.former_names.is_known(printed)
    }

    /// Takes in the debt that another object has kept under a printed name.
    pub(crate) fn arrive(&mut self, printed: &str, debt: Span, wall: Time) {
        let now = self.now(wall);
        if !self.has_arrived(printed) {
            self.table
                .put(bucket_id(printed, None), Bucket { debt: Debt::of_tat(now.plus(debt)), ..Bucket::default() });
        }
        self.former_names.note_arrived(printed);
    }

    /// Saves the counter to which a demand's printed name belongs, where an earlier version asks or
    /// has left state; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    pub(crate) fn save_name(&mut self, target: &DemandBucket<'_>, store: &impl BucketStore) -> Result<u32, String> {
        let names = &mut self.former_names;
        names.any_state |= target.demand.known_counter().is_none();
        let printed = &target.demand.limit;
        let mut rows = 0;
        if names.any_state
            && let Some(counter) = names.unsaved(printed)
        {
            rows = store.save_former(printed, counter)?;
            names.note_saved(printed);
        }
        Ok(rows)
    }

    /// Adds the debt that was counted under a printed name to the bucket of the counter that has
    /// the name; returns the rows written. It is saved before the row of the printed name goes, so
    /// an error in between counts it twice, and never loses it.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    pub(crate) fn take_over(
        &mut self,
        target: &DemandBucket<'_>,
        gcra: &Gcra,
        store: &impl BucketStore,
        now: Time,
    ) -> Result<u32, String> {
        let mut rows = 0_u32;
        if !self.former_names.any_state {
            return Ok(rows);
        }
        for name in self.former_names.names_of(&target.name) {
            let former = bucket_id(&name, target.subject);
            let before = self.table.get(former);
            let warm = self.warmups.get(former);
            if before == Bucket::default() && warm.is_none()
                || self.reserve(core::slice::from_ref(target), now).is_err()
            {
                continue;
            }
            let mut bucket = self.table.get(target.id);
            bucket.debt.ask(gcra, now);
            bucket.debt.merge(&before.debt, now);
            let saved = bucket.debt.saved(now);
            rows = rows.saturating_add(store.save(target.id, saved)?);
            if let Some(warm) = warm {
                rows = rows.saturating_add(store.save_warm(target.id, &warm.saved())?);
                self.warmups.put(target.id, warm);
            }
            rows = rows.saturating_add(store.retire(former)?);
            bucket.saved = SavedTat::exact(saved.tat);
            self.table.put(target.id, bucket);
            self.table.remove(former);
            self.warmups.remove(former);
        }
        Ok(rows)
    }
}
