//! Warm-up state of an actor's `global` rates; see [`limit::warmup`](crate::limit::warmup).

use crate::limit::bucket_table::BucketId;
use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use crate::limit::warmup::Warmup;

/// The rates of an actor that open slowly. A list, because an actor has one such rate or none.
#[derive(Debug, Default)]
pub(crate) struct Warmups(Vec<(BucketId, Warmup)>);

impl Warmups {
    /// The state of a bucket; `None` if it has never had a warm-up.
    pub(crate) fn get(&self, id: BucketId) -> Option<Warmup> {
        self.0.iter().find(|(other, _)| *other == id).map(|(_, warm)| *warm)
    }

    /// Sets the state of a bucket.
    pub(crate) fn put(&mut self, id: BucketId, warm: Warmup) {
        self.remove(id);
        self.0.push((id, warm));
    }

    /// Forgets a bucket: its rate has no warm-up any more.
    pub(crate) fn remove(&mut self, id: BucketId) {
        self.0.retain(|(other, _)| *other != id);
    }

    /// The time in which a bucket regains as much as it regains in `span` at its full rate. It is
    /// longer than `span` during a ramp.
    pub(crate) fn real_span(&self, id: BucketId, gcra: &Gcra, now: Time, span: Span) -> Span {
        self.get(id).map_or(span, |warm| warm.real_span(gcra, now, span))
    }

    /// The number of slots that may be leased of a bucket whose TAT is `tat`; `u64::MAX` outside of
    /// a ramp, where other bounds decide.
    pub(crate) fn leasable(&self, id: BucketId, gcra: &Gcra, tat: Time, now: Time, horizon: Span) -> u64 {
        self.get(id).map_or(u64::MAX, |warm| warm.leasable_slots(gcra, tat, now, horizon))
    }
}
