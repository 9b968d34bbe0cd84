//! An actor with its disk, and isolates with clocks of their own, for one limit.

use super::planted::Bug;
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::Lease;
use penstock::limit::share::{
    CutBucket, Entry, Fraction, HeldPart, HolderId, Part, PartAnswer, PartHolder, PartSize, Question, Saved, Tokens,
};
use penstock::limit::time::{Span, Time};
use std::collections::BTreeMap;

pub const MILLI: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

pub fn time(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

pub fn span(nanos: u64) -> Span {
    Span::from_nanos(nanos)
}

/// The actor of one limit. Its times are the world's.
pub struct Keeper {
    pub bucket: CutBucket,
    pub gcra: Gcra,
    short: Span,
    disk: (Time, Time),
    rows: BTreeMap<HolderId, Entry>,
    pub bug: Option<Bug>,
}

/// Slots that are lent, and how much earlier than usual they lapse.
pub type LentSlots = (Span, u64, Span);

impl Keeper {
    pub fn new(interval: u64, burst: u64, short: u64, bug: Option<Bug>) -> Keeper {
        let gcra = Gcra::new(span(interval), burst).unwrap();
        let bucket = CutBucket::new(gcra, Time::default(), Time::default(), span(short));
        Keeper { bucket, gcra, short: span(short), disk: Default::default(), rows: BTreeMap::new(), bug }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    pub fn take(&mut self, now: u64) -> bool {
        self.round_down(now);
        self.bucket.take(time(now), 1).is_ok()
    }

    /// Answers a question, and saves before it answers.
    pub fn answer(&mut self, now: u64, question: Question, size: PartSize) -> PartAnswer {
        self.round_down(now);
        let (mut question, mut asked) = (question, size);
        let entry = self.bucket.saved_entry(question.holder);
        match (self.bug, entry) {
            (Some(Bug::TwiceGivenBack), Some(entry)) if question.seq <= entry.seq => {
                question.base = entry.ways.last().map_or(0, |way| way.seq);
                question.seq = entry.seq + 1;
            }
            (Some(Bug::OldPartForgotten), _) => question.base = 0,
            (Some(Bug::NotMovedOn), _) => asked.fraction = asked.fraction.min(Fraction::from_parts(1)),
            (Some(Bug::NotHeldUp), _) => asked.room = 1,
            (Some(Bug::QuarterUnwritten), _) if size.term <= self.short => {
                asked.written = asked.written || asked.room <= self.gcra.burst() / 4;
            }
            _ => {}
        }
        let mut answer = self.bucket.part(time(now), &question, &asked);
        if let PartAnswer::Part(part) = &mut answer {
            match self.bug {
                Some(Bug::NotMovedOn) => part.fraction = size.fraction,
                Some(Bug::NotHeldUp) => part.room = part.room.max(size.room),
                Some(Bug::Overdraws) => part.tokens = size.tokens.min(part.room.max(size.room)),
                _ => {}
            }
        }
        let lost = !size.written && matches!(self.bug, Some(Bug::RowNotRewritten | Bug::QuarterUnwritten));
        self.save((!lost).then_some(question.holder));
        answer
    }

    pub fn save(&mut self, holder: Option<HolderId>) {
        self.disk = self.bucket.tat();
        let Some(holder) = holder else { return };
        match self.bucket.saved_entry(holder) {
            Some(entry) => self.rows.insert(holder, entry),
            None => self.rows.remove(&holder),
        };
    }

    /// The disk loses all, as for an actor that had nothing to write.
    pub fn clear_disk(&mut self) {
        (self.disk, self.rows) = Default::default();
    }

    pub fn lend(&mut self, now: u64, count: u64, hold: u64) -> Option<LentSlots> {
        if self.has(Bug::SlotsTooSoon) {
            // As without parts: begun after `hold`, and by so much beyond a full debt.
            let parked = self.gcra.interval().times(self.bucket.room_out());
            self.bucket.to(time(now));
            let (tat, at) = self.bucket.tat();
            let start = tat.max(at.plus(parked).plus(span(hold)));
            let end = at.plus(self.gcra.capacity()).plus(span(hold));
            let count = count.min(end.since(start).as_nanos() / self.gcra.interval().as_nanos());
            self.restore(start.plus(self.gcra.interval().times(count)), at);
            return (count > 0).then_some((start.since(at), count, parked));
        }
        let (slots, sooner) = self.bucket.slots(time(now), count, 1, span(hold))?;
        self.save(None);
        Some((slots.first, slots.count, if self.has(Bug::SlotsStay) { Span::ZERO } else { sooner }))
    }

    pub fn change(&mut self, now: u64, interval: u64, burst: u64) {
        let gcra = Gcra::new(span(interval), burst).unwrap();
        let before = self.bucket.saved();
        self.bucket.change(time(now), gcra);
        self.gcra = gcra;
        if self.has(Bug::FractionsOfNewRate) {
            let saved = Saved { entries: before.entries, ..self.bucket.saved() };
            self.bucket = CutBucket::wake(gcra, saved, time(now), Span::ZERO);
        }
    }

    /// A new life of the actor.
    pub fn wake(&mut self, now: u64) {
        let (tat, at) = self.disk;
        let rows = self.rows.iter().map(|(holder, entry)| (*holder, entry.clone()));
        let forgets = self.has(Bug::WakeForgets);
        let saved = Saved {
            tat,
            at: if self.has(Bug::SavedWithoutMoment) { time(now) } else { at },
            entries: if forgets { Vec::new() } else { rows.collect() },
        };
        let short = if forgets || self.has(Bug::WakesCareless) { Span::ZERO } else { self.short };
        self.bucket = CutBucket::wake(self.gcra, saved, time(now), short);
    }

    /// Sets the TAT; parts that are not written are lost.
    fn restore(&mut self, tat: Time, at: Time) {
        let saved = Saved { tat, at, ..self.bucket.saved() };
        self.bucket = CutBucket::wake(self.gcra, saved, at, Span::ZERO);
    }

    fn round_down(&mut self, now: u64) {
        if !self.has(Bug::RoundsDown) {
            return;
        }
        let (tat, at) = self.bucket.tat();
        let fraction = u128::from(self.bucket.fraction_out().parts());
        let moved = fraction * u128::from(time(now).since(at).as_nanos()) / u128::from(Fraction::ONE.parts());
        let floor = time(now).plus(self.gcra.interval().times(self.bucket.room_out()));
        self.restore(tat.plus(span(u64::try_from(moved).unwrap())).max(floor), time(now));
    }
}

/// An isolate. Its times are the world's, from which its clock differs.
pub struct Isolate {
    pub id: HolderId,
    gcra: Gcra,
    rate: f64,
    zero: u64,
    pub holder: PartHolder,
    seq: u64,
    /// When the last question was asked, by the isolate's clock, and whether it is under way.
    pub asked: Option<u64>,
    /// The part of a holder with a bug in its own rules.
    loose: Option<HeldPart>,
    leases: Vec<Lease>,
    bug: Option<Bug>,
}

impl Isolate {
    pub fn new(id: HolderId, interval: u64, burst: u64, rate: f64, zero: u64, bug: Option<Bug>) -> Isolate {
        let gcra = Gcra::new(span(interval), burst).unwrap();
        let holder = PartHolder::default();
        Isolate { id, gcra, rate, zero, holder, seq: 0, asked: None, loose: None, leases: Vec::new(), bug }
    }

    pub fn clock(&self, t: u64) -> u64 {
        self.zero + (t as f64 * self.rate) as u64
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Whether the holder's own rules are the ones that are broken.
    fn is_loose(&self) -> bool {
        matches!(self.bug, Some(Bug::SpendsWhileAsking | Bug::RegainsWhileAsking | Bug::ClocksTrusted))
            || self.has(Bug::RegainsAfterNone) && self.loose.is_some()
    }

    pub fn spend(&mut self, t: u64) -> bool {
        let now = time(self.clock(t));
        let spent = if self.is_loose() {
            self.loose.as_mut().is_some_and(|part| part.spend(now, 1))
        } else {
            self.holder.spend(now, 1)
        };
        let gcra = self.gcra;
        spent || self.leases.iter_mut().any(|lease| lease.spend(&gcra, 1, now).is_some())
    }

    pub fn has_part(&self, t: u64) -> bool {
        self.holder.part(time(self.clock(t))).is_some()
    }

    pub fn ask(&mut self, t: u64, keep: u64) -> Question {
        let clock = self.clock(t);
        let now = time(clock);
        self.asked = Some(clock);
        self.seq += 1;
        let mut question = self.holder.ask(self.id, self.seq, now, keep);
        let Some(loose) = self.loose.as_mut().filter(|part| now < part.until()) else { return question };
        let tokens = loose.tokens(now);
        (question.base, question.back) = (loose.seq(), tokens.floor().saturating_sub(keep));
        match self.bug {
            Some(Bug::SpendsWhileAsking) => (question.keep, question.back) = (0, tokens.floor()),
            Some(Bug::RegainsWhileAsking) => {
                let _ = loose.spend(now, question.back);
                question.keep = loose.tokens(now).ceil();
            }
            _ => {
                let _ = loose.spend(now, question.back);
                question.keep = loose.tokens(now).ceil();
                loose.cap(now, question.keep);
            }
        }
        question
    }

    pub fn hear(&mut self, t: u64, question: &Question, answer: PartAnswer) {
        let clock = self.clock(t);
        let now = time(clock);
        let interval = self.gcra.interval();
        let part = match answer {
            PartAnswer::Stale => return,
            PartAnswer::None => None,
            PartAnswer::Part(part) => Some(part),
        };
        let is_latest = self.holder.is_asking(now, Span::from_nanos(u64::MAX)) && self.asked.is_some();
        let part = part.map(|part| match (self.bug, self.asked) {
            (Some(Bug::Outlives), _) => Part { term: part.term.times(1_000), ..part },
            (Some(Bug::TermFromHearing), Some(asked)) => {
                Part { term: part.term.plus(span(clock.saturating_sub(asked))), ..part }
            }
            _ => part,
        });
        let before = self.holder;
        self.holder.hear(now, question.seq, interval, part.as_ref());
        if self.has(Bug::RegainsAfterNone) && part.is_none() {
            self.loose = before.part(now).copied();
        }
        let heard = before.is_asking(now, Span::from_nanos(u64::MAX))
            && !self.holder.is_asking(now, Span::from_nanos(u64::MAX));
        if !heard || !is_latest {
            return;
        }
        let asked = self.asked.take();
        if let (true, Some(part), Some(asked)) = (self.is_loose(), part, asked) {
            let held = self.loose.filter(|held| now < held.until() && !self.has(Bug::SpendsWhileAsking));
            let tokens = held.map_or_else(|| Tokens::whole(part.tokens), |held| held.tokens(now).plus(part.tokens));
            self.loose = Some(if self.has(Bug::ClocksTrusted) {
                let until = time(asked).plus(part.term);
                HeldPart::with_interval(part.fraction.whole_of(interval), part.room, tokens, until, now, question.seq)
            } else {
                HeldPart::new(&part, interval, tokens, time(asked), now, question.seq)
            });
        }
    }

    /// Receives slots that were asked for at `asked` by this isolate's clock.
    pub fn lend(&mut self, t: u64, asked: u64, (first, count, sooner): LentSlots) {
        let now = time(self.clock(t));
        self.leases.push(Lease::new(first, count, time(asked).minus(sooner), now));
        let gcra = self.gcra;
        self.leases.retain(|lease| lease.left(&gcra, now) > 0);
    }
}

/// The tokens by which admissions at `times` exceed `burst + span / interval` over any span, in
/// nanoseconds of the schedule. Not above zero where the limit is kept.
pub fn over(times: &[u64], interval: u64, burst: u64) -> i128 {
    let mut times = times.to_vec();
    times.sort_unstable();
    let (interval, burst) = (i128::from(interval), i128::from(burst));
    let (mut low, mut worst) = (i128::MAX, -burst * interval);
    for (index, t) in times.iter().enumerate() {
        let level = index as i128 * interval - i128::from(*t);
        low = low.min(level);
        worst = worst.max(level + interval - low - burst * interval);
    }
    worst
}
