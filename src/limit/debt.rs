//! The debt of a bucket, and what becomes of it when its limit is edited.
//!
//! A TAT is a time, and an edit keeps tokens: 4 of `5/h` used are 4 of `6/h` used. A debt therefore
//! has the interval and the burst beside its TAT. The first question with other terms converts it:
//!
//! > new debt = min(debt × new interval / old interval, new burst × new interval)
//!
//! For a while, isolates with the old and with the new configuration ask side by side, and those
//! with the old one hold tokens. A debt therefore keeps a TAT under each of the terms that were
//! asked for within [`SIDE_BY_SIDE`]:
//!
//! - Every token that is given counts under all of them. Terms thus admit no more than they would
//!   alone, and a debt that the new terms have cut down is not given again under the old ones.
//! - Tokens that were given under slower terms may be unspent until their slots have passed. Faster
//!   terms count the debt as at least so many tokens, and lend no slots ahead meanwhile.
//!
//! It follows, with the larger burst and the shorter interval of the two:
//!
//! > admitted in any span d ≤ burst + d / interval

use crate::limit::gcra::{Gcra, NotBefore};
use crate::limit::time::{Span, Time};

/// How long after the last question under some terms isolates may still spend tokens under them.
/// Longer, and a raise helps a caller in debt later. Shorter, and an isolate that has not asked for
/// so long may spend tokens that a faster rate does not count any more.
pub const SIDE_BY_SIDE: Span = Span::from_secs(60);

/// The number of further terms that are kept. More are edits within a minute; the oldest are
/// forgotten.
const MOST_OTHERS: usize = 3;

/// The debt of one bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debt {
    tat: Time,
    terms: Terms,
    /// The other terms that were asked for lately; `None` for nearly every bucket.
    edit: Option<Box<Edit>>,
}

/// The interval and burst that a TAT was counted with; an interval of zero if they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Terms {
    interval: Span,
    burst: u64,
}

/// Terms that are side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Edit {
    /// When the last slot has passed that was given under the terms of the last question.
    given_until: Time,
    others: Vec<Other>,
}

/// The debt under terms that the last question did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Other {
    terms: Terms,
    tat: Time,
    /// When the last slot has passed that was given under these terms.
    given_until: Time,
    /// The terms are forgotten from this time on.
    until: Time,
}

/// A debt as a disk keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SavedDebt {
    /// The TAT.
    pub tat: Time,
    /// The interval that it was counted with; zero if that is not known.
    pub interval: Span,
    /// The burst of the same terms.
    pub burst: u64,
}

impl Terms {
    fn of(gcra: &Gcra) -> Terms {
        Terms { interval: gcra.interval(), burst: gcra.burst() }
    }

    /// The same number of tokens as a time under the terms `to`, rounded up.
    fn convert(self, debt: Span, to: Terms) -> Span {
        let scaled = u128::from(debt.as_nanos()).saturating_mul(to.interval.as_nanos().into());
        let nanos = scaled.div_ceil(u128::from(self.interval.as_nanos()).max(1));
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The time in which an empty bucket fills up.
    fn capacity(self) -> Span {
        self.interval.times(self.burst)
    }
}

impl Other {
    /// The time until which tokens may be unspent that were given under these terms.
    fn unspent_until(&self) -> Time {
        self.given_until.min(self.until)
    }
}

impl Debt {
    /// A debt whose terms are not known. The next question's terms are taken for them.
    pub fn of_tat(tat: Time) -> Debt {
        Debt { tat, ..Debt::default() }
    }

    /// The debt that a disk has kept.
    pub fn restored(saved: SavedDebt) -> Debt {
        let SavedDebt { tat, interval, burst } = saved;
        Debt { tat, terms: Terms { interval, burst }, edit: None }
    }

    /// The form for the disk. While terms are side by side it is the largest debt of all of them,
    /// at the slowest pace.
    pub fn saved(&self, now: Time) -> SavedDebt {
        let mut terms = self.terms;
        for other in self.others() {
            terms.interval = terms.interval.max(other.terms.interval);
            terms.burst = terms.burst.max(other.terms.burst);
        }
        let mut tat = self.tat;
        if self.edit.is_some() {
            tat = now.plus(self.terms.convert(self.tat.since(now), terms));
            for other in self.others() {
                let latest = other.tat.max(other.given_until);
                tat = tat.max(now.plus(other.terms.convert(latest.since(now), terms)));
            }
        }
        SavedDebt { tat, interval: terms.interval, burst: terms.burst }
    }

    /// The TAT under the terms of the last question; a time in the past for a full bucket.
    pub fn tat(&self) -> Time {
        self.tat
    }

    /// The time at which the bucket is full under all terms.
    pub fn rests_at(&self) -> Time {
        self.others().fold(self.tat, |latest, other| latest.max(other.tat).max(other.given_until))
    }

    /// Whether terms are side by side.
    pub fn is_edited(&self) -> bool {
        self.edit.is_some()
    }

    fn others(&self) -> impl Iterator<Item = &Other> {
        self.edit.iter().flat_map(|edit| &edit.others)
    }

    /// The slower terms under which tokens may be unspent.
    fn slower(&self, now: Time) -> impl Iterator<Item = &Other> {
        self.others().filter(move |other| other.terms.interval > self.terms.interval && now < other.unspent_until())
    }

