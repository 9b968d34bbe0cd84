//! The lender: a cap's actor lends permits to isolates for a term.
//!
//! **Invariant:** `sum of the permits of all holders ≤ cap`. If the cap becomes smaller, the lender
//! lends nothing more until the sum is below it. See
//! [`protocol::permits`](crate::protocol::permits) for the whole protocol.

use crate::actor::permits::holding::Holding;
use crate::actor::permits::isolate_shares::fair_share;
use crate::limit::adaptive::{AdaptiveCap, Sample, SavedCap};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::policy::Size;
use crate::protocol::permits::{self, PermitAsk, PermitReply, Reserve, TERM};

/// The time for which a saved row is valid, 20 s. Twice the term, so that a holding that is renewed
/// needs a new row only now and then. The price: if actor and holder are both gone, the permits of
/// the row stay unused for a term.
pub const ROW_TERM: Span = Span::from_secs(2 * (TERM.as_millis() / 1_000));

/// A holder without permits counts in fair shares for this long after its last question.
const WANTED: Span = Span::from_secs(2);

/// The least time after which a holder with too few permits asks again. A free permit may stay
/// unused for as long.
const ASK_AGAIN: Span = Span::from_millis(50);

/// The wait per holder with too few permits: each of them waits this long times their number, and
/// at least [`ASK_AGAIN`]. All of them together then ask about 250 times a second; an actor serves
/// about 1,000 requests a second.
const ASK_AGAIN_PER_HOLDER: Span = Span::from_millis(4);

/// The longest time after which a holder with too few permits asks again.
const ASK_AGAIN_AT_MOST: Span = Span::from_secs(1);

/// The number of holders that one actor keeps. With that many, a new isolate gets no permits.
const CAPACITY: usize = 20_000;

/// The saved row of one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitRow {
    /// The holder's id.
    pub holder: u64,
    /// Permits lent to it.
    pub permits: u64,
    /// The end of the row's validity.
    pub until: Time,
    /// The number of the question that the permits were lent for.
    pub number: u64,
}

/// The actor's storage for permits.
pub trait PermitStore {
    /// Saves a holder's row in the place of its last one, before the permits are lent; returns the
    /// rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses. The lender may lend nothing then.
    fn save(&self, row: PermitRow) -> Result<u32, String>;

    /// Deletes a holder's row; returns the rows written.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    fn delete(&self, holder: u64) -> Result<u32, String>;

    /// Saves the size that an adaptive cap has found; returns the rows written. A store that does
    /// not keep it makes the next life of the actor begin at the cap's floor.
    ///
    /// # Errors
    /// A sentence, if the storage refuses.
    fn save_cap(&self, _cap: &SavedCap) -> Result<u32, String> {
        Ok(0)
    }
}

/// Everything that a cap's actor keeps in memory.
#[derive(Debug, Default)]
pub struct PermitLender {
    /// Holders by id. A list, because every question looks at all of them.
    holders: Vec<(u64, Holding)>,
    clock: MonotonicClock,
    /// The size of an adaptive cap; `None` before the first question about one.
    adaptive: Option<AdaptiveCap>,
    /// The size on disk; `None` if none was saved.
    saved_cap: Option<SavedCap>,
}

impl PermitLender {
    /// Takes over a row that an earlier life of the actor saved.
    pub fn restore(&mut self, row: PermitRow) {
        let PermitRow { holder, permits, until, number } = row;
        let holding = Holding {
            permits,
            until,
            wants: permits,
            reserve: Reserve::Nothing,
            asked: Time::default(),
            number,
            row_until: Some(until),
            peak: 0,
            reported_cap: 0,
        };
        self.put(holder, holding);
    }

    /// Takes over the size that an earlier life of the actor found for an adaptive cap.
    pub fn restore_cap(&mut self, saved: SavedCap) {
        self.adaptive = Some(AdaptiveCap::resume(1, u64::MAX, saved));
        self.saved_cap = Some(saved);
    }

