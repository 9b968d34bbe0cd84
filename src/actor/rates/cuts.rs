//! The buckets of an actor that are cut into parts, see [`share`](crate::limit::share).
//!
//! A bucket's debt stays in the table of buckets, and the cut moves it on: before a question is
//! looked at, the debt is brought up to the cut's TAT, and afterwards the cut's TAT to the debt.

use crate::limit::bucket_table::BucketId;
use crate::limit::debt::Debt;
use crate::limit::gcra::Gcra;
use crate::limit::lease::GrantedSlots;
use crate::limit::share::{CutBucket, Entry, HolderId, PartAnswer, Saved, Sizes, Way, is_cut};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{PartAsk, PartReply};
use hashbrown::HashMap;

/// The number of buckets that one actor cuts. With more, a flood of callers that come twice takes
/// more memory; with fewer, such a flood leaves other callers to ask one by one.
const CAPACITY: usize = 20_000;

/// How long the holders of a bucket without parts are remembered. A holder that asks again is
/// known, and gets a part for longer than a stranger.
const REMEMBERED: Span = Span::from_secs(600);

/// The longest that an unwritten part may be out. A part of a longer term is on disk.
pub(crate) const LONGEST_UNWRITTEN: Span = Span::from_secs(10);

/// The actor's buckets that have parts out.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    buckets: HashMap<BucketId, Cut>,
    /// Until this time, unwritten parts of an earlier life may be out.
    careful_until: Time,
    /// Until this time, the disk says that unwritten parts may be out.
    marked_until: Time,
}

#[derive(Debug)]
struct Cut {
    bucket: CutBucket,
    sizes: Sizes,
}

/// The part of a holder as a disk keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPart {
    /// The bucket's interval, by which the fractions are meant.
    pub interval: Span,
    /// The bucket's burst.
    pub burst: u64,
    /// The bucket's TAT when the part was saved.
    pub tat: Time,
    /// When the part was saved.
    pub at: Time,
    /// The holder's last question, and the parts that it may have.
    pub entry: Entry,
}

/// The row that an actor must write before it answers a question for a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartWrite {
    /// Nothing.
    None,
    /// The row of the holder; `None` deletes it.
    Row(Option<SavedPart>),
}

impl Cuts {
    /// Whether parts of the bucket are out, or held back.
    pub fn is_cut(&self, id: BucketId) -> bool {
        self.buckets.get(&id).is_some_and(|cut| !cut.bucket.is_whole())
    }

    /// Takes over the parts that an earlier life has written, and the TAT of their bucket.
    pub fn restore(&mut self, id: BucketId, tat: Time, parts: Vec<(HolderId, SavedPart)>, now: Time) {
        let Some(gcra) = parts.last().and_then(|(_, part)| Gcra::new(part.interval, part.burst)) else { return };
        // The earliest moment counts: parts have moved the TAT on since then.
        let at = parts.iter().map(|(_, part)| part.at).min().unwrap_or(now);
        let tat = parts.iter().map(|(_, part)| part.tat).fold(tat, Time::max);
        let entries = parts.into_iter().map(|(holder, part)| (holder, part.entry)).collect();
        let bucket = CutBucket::wake(gcra, Saved { tat, at, entries }, now, self.careful_until.since(now));
        self.buckets.insert(id, Cut { bucket, sizes: Sizes::default() });
    }

    /// Notes the mark of an earlier life: unwritten parts may be out until `marked`.
    pub fn restore_mark(&mut self, marked: Time, now: Time) {
        self.careful_until = marked.min(now.plus(LONGEST_UNWRITTEN));
        self.marked_until = marked;
    }

    /// Brings a bucket's cut and its debt up to `now` and to each other.
    pub fn bring(&mut self, id: BucketId, gcra: &Gcra, debt: &mut Debt, now: Time) {
        if !self.buckets.contains_key(&id)
            && now < self.careful_until
            && is_cut(gcra, 1)
            && self.buckets.len() < CAPACITY
        {
            let mut bucket = CutBucket::new(*gcra, debt.tat(), now, LONGEST_UNWRITTEN);
            bucket.hold_back(self.careful_until);
            self.buckets.insert(id, Cut { bucket, sizes: Sizes::default() });
        }
        let Some(cut) = self.buckets.get_mut(&id) else { return };
        cut.bucket.change(now, *gcra);
        cut.bucket.raise(debt.tat());
        cut.bucket.to(now);
        follow(debt, &cut.bucket, now);
    }

    /// Brings a debt up to the TAT of its bucket's cut, as [`bring`](Cuts::bring) has left it.
    pub fn follow(&self, id: BucketId, debt: &mut Debt, now: Time) {
        if let Some(cut) = self.buckets.get(&id) {
            follow(debt, &cut.bucket, now);
        }
    }

    /// Notes that tokens of the rest were given, after which its TAT is `tat`.
    pub fn raise(&mut self, id: BucketId, tat: Time) {
        if let Some(cut) = self.buckets.get_mut(&id) {
            cut.bucket.raise(tat);
        }
    }

    /// How long until a bucket that is cut has `cost` tokens; `None` if it is not cut.
    pub fn wait(&self, id: BucketId, now: Time, cost: u64) -> Option<Span> {
        let cut = self.buckets.get(&id).filter(|cut| !cut.bucket.is_whole());
        cut.map(|cut| cut.bucket.wait(now, cost))
    }

