//! The actor's side: the rest of a bucket, and the parts that are out.

use crate::limit::gcra::{Gcra, NotBefore};
use crate::limit::lease::GrantedSlots;
use crate::limit::share::fraction::{Fraction, narrow};
use crate::limit::share::outstanding::{Entry, HolderId, Outstanding, Way};
use crate::limit::share::question::{Part, PartAnswer, PartSize, Question};
use crate::limit::time::{Span, Time};

/// One part in so many of the rate, and of the burst, is the most that parts hold which are not on
/// disk.
const UNWRITTEN_DIVISOR: u64 = 8;

/// One part in so many of the rate, and of the burst, is held back after a wake, for a short term:
/// as much as two lives may have handed out without writing it.
const HELD_BACK_DIVISOR: u64 = 4;

/// A bucket, some parts of which may be out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutBucket {
    pub(super) gcra: Gcra,
    pub(super) tat: Time,
    /// The moment for which `tat` holds. No earlier moment counts: a clock that steps back stands.
    pub(super) at: Time,
    pub(super) out: Outstanding,
    short_term: Span,
}

/// A bucket as it is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The TAT.
    pub tat: Time,
    /// The moment for which it holds: parts that are out move it on.
    pub at: Time,
    /// The holders, with those of their ways that are on disk.
    pub entries: Vec<(HolderId, Entry)>,
}

impl CutBucket {
    /// The bucket whose TAT is `tat` at `now`, with nothing out. Parts for at most `short_term`
    /// need not be written.
    pub fn new(gcra: Gcra, tat: Time, now: Time, short_term: Span) -> CutBucket {
        CutBucket { gcra, tat: tat.max(now), at: now, out: Outstanding::default(), short_term }
    }

    /// The bucket after a wake of its actor: what is on disk, and a quarter held back for a short
    /// term, in which unwritten parts of earlier lives may be out.
    pub fn wake(gcra: Gcra, saved: Saved, now: Time, short_term: Span) -> CutBucket {
        let mut bucket = CutBucket { gcra, tat: saved.tat, at: saved.at, out: Outstanding::default(), short_term };
        for (holder, entry) in saved.entries {
            bucket.out.set(holder, entry);
        }
        if short_term > Span::ZERO {
            bucket.hold_back(now.max(saved.at).plus(short_term));
        }
        bucket.to(now);
        bucket
    }

    /// Holds a quarter of the bucket back until `until`, in place of what was held back before: so
    /// long unwritten parts of earlier lives may be out. Nothing, if that is not later than now.
    pub fn hold_back(&mut self, until: Time) {
        let room = self.gcra.burst() / HELD_BACK_DIVISOR;
        let way = Way { fraction: Fraction::one_in(HELD_BACK_DIVISOR), room, until, seq: 0, written: true };
        self.out.hold_back(Some(way).filter(|way| way.until > self.at));
    }

    /// Sets the longest term of a part that need not be written.
    pub fn set_short_term(&mut self, short_term: Span) {
        self.short_term = short_term;
    }

    /// The state that has to be on disk: the TAT with its moment, and the parts that are to be
    /// written.
    pub fn saved(&self) -> Saved {
        let entries = self.out.iter().filter_map(|(holder, entry)| Some((holder, written(entry)?)));
        Saved { tat: self.tat, at: self.at, entries: entries.collect() }
    }

    /// The row of `holder` that has to be on disk. `None` where there must be none.
    pub fn saved_entry(&self, holder: HolderId) -> Option<Entry> {
        self.out.get(holder).and_then(written)
    }

    /// Whether no part is out and none is held back, so that the TAT alone is the bucket's state.
    pub fn is_whole(&self) -> bool {
        self.out.is_empty()
    }

    /// The TAT, and the moment for which it holds.
    pub fn tat(&self) -> (Time, Time) {
        (self.tat, self.at)
    }

    /// The fraction of the rate that is out.
    pub fn fraction_out(&self) -> Fraction {
        self.out.total().fraction
    }

    /// The tokens that the parts which are out have room for.
    pub fn room_out(&self) -> u64 {
        self.out.total().room
    }

