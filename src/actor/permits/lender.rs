//! What a cap's actor does with a question: lend slots, never more than the cap all together; see [`gate::slots`](crate::protocol::permits).

use crate::limit::adaptive::{AdaptiveCap, Sample, SavedCap};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::policy::Size;
use crate::protocol::permits::{self, PermitAsk, PermitReply, Reserve, TERM};

/// How long a row on the disk is good for. A holding that goes on needs a row only every now and then; a row that outlives its
/// holding costs slots for a term, where actor and holder are both gone.
pub const ON_DISK: Span = Span::from_secs(2 * (TERM.as_millis() / 1_000));

/// Who holds nothing and has wanted something this lately counts where slots are shared out.
const WANTED: Span = Span::from_secs(2);

/// The least time after which one asks again who was given too few: a slot may stand empty for as long.
const AGAIN: Span = Span::from_millis(50);

/// How much longer that is for each holder: all together ask an actor, which can do about a thousand things a second, at most
/// this often.
const AGAIN_EACH: Span = Span::from_millis(4);

/// The longest time after which one asks again.
const AGAIN_LATEST: Span = Span::from_secs(1);

/// Holders that one actor keeps, beyond which a newcomer gets nothing.
const CAPACITY: usize = 20_000;

/// One holder's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitRow {
    /// Who.
    pub holder: u64,
    /// How many slots.
    pub slots: u64,
    /// Until when.
    pub until: Time,
    /// The number of the question that was answered with them.
    pub number: u64,
}

/// The actor's storage.
pub trait PermitStore {
    /// Saves a row before its slots are lent, in the place of the holder's last; returns the rows written.
    ///
    /// # Errors
    /// A sentence, where the storage refuses. Nothing may be lent then.
    fn save(&self, row: PermitRow) -> Result<u32, String>;

    /// Deletes a holder's row; returns the rows written.
    ///
    /// # Errors
    /// A sentence, where the storage refuses.
    fn delete(&self, holder: u64) -> Result<u32, String>;

    /// Saves how large a cap was found to be; returns the rows written. Where that is not kept, the next life begins at the floor.
    ///
    /// # Errors
    /// A sentence, where the storage refuses.
    fn keep(&self, _found: &SavedCap) -> Result<u32, String> {
        Ok(0)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub(super) slots: u64,
    pub(super) until: Time,
    pub(super) wants: u64,
    /// What those leave to others that it last wanted some for.
    pub(super) reserve: Reserve,
    pub(super) heard: Time,
    pub(super) number: u64,
    /// Until when its row on the disk is good, if it has one.
    pub(super) row: Option<Time>,
    /// The most that it had under way at once, when it last told.
    pub(super) peak: u64,
    /// The cap that it was last told of.
    pub(super) told: u64,
}

/// Everything that a cap's actor keeps in memory.
#[derive(Debug, Default)]
pub struct PermitLender {
    /// A list: whatever is asked, all of them have to be looked at.
    pub(super) holders: Vec<(u64, Holding)>,
    pub(super) clock: MonotonicClock,
    /// How large the cap was found to be, where it is to be found, and what of that is on disk.
    pub(super) adaptive: Option<AdaptiveCap>,
    pub(super) found: Option<SavedCap>,
}

impl PermitLender {
    /// Takes over a row that an earlier life of the actor saved.
    pub fn restore(&mut self, row: PermitRow) {
        let PermitRow { holder, slots, until, number } = row;
        let heard = Time::default();
        let (wants, reserve, row) = (slots, Reserve::Nothing, Some(until));
        self.put(holder, Holding { slots, until, wants, reserve, heard, number, row, peak: 0, told: 0 });
    }

    /// Takes over how large an earlier life of the actor has found the cap to be.
    pub fn resume(&mut self, found: SavedCap) {
        self.adaptive = Some(AdaptiveCap::resume(1, u64::MAX, found));
        self.found = Some(found);
    }