    /// Grants slots to requests that wait, of a bucket that is cut. They begin so much earlier as
    /// they lapse earlier than without parts; all of them may be spent at once.
    pub fn slots(&mut self, id: BucketId, count: u64, per_request: u64, now: Time) -> Option<GrantedSlots> {
        let (slots, sooner) = self.buckets.get_mut(&id)?.bucket.slots(now, count, per_request, Span::ZERO)?;
        Some(GrantedSlots { first: slots.first.saturating_sub(sooner), ..slots })
    }

    /// Answers a question for a part of a bucket, whose debt follows. Returns the answer and the
    /// row that has to be written before it is sent. `None` where there is nothing to say.
    pub fn answer(
        &mut self,
        id: BucketId,
        gcra: &Gcra,
        debt: &mut Debt,
        ask: &PartAsk,
        durable_after: Span,
        now: Time,
    ) -> Option<(PartReply, PartWrite)> {
        if !self.buckets.contains_key(&id) && self.buckets.len() >= CAPACITY {
            self.drop_whole(now, Span::ZERO);
            if self.buckets.len() >= CAPACITY {
                return None;
            }
        }
        let short_term = durable_after.min(LONGEST_UNWRITTEN);
        let fresh = || Cut { bucket: CutBucket::new(*gcra, debt.tat(), now, short_term), sizes: Sizes::default() };
        let cut = self.buckets.entry(id).or_insert_with(fresh);
        cut.bucket.set_short_term(short_term);
        let holder = ask.question.holder;
        let before = cut.bucket.saved_entry(holder);
        let (size, again) = cut.sizes.size(&cut.bucket, now, &ask.question, ask.demand);
        let answer = match &size {
            Some(size) => cut.bucket.part(now, &ask.question, size),
            None => PartAnswer::None,
        };
        follow(debt, &cut.bucket, now);
        let after = cut.bucket.saved_entry(holder);
        let (tat, at) = cut.bucket.tat();
        let row = |entry| SavedPart { interval: gcra.interval(), burst: gcra.burst(), tat, at, entry };
        let write = if before == after { PartWrite::None } else { PartWrite::Row(after.map(row)) };
        let part = match answer {
            PartAnswer::Part(part) => Some(part),
            PartAnswer::None | PartAnswer::Stale => None,
        };
        Some((PartReply { part, again }, write))
    }

    /// The mark that has to be written before an unwritten part is sent; `None` if the disk has it.
    pub fn mark_for(&mut self, until: Time) -> Option<Time> {
        if until <= self.marked_until {
            return None;
        }
        // Once a minute at most.
        self.marked_until = until.plus(Span::from_secs(60));
        Some(self.marked_until)
    }

    /// The buckets that are cut, each with its TAT at `now`. Those without parts are dropped.
    pub fn settle(&mut self, now: Time) -> Vec<(BucketId, Time)> {
        self.drop_whole(now, REMEMBERED);
        self.buckets.iter().map(|(id, cut)| (*id, cut.bucket.tat().0)).collect()
    }

    /// Drops the buckets without parts about which nobody has asked for `span`.
    fn drop_whole(&mut self, now: Time, span: Span) {
        self.buckets.retain(|_, cut| {
            cut.bucket.to(now);
            !cut.bucket.is_whole() || now.since(cut.sizes.last_asked()) < span
        });
    }
}

/// Moves `debt` on to the TAT of its cut: parts have regained and taken so many tokens.
fn follow(debt: &mut Debt, cut: &CutBucket, now: Time) {
    let (tat, _) = cut.tat();
    let moved = tat.since(debt.tat().max(now));
    if tat > debt.tat() {
        let tokens = moved.as_nanos().div_ceil(cut.gcra().interval().as_nanos().max(1));
        debt.give(tat, tokens, now);
    }
}

impl SavedPart {
    /// The text that is stored: numbers with spaces between. First the interval in nanoseconds, the
    /// burst, the TAT and the moment in nanoseconds, and the question's number; then for each part
    /// its fraction in parts of 2³², its room, its end in nanoseconds, and its question's number.
    pub fn write(&self) -> String {
        let SavedPart { interval, burst, tat, at, entry } = self;
        let head = [interval.as_nanos(), *burst, tat.as_nanos(), at.as_nanos(), entry.seq];
        let ways = entry.ways.iter().flat_map(|way| {
            let Way { fraction, room, until, seq, .. } = way;
            [fraction.parts(), *room, until.as_nanos(), *seq]
        });
        let mut text = String::new();
        for number in head.into_iter().chain(ways) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&number.to_string());
        }
        text
    }

    /// Reads the stored text; `None` if it is damaged.
    pub fn read(text: &str) -> Option<SavedPart> {
        let numbers: Vec<u64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (head, ways) = numbers.split_first_chunk::<5>()?;
        let (ways, rest) = ways.as_chunks::<4>();
        let [interval, burst, tat, at, seq] = *head;
        let ways = ways.iter().map(|&[fraction, room, until, seq]| Way {
            fraction: crate::limit::share::Fraction::from_parts(fraction),
            room,
            until: Time::from_nanos(until),
            seq,
            written: true,
        });
        let entry = Entry { seq, ways: ways.collect() };
        let (tat, at) = (Time::from_nanos(tat), Time::from_nanos(at));
        rest.is_empty().then_some(SavedPart { interval: Span::from_nanos(interval), burst, tat, at, entry })
    }

    /// The end of the last of the parts.
    pub fn until(&self) -> Time {
        self.entry.ways.iter().map(|way| way.until).max().unwrap_or_default()
    }
}