    /// The fraction of the rate, and the room in tokens, that others than `holder` have.
    pub fn out_beside(&self, holder: HolderId) -> (Fraction, u64) {
        let others = self.out.beside(holder);
        (others.fraction, others.room)
    }

    /// Whether `holder` may have a part.
    pub fn has_part(&self, holder: HolderId) -> bool {
        self.out.get(holder).is_some()
    }

    /// The most tokens that the bucket holds.
    pub fn burst(&self) -> u64 {
        self.gcra.burst()
    }

    /// The tokens that the whole bucket regains in a second.
    pub fn rate_per_second(&self) -> f64 {
        1e9 / self.gcra.interval().as_nanos() as f64
    }

    /// The bucket's interval and burst.
    pub fn gcra(&self) -> Gcra {
        self.gcra
    }

    /// The number of holders.
    pub fn holders(&self) -> usize {
        self.out.iter().count()
    }

    /// Brings the bucket to `now`, through the ends of terms.
    pub fn to(&mut self, now: Time) {
        let now = now.max(self.at);
        loop {
            let end = self.out.next_end().filter(|end| *end <= now);
            // A term that ended before a save, and was saved all the same, ends at once.
            self.advance(end.unwrap_or(now).max(self.at));
            match end {
                Some(end) => self.out.end_terms(end),
                None => return,
            }
        }
    }

    /// Moves the TAT on to `t`, up to which no term ends.
    fn advance(&mut self, t: Time) {
        let total = self.out.total();
        let moved = self.tat.plus(total.fraction.of(t.since(self.at)));
        self.tat = moved.max(t.plus(self.gcra.interval().times(total.room)));
        self.at = t;
    }

    /// Takes `cost` tokens of the rest.
    ///
    /// # Errors
    /// [`NotBefore`], if the rest has fewer.
    pub fn take(&mut self, now: Time, cost: u64) -> Result<(), NotBefore> {
        self.to(now);
        match self.gcra.take(self.tat, self.at, cost) {
            Ok(tat) => {
                self.tat = tat;
                Ok(())
            }
            Err(_) => Err(NotBefore { wait: self.wait(now, cost) }),
        }
    }

    /// Moves the TAT on to `tat`, at which tokens of the rest were given. An earlier one is
    /// ignored.
    pub fn raise(&mut self, tat: Time) {
        self.tat = self.tat.max(tat);
    }

    /// The whole tokens of the rest.
    pub fn free(&self) -> u64 {
        self.gcra.available(self.tat, self.at)
    }

    /// Grants up to `count` slots of the rest beside the parts, none of them beyond a full debt.
    /// The second result is how much earlier than usual each of them lapses: the holder counts it
    /// as a longer trip. `None` if there is no slot to grant.
    ///
    /// The count is a multiple of `per_request`.
    pub fn slots(&mut self, now: Time, count: u64, per_request: u64, hold: Span) -> Option<(GrantedSlots, Span)> {
        self.to(now);
        let parked = self.gcra.interval().times(self.out.total().room);
        let start = self.tat.max(self.at.plus(parked).plus(hold));
        let end = self.at.plus(self.gcra.capacity());
        let free = end.since(start).as_nanos().checked_div(self.gcra.interval().as_nanos())?;
        let count = count.min(free).checked_div(per_request)?.saturating_mul(per_request);
        if count == 0 {
            return None;
        }
        self.tat = start.plus(self.gcra.interval().times(count));
        Some((GrantedSlots { first: start.since(self.at), count, tat: self.tat }, parked))
    }

