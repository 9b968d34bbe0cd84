//! Steps of handing tokens out: the answer to a question for a part, and the save before tokens go.

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::actor::rates::cuts::PartWrite;
use crate::actor::rates::demand_bucket::DemandBucket;
use crate::limit::debt::{Debt, SavedDebt};
use crate::limit::gcra::Gcra;
use crate::limit::lease::{GrantedSlots, SavedTat, Wish, grant as grant_slots};
use crate::limit::share::is_cut;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::PartReply;

/// Grants slots of the bucket whose TAT is `tat`. While parts are out, they take the place of slots
/// ahead; requests that wait have their slots as ever.
pub(super) fn lend(
    buckets: &mut Buckets,
    target: &DemandBucket<'_>,
    gcra: &Gcra,
    tat: Time,
    wish: Wish,
    horizon: Span,
    now: Time,
) -> Option<GrantedSlots> {
    let per_request = target.demand.per_request;
    if !buckets.cuts.is_cut(target.id) {
        return grant_slots(gcra, tat, now, wish, per_request, horizon);
    }
    buckets.cuts.raise(target.id, tat);
    buckets.cuts.slots(target.id, wish.waiting, per_request, now)
}

/// Answers a demand's question for a part, whose debt follows; returns the answer and the rows that
/// were written before it. `None` if there is no question, or nothing to say.
pub(super) fn answer_part(
    buckets: &mut Buckets,
    target: &DemandBucket<'_>,
    gcra: &Gcra,
    debt: &mut Debt,
    durable_after: Span,
    store: &impl BucketStore,
    now: Time,
) -> Result<Option<(PartReply, u32)>, String> {
    // While terms are side by side, each token is given by a question of its own.
    let asked = target.demand.part.filter(|_| !debt.is_edited());
    let Some(asked) = asked.filter(|_| is_cut(gcra, target.demand.per_request)) else { return Ok(None) };
    let Some((answer, write)) = buckets.cuts.answer(target.id, gcra, debt, &asked, durable_after, now) else {
        return Ok(None);
    };
    let mut rows = 0_u32;
    match write {
        PartWrite::Row(row) => rows = store.save_part(target.id, asked.question.holder, row.as_ref())?,
        PartWrite::None => {
            let mark = answer.part.and_then(|part| buckets.cuts.mark_for(now.plus(part.term)));
            if let Some(mark) = mark {
                rows = store.mark_parts(mark)?;
            }
        }
    }
    Ok(Some((answer, rows)))
}

/// Saves a debt of `durable_after` or more, where the disk does not cover it; returns the state of
/// the disk. While terms are side by side, each debt is saved exactly.
pub(super) fn save_ahead(
    debt: &Debt,
    saved: SavedTat,
    edited: bool,
    gcra: &Gcra,
    durable_after: Span,
    now: Time,
    save: impl FnOnce(SavedDebt) -> Result<(), String>,
) -> Result<SavedTat, String> {
    if debt.tat().since(now) < durable_after {
        return Ok(saved);
    }
    let form = debt.saved(now);
    if edited || debt.is_edited() {
        save(form)?;
        return Ok(SavedTat::exact(form.tat));
    }
    let Some(ahead) = saved.cover(gcra, form.tat, now) else { return Ok(saved) };
    save(SavedDebt { tat: ahead.tat(), ..form })?;
    Ok(ahead)
}
