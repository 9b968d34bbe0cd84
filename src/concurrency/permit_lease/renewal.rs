//! What a book says to its cap's actor, and hears from it.

use crate::concurrency::per_reserve::PerReserve;
use crate::concurrency::permit_lease::{IDLE, PermitLease};
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult};
use crate::protocol::permits::{OriginSample, PermitAsk, PermitReply, Reserve, TERM};

/// Slots are asked for anew this long after the last answer: three tries before the term ends.
const RENEW: Span = Span::from_millis(TERM.as_millis() / 4);

/// Who asked hears that there is no answer before another asks.
const HEARS: Span = Span::from_millis(50);

/// Whoever looks after idle slots has so many looks for itself where nobody takes over.
const LAST_LOOKS: u32 = 10;

/// A question under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    number: u64,
    pass: CallPermission,
    at: Time,
    /// Until when it is waited for.
    due: Time,
    wants: u64,
    pub(super) reserve: Reserve,
}

/// Whether the cap is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    Yes,
    /// `on_error` decided.
    No,
    /// It was not a moment ago, and nobody has been told yet that it is.
    Again,
}

impl PermitLease {
    /// What is to be said to the actor off any request's path, if anything: that slots are still needed, or no more.
    pub fn tick(&mut self, now: Time, patience: Span) -> Option<PermitAsk> {
        self.roll(now);
        let used = self.users.count(now);
        if self.busy(now) || (!self.holds(now) && used == 0) {
            return None;
        }
        let due = self.heard.plus(RENEW) <= now || self.until <= now;
        let spare = self.keeps(now).of(Reserve::Nothing) < self.held.of(Reserve::Nothing);
        // What is under way must not lose its slots because their actor is left alone.
        if used > 0 && self.holds(now) && self.tried.plus(RENEW) <= now {
            self.circuit.probe_now(now);
        }
        if !(due || spare) {
            return None;
        }
        self.unmet = PerReserve::default();
        // Low requests are renewed and grow as such, where there are no others.
        let each = self.users.each(now);
        let under = Reserve::ALL.into_iter().find(|reserve| each.of(*reserve) > 0);
        self.ask(0, under.unwrap_or_default(), now, patience)
    }

    /// Whether somebody has to look after the slots, should nobody use them any more; whoever asks has to, from now on.
    pub fn claim_return(&mut self, now: Time) -> bool {
        // Who looks after them does so once in [`IDLE`]; if not, it is gone.
        let tended = self.tended.is_some_and(|at| now < at.plus(IDLE.times(3)));
        let tend = !tended && self.holds(now);
        if tend {
            self.tended = Some(now);
        }
        tend
    }

    /// Whether whoever looks after idle slots has to go on, who has so many looks left.
    pub fn keeps_returning(&mut self, looks: u32, now: Time) -> bool {
        let holds = self.holds(now);
        // In good time the next to end may take over: it takes some looks to give all back, and nobody may end later.
        if looks >= LAST_LOOKS || !holds {
            self.tended = holds.then_some(now);
        }
        holds && looks > 0
    }

    /// Takes in what the actor answered to the question with this number, or what is heard of it without an answer. An
    /// answer that is not to the latest question may be out of date: all that it says is how the actor does.
    pub fn observe(&mut self, number: u64, answer: Result<PermitReply, CallResult>, now: Time) {
        let asked = self.asked.take_if(|asked| asked.number == number);
        let pass = asked.map_or(CallPermission::Usual, |asked| asked.pass);
        self.circuit.record(pass, answer.err().unwrap_or(CallResult::Answer), now, self.chance());
        let (Some(asked), Ok(answer)) = (asked, answer) else { return };
        if self.checked == Checked::No {
            self.checked = Checked::Again;
        }
        self.inherits = false;
        self.lend(&asked, &answer, now);
        self.given = answer.slots;
        self.until = asked.at.plus(answer.term);
        self.cap = answer.cap;
        self.heard = now;
        // What it wanted may be all it has, and not for requests that leave something.
        let all = answer.slots.min(answer.share) >= asked.wants && answer.free >= asked.reserve.of_cap(answer.cap);
        let enough = all || self.has_room(asked.reserve, now);
        self.full = (!enough).then(|| (asked.reserve, now.plus(self.spread(answer.again))));
    }

    /// Notes that `on_error` decides.
    pub fn mark_unchecked(&mut self) {
        self.checked = Checked::No;
    }

    /// Whether the cap is checked again, and nobody was told yet.
    pub fn mark_checked(&mut self) -> bool {
        let again = self.checked == Checked::Again;
        if again {
            self.checked = Checked::Yes;
        }
        again
    }

    /// Whether the actor is left alone.
    pub fn is_in_trouble(&self) -> bool {
        self.circuit.is_open()
    }

    /// Whether a question is under way that may still be answered.
    pub(super) fn busy(&self, now: Time) -> bool {
        self.asked.is_some_and(|asked| now < asked.due)
    }

    /// The question that is sent for so many more requests that leave so much, unless the actor is left alone or there is no time. What the
    /// isolate does not keep it stops using at once, for an answer may never be heard.
    pub(super) fn ask(&mut self, more: u64, reserve: Reserve, now: Time, patience: Span) -> Option<PermitAsk> {
        if patience == Span::ZERO {
            return None;
        }
        let patience = patience.plus(HEARS);
        let pass = self.circuit.admit(now, patience)?;
        self.number = self.number.saturating_add(1);
        self.held = self.keeps(now);
        // What is under way is kept also where it is more than what is held, which then stays so.
        let keeps = self.held.of(Reserve::Nothing).max(self.users.count(now));
        let wants = self.wants(more, reserve, now).max(keeps);
        self.asked = Some(Asked { number: self.number, pass, at: now, due: now.plus(patience), wants, reserve });
        self.tried = now;
        *self.unmet.at(reserve) = 0;
        Some(PermitAsk {
            holder: self.holder,
            number: self.number,
            size: self.size,
            keeps,
            wants,
            reserve,
            sample: Some(core::mem::take(&mut self.sample)).filter(|sample| *sample != OriginSample::default()),
        })
    }

    /// Whether there may be slots to give back.
    fn holds(&self, now: Time) -> bool {
        self.inherits || self.held(now) > 0
    }

    /// `span` and up to half of it more, each isolate its own: those who were refused together do not come again together.
    fn spread(&self, span: Span) -> Span {
        span.plus(Span::from_nanos((span.as_nanos() / 512).saturating_mul(self.holder.rotate_left(8) & 0xff)))
    }

    /// Another with each question, in each isolate.
    fn chance(&self) -> u8 {
        (self.holder ^ self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(8) as u8
    }
}
