//! What a book says to its cap's actor, and hears from it.

use super::super::{Answer, Question, Reserve, Sample, TERM};
use super::{Asked, Book, IDLE, Shut, with_margin};
use crate::limit::time::{Span, Time};

/// Slots are asked for anew this long after the last answer: three tries before the term ends.
const RENEW: Span = Span::from_millis(TERM.as_millis() / 4);

/// An actor that did not answer is not asked again for this long, and then by one request.
const TROUBLED: Span = Span::from_millis(500);

impl Book {
    /// What is to be said to the actor off any request's path, if anything: that slots are still needed, or no more.
    pub fn tick(&mut self, now: Time, patience: Span) -> Option<Question> {
        self.roll(now);
        let used = self.users.count(now);
        let troubled = matches!(self.shut, Some(Shut::Trouble(until)) if now < until);
        if troubled || self.busy(now, patience) || (!self.holds(now) && used == 0) {
            return None;
        }
        let needed = self.needed(used);
        let due = self.heard.plus(RENEW) <= now || self.until <= now;
        let spare = needed.min(self.share).max(used) < self.held;
        (due || spare).then(|| self.question(needed, Reserve::Nothing, now))
    }

    /// Whether somebody has to look after the slots, should nobody use them any more; whoever asks has to, from now on.
    pub fn tend(&mut self, now: Time) -> bool {
        // Who looks after them does so once in [`IDLE`]; if not, it is gone.
        let tended = self.tended.is_some_and(|at| now < at.plus(IDLE.times(3)));
        let tend = !tended && self.holds(now);
        if tend {
            self.tended = Some(now);
        }
        tend
    }

    /// Whether whoever looks after idle slots has to go on, who has so many looks left.
    pub fn tend_on(&mut self, looks: u32, now: Time) -> bool {
        let on = looks > 0 && self.holds(now);
        self.tended = on.then_some(now);
        on
    }

    /// Takes in what the actor answered to the question with this number, `None` for nothing; `asked` is when it was sent. An
    /// answer that is not to the latest question may be out of date, so it is not heard.
    pub fn hear(&mut self, number: u64, answer: Option<Answer>, now: Time) {
        let Some(asked) = self.asked.take_if(|asked| asked.number == number) else { return };
        let Some(answer) = answer else {
            self.shut = Some(Shut::Trouble(now.plus(self.spread(TROUBLED))));
            return;
        };
        self.inherits = false;
        self.held = answer.slots;
        self.given = answer.slots;
        self.until = asked.at.plus(answer.term);
        self.share = answer.share;
        self.cap = answer.cap;
        self.free = answer.free;
        self.heard = now;
        let enough = answer.slots >= asked.wants || self.users.count(now) < self.usable(asked.leaves, now);
        self.shut = (!enough).then(|| Shut::Full(asked.leaves, now.plus(self.spread(answer.again))));
    }

    /// The question that is sent. What the isolate does not keep it stops using at once, for an answer may never be heard.
    pub(super) fn question(&mut self, wants: u64, leaves: Reserve, now: Time) -> Question {
        self.number = self.number.saturating_add(1);
        self.asked = Some(Asked { number: self.number, at: now, wants, leaves });
        self.pressed = 0;
        let used = self.users.count(now);
        let held = self.held(now);
        // What is over the fair share goes back as it falls free, and what nobody has used for a while.
        let keeps = held.min(self.share).min(self.needed(used).max(wants)).max(used);
        self.held = held.min(keeps);
        Question {
            holder: self.holder,
            number: self.number,
            size: self.size,
            keeps,
            wants: wants.max(keeps),
            leaves,
            sample: Some(core::mem::take(&mut self.sample)).filter(|sample| *sample != Sample::default()),
        }
    }

    /// Whether there may be slots to give back.
    fn holds(&self, now: Time) -> bool {
        self.inherits || self.held(now) > 0
    }

    /// Slots that have been of use lately.
    fn needed(&self, used: u64) -> u64 {
        with_margin(used.max(self.peak).max(self.last_peak))
    }

    /// `span` and up to half of it more, each isolate its own: those who were refused together do not come again together.
    fn spread(&self, span: Span) -> Span {
        span.plus(Span::from_nanos((span.as_nanos() / 512).saturating_mul(self.holder.rotate_left(8) & 0xff)))
    }
}