    /// Answers a question for a part, which may be as large as `size`. The actor writes
    /// [`saved_entry`](CutBucket::saved_entry) of the holder and the TAT before it sends the
    /// answer, where either has changed on disk.
    pub fn part(&mut self, now: Time, question: &Question, size: &PartSize) -> PartAnswer {
        self.to(now);
        let known = self.out.get(question.holder);
        if known.is_some_and(|entry| question.seq <= entry.seq) {
            return PartAnswer::Stale;
        }
        let old = known.and_then(|entry| entry.ways.iter().find(|way| way.seq == question.base).copied());
        // The holder has none of the other ways any more, and accepts no older answer.
        let old = old.map(|way| Way { room: way.room.min(question.keep), ..way });
        self.out.set(question.holder, Entry { seq: question.seq, ways: old.into_iter().collect() });
        if old.is_some() {
            self.take_back(question.back);
        }
        match self.offer(old, size) {
            None => PartAnswer::None,
            Some(part) => {
                // Until the holder has heard, it may have the tokens that are on their way beside
                // those that it kept.
                let old = old.map(|way| Way { room: way.room.saturating_add(part.tokens), ..way });
                let new = Way {
                    fraction: part.fraction,
                    room: part.room,
                    until: self.at.plus(part.term),
                    seq: question.seq,
                    written: size.written,
                };
                self.tat = self.tat.plus(self.gcra.interval().times(part.tokens));
                self.out
                    .set(question.holder, Entry { seq: question.seq, ways: old.into_iter().chain([new]).collect() });
                self.to(now);
                PartAnswer::Part(part)
            }
        }
    }

    /// The part of at most `size` that there is room for, where its holder has `old` already.
    fn offer(&self, old: Option<Way>, size: &PartSize) -> Option<Part> {
        let (had, kept) = old.map_or((Fraction::ZERO, 0), |way| (way.fraction, way.room));
        let total = self.out.total();
        let burst = self.gcra.burst();
        let fraction = size.fraction.min(Fraction::ONE.minus(total.fraction.minus(had)));
        let tokens = size.tokens.min(self.free()).min(burst.saturating_sub(total.room));
        let others = total.room.saturating_sub(kept);
        let room = size.room.max(kept.saturating_add(tokens)).min(burst.saturating_sub(others));
        let is_paid = self.tat <= self.at.plus(self.gcra.capacity());
        let may_be_given = size.written || self.may_stay_unwritten(size.term, fraction, room.saturating_add(kept));
        let fits = fraction > Fraction::ZERO && room > 0 && is_paid && may_be_given;
        fits.then_some(Part { fraction, room, tokens, term: size.term })
    }

    /// Whether a part of `fraction`, whose holder may have up to `room` tokens, may be given
    /// without a row.
    pub fn may_stay_unwritten(&self, term: Span, fraction: Fraction, room: u64) -> bool {
        let unwritten = self.out.unwritten();
        term <= self.short_term
            && unwritten.fraction.plus(fraction) <= Fraction::one_in(UNWRITTEN_DIVISOR)
            && unwritten.room.saturating_add(room) <= self.gcra.burst() / UNWRITTEN_DIVISOR
    }

    /// Takes back `tokens` of a part. The TAT stays as far ahead as the parts have room.
    fn take_back(&mut self, tokens: u64) {
        let floor = self.at.plus(self.gcra.interval().times(self.out.total().room));
        self.tat = self.tat.minus(self.gcra.interval().times(tokens)).max(floor);
    }

    /// Gives the bucket another limit. The debt keeps its tokens, at most a full one. Parts keep
    /// their tokens per second and their room until their terms end; until then the rest waits.
    pub fn change(&mut self, now: Time, gcra: Gcra) {
        if gcra == self.gcra {
            return;
        }
        self.to(now);
        let debt = u128::from(self.tat.since(self.at).as_nanos());
        let (old, new) = (self.gcra.interval(), gcra.interval());
        let rescaled = debt.saturating_mul(u128::from(new.as_nanos())).div_ceil(u128::from(old.as_nanos().max(1)));
        self.tat = self.at.plus(narrow(rescaled).min(gcra.capacity()));
        self.out.rescale(old, new);
        self.gcra = gcra;
        self.to(now);
    }
}

/// The part of an entry that is on disk. `None` if there is no such part.
fn written(entry: &Entry) -> Option<Entry> {
    let ways: Vec<Way> = entry.ways.iter().filter(|way| way.written).copied().collect();
    (!ways.is_empty()).then_some(Entry { seq: entry.seq, ways })
}