    /// Answers `question`. What is lent is on the disk before.
    ///
    /// # Errors
    /// A sentence, where the question is older than one that was answered, or the storage fails; then nothing was lent.
    pub fn answer(
        &mut self,
        question: &PermitAsk,
        shelf: &impl PermitStore,
        wall: Time,
    ) -> Result<PermitReply, String> {
        let now = self.clock.read(wall);
        let mut rows = self.expire(now, shelf)?;
        let known = self.holders.iter().find(|(id, _)| *id == question.holder).map(|(_, known)| *known);
        if known.is_some_and(|known| known.number >= question.number) {
            return Err("a later question was answered already".to_owned());
        }
        if known.is_none() && self.holders.len() >= CAPACITY {
            return Err("there are too many holders".to_owned());
        }
        let cap = self.cap(question, known.map_or(0, |known| known.told), now);
        if let Some(found) = self.adaptive.as_ref().and_then(AdaptiveCap::saved)
            && found.is_worth_saving(self.found)
        {
            rows = rows.saturating_add(shelf.keep(&found)?);
            self.found = Some(found);
        }
        // It keeps no more than this from the moment it asked. Where it says that it keeps more than is known of, its term has passed
        // here: then it gets back what is free.
        let own = known.map_or(0, |known| known.slots).min(question.keeps);
        let others = self.holders.iter().filter(|(id, _)| *id != question.holder);
        let others = others.map(|(_, other)| other.slots).fold(0, u64::saturating_add);
        let free = cap.saturating_sub(others.saturating_add(own));
        let wants = question.wants.max(question.keeps).min(cap);
        let share = self.share(question, wants, cap, now);
        let kept = own.saturating_add(free.min(question.keeps.saturating_sub(own)));
        let room = free.saturating_sub(question.reserve.of_cap(cap));
        let grown = own.saturating_add(room.min(wants.min(share).saturating_sub(own)));
        let slots = kept.max(grown);

        let row = known.and_then(|known| known.row);
        let peak = question.sample.map(|sample| sample.peak).or(known.map(|known| known.peak)).unwrap_or(0);
        let &PermitAsk { reserve, number, .. } = question;
        let mut holding =
            Holding { slots, until: now.plus(TERM), wants, reserve, heard: now, number, row, peak, told: cap };
        if slots == 0 {
            if row.is_some() {
                rows = rows.saturating_add(shelf.delete(question.holder)?);
                holding.row = None;
            }
        } else if slots > own || row.is_none_or(|until| until < holding.until) {
            // A larger holding is always written, with its question's number: an older question, should it come
            // after a crash, must not make it smaller.
            let until = now.plus(ON_DISK);
            rows = rows.saturating_add(shelf.save(PermitRow {
                holder: question.holder,
                slots,
                until,
                number: question.number,
            })?);
            holding.row = Some(until);
        }
        self.put(question.holder, holding);

        let wanting = self.holdings().filter(|holding| holding.wants > holding.slots).count() as u64;
        Ok(PermitReply {
            slots,
            share: share.max(1),
            cap,
            free: cap.saturating_sub(others.saturating_add(slots)),
            term: TERM,
            again: AGAIN.max(AGAIN_EACH.times(wanting)).min(AGAIN_LATEST),
            rows,
        })
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

    /// How many are lent.
    pub fn lent(&self) -> u64 {
        self.holdings().map(|holding| holding.slots).fold(0, u64::saturating_add)
    }

    /// Takes back what was not asked for again in time; the earliest time at which there is more to take back, if anything is lent.
    ///
    /// # Errors
    /// The storage's.
    pub fn sweep(&mut self, shelf: &impl PermitStore, wall: Time) -> Result<Option<Time>, String> {
        let now = self.clock.read(wall);
        self.expire(now, shelf)?;
        Ok(self.holdings().filter(|holding| holding.slots > 0).map(|holding| holding.until).min())
    }

    /// How large the cap is now; who asks was last told `told`, or nothing.
    fn cap(&mut self, question: &PermitAsk, told: u64, now: Time) -> u64 {
        let (floor, ceiling) = match question.size {
            Size::Fixed(most) => return most,
            Size::Auto { least, most } => (least, most),
        };
        let others = || self.holders.iter().filter(|(id, _)| *id != question.holder).map(|(_, other)| other);
        let wanted = others().map(|other| other.wants).fold(question.wants, u64::saturating_add);
        let at_once = others().map(|other| other.peak).fold(0, u64::saturating_add);
        let adaptive = self.adaptive.get_or_insert_with(|| AdaptiveCap::new(floor, ceiling));
        adaptive.set_bounds(floor, ceiling);
        if let Some(permits::OriginSample { ended, sum_ms, errors, peak, .. }) = question.sample {
            let good = ended.saturating_sub(errors).max(1);
            let mean = Span::from_millis(sum_ms).as_nanos().checked_div(good).unwrap_or(0);
            let sample = Sample {
                ended,
                failed: errors,
                mean_latency: Span::from_nanos(mean),
                max_in_flight: at_once.saturating_add(peak),
                refused: wanted.saturating_sub(adaptive.cap()),
                cap: if told > 0 { told } else { adaptive.cap() },
            };
            adaptive.record(&sample, now);
        }
        adaptive.cap()
    }

    fn expire(&mut self, now: Time, shelf: &impl PermitStore) -> Result<u32, String> {
        let mut rows: u32 = 0;
        let mut problem = None;
        self.holders.retain_mut(|(holder, holding)| {
            let stays = if holding.slots > 0 { now < holding.until } else { now < holding.heard.plus(WANTED) };
            // Whoever is there will say so within a term, whatever its row says; a row from the future is a broken clock's.
            holding.until = holding.until.min(now.plus(TERM));
            if !stays && holding.row.is_some() {
                match shelf.delete(*holder) {
                    Ok(written) => rows = rows.saturating_add(written),
                    // It counts until its row can be deleted, or the next life would count it again.
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