    /// Puts the debt under the terms of a question, which count from now on. Returns whether that
    /// changed it, so that a saved form is no longer right.
    pub fn ask(&mut self, gcra: &Gcra, now: Time) -> bool {
        let mut changed = false;
        if let Some(edit) = &mut self.edit {
            edit.others.retain(|other| now < other.until);
            changed = edit.others.is_empty();
        }
        self.edit.take_if(|edit| edit.others.is_empty());
        let terms = Terms::of(gcra);
        if self.terms == terms {
            return changed;
        }
        if self.terms.interval == Span::ZERO || self.rests_at() <= now {
            (self.terms, self.edit) = (terms, None);
            return changed;
        }
        self.put_under(terms, now);
        true
    }

    fn put_under(&mut self, terms: Terms, now: Time) {
        let mut edit = self.edit.take().unwrap_or_else(|| Box::new(Edit { given_until: self.tat, others: Vec::new() }));
        let until = now.plus(SIDE_BY_SIDE);
        let before = Other { terms: self.terms, tat: self.tat, given_until: edit.given_until, until };
        match edit.others.iter().position(|other| other.terms == terms) {
            Some(index) => {
                let known = edit.others.remove(index);
                (self.tat, edit.given_until) = (known.tat, known.given_until);
            }
            None => {
                // The largest debt of all: the last terms may have cut theirs down.
                let debts = edit.others.iter().map(|other| other.terms.convert(other.tat.since(now), terms));
                let debt = debts.fold(self.terms.convert(self.tat.since(now), terms), Span::max);
                (self.tat, edit.given_until) = (now.plus(debt.min(terms.capacity())), Time::default());
            }
        }
        edit.others.truncate(MOST_OTHERS.saturating_sub(1));
        edit.others.insert(0, before);
        (self.terms, self.edit) = (terms, Some(edit));
    }

    /// Returns the TAT after `cost` more tokens under the terms of the question.
    ///
    /// # Errors
    /// [`NotBefore`] if there is no room for them. The wait is exact if no other question takes
    /// tokens meanwhile.
    pub fn take(&self, gcra: &Gcra, now: Time, cost: u64) -> Result<Time, NotBefore> {
        let wait = self.slower(now).map(|other| {
            let Terms { interval, .. } = other.terms;
            let debt = other.given_until.since(now).plus(interval.times(cost));
            debt.saturating_sub(interval.times(gcra.burst())).min(other.until.since(now))
        });
        let wait = wait.max().unwrap_or_default();
        match gcra.take(self.tat.max(self.held_up_at(now)), now, cost) {
            Ok(tat) if wait == Span::ZERO => Ok(tat),
            _ => match gcra.take(self.tat, now, cost) {
                Ok(_) => Err(NotBefore { wait: wait.max(Span::from_nanos(1)) }),
                Err(no) => Err(NotBefore { wait: no.wait.max(wait) }),
            },
        }
    }

    /// The TAT of a bucket that owes nothing but the unspent tokens of slower terms.
    fn held_up_at(&self, now: Time) -> Time {
        let unspent = self.slower(now).map(|other| other.terms.convert(other.given_until.since(now), self.terms));
        now.plus(unspent.max().unwrap_or_default())
    }

    /// The whole tokens in the bucket.
    pub fn available(&self, gcra: &Gcra, now: Time) -> u64 {
        gcra.available(self.tat.max(self.held_up_at(now)), now)
    }

    /// Whether slots may be lent ahead. While slots of slower terms may be unspent they would pass
    /// too late.
    pub fn lends(&self, now: Time) -> bool {
        self.slower(now).next().is_none()
    }

    /// How far ahead of `now` the next token's slot lies. Unspent tokens of slower terms are left
    /// out, so that a token that comes back is good for a shorter time.
    pub fn next_slot(&self, now: Time) -> Span {
        self.tat.max(self.held_up_at(now)).since(self.held_up_at(now))
    }

    /// Counts `tokens` that were given, after which the TAT is `tat`.
    pub fn give(&mut self, tat: Time, tokens: u64, now: Time) {
        self.tat = tat;
        let Some(edit) = &mut self.edit else { return };
        edit.given_until = tat;
        let largest = edit.others.iter().fold(self.terms.burst, |largest, other| largest.max(other.terms.burst));
        for other in &mut edit.others {
            let Terms { interval, .. } = other.terms;
            // No more tokens than the largest burst can be in debt or unspent.
            let most = now.plus(interval.times(largest)).max(other.tat);
            other.tat = other.tat.max(now).plus(interval.times(tokens)).min(most);
        }
    }

    /// Moves the TAT on without giving a token.
    pub fn delay_to(&mut self, tat: Time) {
        self.tat = self.tat.max(tat);
    }

    /// Moves the TAT back to `tat`, because no TAT can be later.
    pub fn cut_to(&mut self, tat: Time) {
        self.tat = self.tat.min(tat);
    }

    /// Adds a debt that was counted under another name, whose terms are taken to be the same.
    pub fn merge(&mut self, other: &Debt, now: Time) {
        let added = other.tat.since(now);
        if added > Span::ZERO {
            let tokens = added.as_nanos().checked_div(self.terms.interval.as_nanos()).unwrap_or(0);
            self.give(self.tat.max(now).plus(added), tokens.saturating_add(1), now);
        }
    }
}
