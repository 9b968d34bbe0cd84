//! Shared rates that open slowly; see [`limit::warmup`](crate::limit::warmup).

use crate::actor::rates::buckets::{BucketStore, Buckets, DemandBucket};
use crate::limit::bucket_table::{Bucket, BucketId};
use crate::limit::gcra::Gcra;
use crate::limit::lease::SavedTat;
use crate::limit::time::{Span, Time};
use crate::limit::warmup::{SavedWarmup, Warmup, WarmupStep};
use crate::protocol::rates::Outcome;

impl Buckets {
    /// Takes over how warm a bucket is from an earlier life of the actor.
    pub fn restore_warm(&mut self, id: BucketId, saved: SavedWarmup, wall: Time) {
        let now = self.now(wall);
        self.set_warm(id, Warmup::restore(saved, now));
    }

    /// Lets a bucket's own time pass, and begins where a ramp does; returns the rows written.
    pub(crate) fn warm_up(
        &mut self,
        target: &DemandBucket<'_>,
        gcra: &Gcra,
        disk: &impl BucketStore,
        now: Time,
    ) -> Result<u32, String> {
        let DemandBucket { demand, id, .. } = *target;
        if demand.warmup == Span::ZERO {
            self.warm.retain(|(other, _)| *other != id);
            return Ok(0);
        }
        let Bucket { tat, saved: mut saved_tat } = self.table.get(id);
        let known = self.warm(id);
        let WarmupStep { warmup, tat, save, ramp_starts } =
            Warmup::advance(known, gcra, demand.warmup, tat, now, demand.per_request);
        if self.reserve(core::slice::from_ref(target), now).is_err() {
            return Ok(0);
        }
        let mut rows = 0_u32;
        if ramp_starts {
            rows = disk.save(id, tat)?;
            saved_tat = SavedTat::exact(tat);
        }
        if let Some(saved) = save {
            rows = rows.saturating_add(disk.save_warm(id, &saved)?);
        }
        self.set_warm(id, warmup);
        self.table.put(id, Bucket { tat, saved: saved_tat });
        Ok(rows)
    }

    /// How long it really is until a bucket has regained what it regains in `span`.
    pub(crate) fn truly(&self, id: BucketId, gcra: &Gcra, now: Time, span: Span) -> Span {
        self.warm(id).map_or(span, |warm| warm.real_span(gcra, now, span))
    }

    /// How many slots of a bucket whose TAT is `tat` may be leased.
    pub(crate) fn leasable(&self, id: BucketId, gcra: &Gcra, tat: Time, now: Time, horizon: Span) -> u64 {
        self.warm(id).map_or(u64::MAX, |warm| warm.leasable_slots(gcra, tat, now, horizon))
    }

    /// A pass, with where the bucket stands.
    pub(crate) fn met(&self, id: BucketId, gcra: &Gcra, tat: Time, now: Time, slot: Span) -> Outcome {
        let more = self.truly(id, gcra, now, gcra.until_next_token(tat, now));
        Outcome::Met { left: gcra.available(tat, now), more, slot, until: None }
    }

    fn warm(&self, id: BucketId) -> Option<Warmup> {
        self.warm.iter().find(|(other, _)| *other == id).map(|(_, warm)| *warm)
    }

    fn set_warm(&mut self, id: BucketId, warm: Warmup) {
        self.warm.retain(|(other, _)| *other != id);
        self.warm.push((id, warm));
    }
}