    /// Answers a holder's question. Permits are on disk before they are lent.
    ///
    /// # Errors
    /// A sentence, if a later question of the holder was answered already, if there are too many
    /// holders, or if the storage fails. Nothing was lent then.
    pub fn answer(&mut self, ask: &PermitAsk, store: &impl PermitStore, wall: Time) -> Result<PermitReply, String> {
        let now = self.clock.read(wall);
        let mut rows = self.expire(now, store)?;
        let known = self.holders.iter().find(|(id, _)| *id == ask.holder).map(|(_, known)| *known);
        if known.is_some_and(|known| known.number >= ask.number) {
            return Err("a later question was answered already".to_owned());
        }
        if known.is_none() && self.holders.len() >= CAPACITY {
            return Err("there are too many holders".to_owned());
        }
        let cap = self.cap(ask, known.map_or(0, |known| known.reported_cap), now);
        rows = rows.saturating_add(self.save_cap(store)?);

        // From its question on, the holder uses no more than it keeps. If it keeps more than the
        // lender knows of, its term has passed here, and it gets back the part that is still free.
        let own = known.map_or(0, |known| known.permits).min(ask.keeps);
        let others = self.holders.iter().filter(|(id, _)| *id != ask.holder);
        let others = others.map(|(_, other)| other.permits).fold(0, u64::saturating_add);
        let free = cap.saturating_sub(others.saturating_add(own));
        let wants = ask.wants.max(ask.keeps).min(cap);
        let share = fair_share(&self.holders, ask, wants, cap, now);
        let kept = own.saturating_add(free.min(ask.keeps.saturating_sub(own)));
        let room = free.saturating_sub(ask.reserve.of_cap(cap));
        let grown = own.saturating_add(room.min(wants.min(share).saturating_sub(own)));
        let permits = kept.max(grown);

        let peak = ask.sample.map(|sample| sample.peak).or(known.map(|known| known.peak)).unwrap_or(0);
        let &PermitAsk { reserve, number, .. } = ask;
        let row_until = known.and_then(|known| known.row_until);
        let until = now.plus(TERM);
        let mut holding =
            Holding { permits, until, wants, reserve, asked: now, number, row_until, peak, reported_cap: cap };
        rows = rows.saturating_add(save_row(ask.holder, &mut holding, own, store)?);
        self.put(ask.holder, holding);

        let short_holders = self.holdings().filter(|holding| holding.wants > holding.permits).count() as u64;
        Ok(PermitReply {
            permits,
            share: share.max(1),
            cap,
            free: cap.saturating_sub(others.saturating_add(permits)),
            term: TERM,
            again: ASK_AGAIN.max(ASK_AGAIN_PER_HOLDER.times(short_holders)).min(ASK_AGAIN_AT_MOST),
            rows,
        })
    }

    /// The number of permits that are lent, to all holders together.
    pub fn lent(&self) -> u64 {
        self.holdings().map(|holding| holding.permits).fold(0, u64::saturating_add)
    }

    /// Takes back the permits whose term has ended. Returns the earliest end of a term that is
    /// left; `None` if nothing is lent.
    ///
    /// # Errors
    /// The storage's.
    pub fn sweep(&mut self, store: &impl PermitStore, wall: Time) -> Result<Option<Time>, String> {
        let now = self.clock.read(wall);
        self.expire(now, store)?;
        Ok(self.holdings().filter(|holding| holding.permits > 0).map(|holding| holding.until).min())
    }

    fn put(&mut self, holder: u64, holding: Holding) {
        match self.holders.iter_mut().find(|(id, _)| *id == holder) {
            Some((_, known)) => *known = holding,
            None => self.holders.push((holder, holding)),
        }
    }

    fn holdings(&self) -> impl Iterator<Item = &Holding> {
        self.holders.iter().map(|(_, holding)| holding)
    }

