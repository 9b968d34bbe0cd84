//! A part with the questions that renew it.

use crate::limit::share::held_part::{HeldPart, Tokens};
use crate::limit::share::outstanding::HolderId;
use crate::limit::share::question::{Part, Question};
use crate::limit::time::{Span, Time};

/// The holder's side of a bucket: the part that it has, and the question that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartHolder {
    part: Option<HeldPart>,
    asking: Option<Asking>,
    /// The latest time that this holder has seen.
    seen: Time,
}

/// A question that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asking {
    seq: u64,
    asked: Time,
    /// The room that the holder keeps until it hears.
    keep: u64,
}

impl PartHolder {
    /// The part, if its term has not ended at `now`.
    pub fn part(&self, now: Time) -> Option<&HeldPart> {
        self.part.as_ref().filter(|part| now < part.until() && now >= self.seen)
    }

    /// The whole tokens in hand at `now`.
    pub fn tokens(&self, now: Time) -> u64 {
        let mut now_capped = *self;
        now_capped.look(now);
        now_capped.part.map_or(0, |part| part.tokens(now).floor())
    }

    /// Whether a question is under way that was asked less than `patience` ago.
    pub fn is_asking(&self, now: Time, patience: Span) -> bool {
        self.asking.is_some_and(|asking| now.since(asking.asked) < patience)
    }

    /// Takes `cost` tokens of the part at `now`; `false` if it has fewer.
    pub fn spend(&mut self, now: Time, cost: u64) -> bool {
        self.look(now);
        self.part.as_mut().is_some_and(|part| part.spend(now, cost))
    }

    /// Puts `tokens` back at `now` that were spent of this bucket's parts, and not used after all.
    /// Into a later part as well: the actor counts its whole room. Tokens beyond the room, or
    /// beyond the room that the holder named in a question under way, are lost.
    pub fn put_back(&mut self, now: Time, tokens: u64) {
        self.look(now);
        if let Some(part) = &mut self.part {
            part.put_back(tokens);
        }
        self.look(now);
    }

    /// Makes a question at `now`. The holder gives up the whole tokens above `keep`, and has no
    /// more room than is left in its hand until it hears.
    ///
    /// `seq` is above that of every question which `holder` has asked before, of whatever bucket.
    pub fn ask(&mut self, holder: HolderId, seq: u64, now: Time, keep: u64) -> Question {
        self.look(now);
        let mut question = Question { holder, seq, ..Question::default() };
        if let Some(part) = &mut self.part {
            question.back = part.tokens(now).floor().saturating_sub(keep);
            let _ = part.spend(now, question.back);
            question.keep = part.tokens(now).ceil();
            question.base = part.seq();
            part.cap(now, question.keep);
        }
        self.asking = Some(Asking { seq, asked: now, keep: question.keep });
        question
    }

    /// Hears the answer to the question `seq` at `now`, about a limit with one token per
    /// `interval`. The answer to an earlier question is ignored.
    pub fn hear(&mut self, now: Time, seq: u64, interval: Span, answer: Option<&Part>) {
        self.look(now);
        let Some(asking) = self.asking.filter(|asking| asking.seq == seq) else { return };
        self.asking = None;
        let left = self.part.map_or(Tokens::whole(0), |old| old.tokens(now));
        match (answer, &mut self.part) {
            (Some(part), _) => {
                let tokens = left.plus(part.tokens);
                self.part = Some(HeldPart::new(part, interval, tokens, asking.asked, now, seq));
            }
            // The actor counts no more room than the question named.
            (None, Some(old)) => old.shrink(asking.keep),
            (None, None) => {}
        }
    }

    /// Notes the time. A clock that has stepped back ends the part and the question, whose terms it
    /// would make longer; a question under way bounds the part.
    fn look(&mut self, now: Time) {
        if now < self.seen {
            (self.part, self.asking) = (None, None);
        }
        self.seen = now;
        self.part = self.part.filter(|part| now < part.until());
        if let (Some(part), Some(asking)) = (&mut self.part, &self.asking) {
            part.cap(now, asking.keep);
        }
    }
}
