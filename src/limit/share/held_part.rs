//! The holder's side of one part: a bucket of its own until its term ends.

use crate::limit::share::fraction::narrow;
use crate::limit::share::question::Part;
use crate::limit::time::{Span, Time};

/// A holder's term is shorter, and its interval longer, by one part in so many: the clocks of
/// holder and actor may run apart by 1 %.
pub const SLACK: u64 = 64;

/// A part, in the holder's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPart {
    interval: Span,
    room: u64,
    /// The TAT of this part's own bucket of `room` tokens.
    tat: Time,
    until: Time,
    seq: u64,
}

impl HeldPart {
    /// The part that the question `seq` brought, with `tokens` in it at `now`, at most its room. It
    /// was asked for at `asked`, of a limit with one token per `interval`.
    pub fn new(part: &Part, interval: Span, tokens: Tokens, asked: Time, now: Time, seq: u64) -> HeldPart {
        let interval = part.fraction.whole_of(interval);
        let interval = interval.plus(Span::from_nanos(interval.as_nanos().div_ceil(SLACK)));
        let until = asked.plus(part.term.saturating_sub(Span::from_nanos(part.term.as_nanos() / SLACK)));
        HeldPart::with_interval(interval, part.room, tokens, until, now, seq)
    }

    /// The part of `room` tokens that regains one token per `interval` until `until`.
    pub fn with_interval(interval: Span, room: u64, tokens: Tokens, until: Time, now: Time, seq: u64) -> HeldPart {
        let full = interval.times(room);
        let tat = now.plus(full.saturating_sub(tokens.worth(interval)));
        HeldPart { interval, room, tat, until, seq }
    }

    /// The number of the question that brought the part.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The end of the term, by the holder's clock.
    pub fn until(&self) -> Time {
        self.until
    }

    /// The most tokens that the part holds.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// The time in which the part regains one token.
    pub fn interval(&self) -> Span {
        self.interval
    }

    /// The tokens at `now`, with their fraction. None after the end of the term.
    pub fn tokens(&self, now: Time) -> Tokens {
        let worth = self.interval.times(self.room).saturating_sub(self.tat.since(now));
        let is_over = now >= self.until;
        Tokens { worth: if is_over { Span::ZERO } else { worth }, interval: self.interval }
    }

    /// Takes `cost` tokens at `now`; `false` if there are fewer.
    pub fn spend(&mut self, now: Time, cost: u64) -> bool {
        let worth = self.interval.times(cost);
        let enough = self.tokens(now).worth >= worth && worth > Span::ZERO;
        if enough {
            self.tat = self.tat.max(now).plus(worth);
        }
        enough
    }

    /// Makes the part hold at most `room` tokens at `now`.
    pub fn cap(&mut self, now: Time, room: u64) {
        let spare = self.interval.times(self.room.saturating_sub(room));
        self.tat = self.tat.max(now.plus(spare));
    }

    /// Makes the part's room at most `room` from now on. It holds no more than that already.
    pub fn shrink(&mut self, room: u64) {
        let room = room.min(self.room);
        self.tat = self.tat.minus(self.interval.times(self.room.saturating_sub(room)));
        self.room = room;
    }

    /// Puts `tokens` back that were spent and not used after all, at most the part's room.
    pub fn put_back(&mut self, tokens: u64) {
        self.tat = self.tat.minus(self.interval.times(tokens));
    }
}

/// A number of tokens with its fraction, as the time in which a part regains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    worth: Span,
    interval: Span,
}

impl Tokens {
    /// `count` whole tokens.
    pub fn whole(count: u64) -> Tokens {
        Tokens { worth: Span::from_nanos(count), interval: Span::from_nanos(1) }
    }

    /// Whole tokens, rounded down.
    pub fn floor(&self) -> u64 {
        self.worth.as_nanos().checked_div(self.interval.as_nanos()).unwrap_or(0)
    }

    /// Whole tokens, rounded up.
    pub fn ceil(&self) -> u64 {
        self.worth.as_nanos().div_ceil(self.interval.as_nanos().max(1))
    }

    /// The time in which these tokens are regained at one per `interval`, rounded down.
    fn worth(&self, interval: Span) -> Span {
        let product = u128::from(self.worth.as_nanos()).saturating_mul(u128::from(interval.as_nanos()));
        product.checked_div(u128::from(self.interval.as_nanos())).map_or(Span::ZERO, narrow)
    }

    /// These tokens and `count` more.
    pub fn plus(self, count: u64) -> Tokens {
        Tokens { worth: self.worth.plus(self.interval.times(count)), interval: self.interval }
    }
}
