//! A question for a part of a bucket, and its answer.

use crate::limit::share::fraction::Fraction;
use crate::limit::share::outstanding::HolderId;
use crate::limit::time::Span;

/// A holder's question for a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The holder.
    pub holder: HolderId,
    /// The question's number. A holder counts up, and begins with 1.
    pub seq: u64,
    /// The number of the question that brought the part which the holder has; 0 if it has none.
    pub base: u64,
    /// The room in tokens that the holder keeps of that part from now on, until it hears.
    pub keep: u64,
    /// The tokens that the holder gives up; they are gone from its hand already.
    pub back: u64,
}

/// The size of a part that the actor would like to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSize {
    /// The fraction of the rate.
    pub fraction: Fraction,
    /// The most tokens that the part holds.
    pub room: u64,
    /// The tokens that the part gets beside those that its holder keeps.
    pub tokens: u64,
    /// The term. One longer than the bucket's short term has to be `written`.
    pub term: Span,
    /// Whether the actor will write the part to its disk before it answers.
    pub written: bool,
}

/// A part of a bucket, as the answer to a question gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The fraction of the rate; more than none, at most [`Fraction::ONE`].
    pub fraction: Fraction,
    /// The most tokens that the part holds, at least 1 and at most the burst.
    pub room: u64,
    /// The tokens that it gets beside those that its holder kept.
    pub tokens: u64,
    /// The term, from when the holder asked.
    pub term: Span,
}

impl Part {
    /// The longest term of a part.
    pub const LONGEST_TERM: Span = Span::from_secs(600);

    /// Whether an actor may give this part of a bucket that holds `burst` tokens.
    pub fn is_possible(&self, burst: u64) -> bool {
        let fraction = self.fraction > Fraction::ZERO && self.fraction <= Fraction::ONE;
        fraction && (1..=burst).contains(&self.room) && self.tokens <= burst && self.term <= Part::LONGEST_TERM
    }
}

/// The answer to a question for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartAnswer {
    /// The question is repeated or overtaken: no answer must be sent.
    Stale,
    /// No part can be given. The holder keeps what it named.
    None,
    /// The part that takes the place of the one that the holder has.
    Part(Part),
}