    /// The size of the cap now. An adaptive cap first learns from the sample in the question.
    /// `reported_cap` is the size in the holder's last reply; 0 if it has had none.
    fn cap(&mut self, ask: &PermitAsk, reported_cap: u64, now: Time) -> u64 {
        let (floor, ceiling) = match ask.size {
            Size::Fixed(most) => return most,
            Size::Auto { least, most } => (least, most),
        };
        let others = || self.holders.iter().filter(|(id, _)| *id != ask.holder).map(|(_, other)| other);
        let wanted = others().map(|other| other.wants).fold(ask.wants, u64::saturating_add);
        let peaks = others().map(|other| other.peak).fold(0, u64::saturating_add);
        let adaptive = self.adaptive.get_or_insert_with(|| AdaptiveCap::new(floor, ceiling));
        adaptive.set_bounds(floor, ceiling);
        if let Some(permits::OriginSample { ended, sum_ms, errors, peak, .. }) = ask.sample {
            let good = ended.saturating_sub(errors).max(1);
            let mean = Span::from_millis(sum_ms).as_nanos().checked_div(good).unwrap_or(0);
            let sample = Sample {
                ended,
                failed: errors,
                mean_latency: Span::from_nanos(mean),
                max_in_flight: peaks.saturating_add(peak),
                refused: wanted.saturating_sub(adaptive.cap()),
                cap: if reported_cap > 0 { reported_cap } else { adaptive.cap() },
            };
            adaptive.record(&sample, now);
        }
        adaptive.cap()
    }

    /// Saves the size of an adaptive cap, if it differs enough from the saved one; returns the rows
    /// written.
    fn save_cap(&mut self, store: &impl PermitStore) -> Result<u32, String> {
        match self.adaptive.as_ref().and_then(AdaptiveCap::saved) {
            Some(found) if found.is_worth_saving(self.saved_cap) => {
                let rows = store.save_cap(&found)?;
                self.saved_cap = Some(found);
                Ok(rows)
            }
            _ => Ok(0),
        }
    }

    /// Forgets the holdings whose term has ended, with their rows; returns the rows written.
    fn expire(&mut self, now: Time, store: &impl PermitStore) -> Result<u32, String> {
        let mut rows: u32 = 0;
        let mut problem = None;
        self.holders.retain_mut(|(holder, holding)| {
            let stays = if holding.permits > 0 { now < holding.until } else { now < holding.asked.plus(WANTED) };
            // A live holder asks again within a term, so a restored row that claims a longer one is
            // cut down: a broken clock may have written it.
            holding.until = holding.until.min(now.plus(TERM));
            if !stays && holding.row_until.is_some() {
                match store.delete(*holder) {
                    Ok(written) => rows = rows.saturating_add(written),
                    // The permits stay lent while the row is there: the actor's next life would
                    // count it.
                    Err(found) => {
                        problem = Some(found);
                        return true;
                    }
                }
            }
            stays
        });
        problem.map_or(Ok(rows), Err)
    }
}

/// Brings the row on disk up to date with a holding that grew from `own` permits, and returns the
/// rows written. A larger holding is always saved, with the number of its question: after a crash,
/// an older question that arrives late must not make it smaller.
fn save_row(holder: u64, holding: &mut Holding, own: u64, store: &impl PermitStore) -> Result<u32, String> {
    let Holding { permits, until, asked, number, row_until, .. } = *holding;
    if permits == 0 {
        return match row_until {
            Some(_) => {
                let rows = store.delete(holder)?;
                holding.row_until = None;
                Ok(rows)
            }
            None => Ok(0),
        };
    }
    if permits <= own && row_until.is_some_and(|row_until| row_until >= until) {
        return Ok(0);
    }
    let until = asked.plus(ROW_TERM);
    let rows = store.save(PermitRow { holder, permits, until, number })?;
    holding.row_until = Some(until);
    Ok(rows)
}
