//! Calls to a cap's actor: to ask for permits, to renew them, and to give back idle ones.

use crate::concurrency::permit_lease::PermitLease;
use crate::concurrency::permit_lease::demand::IDLE;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::CallResult;
use crate::protocol::permits::{OriginSample, PermitAsk, PermitReply, Reserve, TERM};

/// Permits are renewed this long after the last answer, which leaves three tries before their term
/// ends.
const RENEW: Span = Span::from_millis(TERM.as_millis() / 4);

/// With fewer checks left than this, the task that returns idle permits lets another one take over.
/// It takes some checks to give all permits back, and the request that ends next may be the last.
const LAST_CHECKS: u32 = 10;

impl PermitLease {
    /// The question to ask in the background now: to renew permits that are in use, or to give back
    /// idle ones. `None`: nothing is due, or the actor cannot be asked.
    pub fn tick(&mut self, now: Time, patience: Span) -> Option<PermitAsk> {
        self.demand.roll(now);
        let in_flight = self.demand.in_flight.count(now);
        if self.questions.is_pending(now) || (!self.may_hold(now) && in_flight == 0) {
            return None;
        }
        let due = self.questions.answered.plus(RENEW) <= now || self.lent.is_over(now);
        let idle = self.lent.has_idle(&mut self.demand, now);
        // Requests in flight must not lose their permits to the breaker's pause.
        if in_flight > 0 && self.may_hold(now) && self.questions.asked.plus(RENEW) <= now {
            self.questions.probe_now(now);
        }
        if !(due || idle) {
            return None;
        }
        self.demand.forget_all_unmet();
        // An isolate that has only low-priority requests in flight asks with their reserve, so that
        // its fair share is a low-priority one.
        let in_flight = self.demand.in_flight.per_reserve(now);
        let smallest = Reserve::ALL.into_iter().find(|reserve| in_flight.of(*reserve) > 0);
        self.question(0, smallest.unwrap_or_default(), now, patience)
    }

    /// Whether a task that gives back idle permits must be started: permits may be held, and no
    /// such task is known. If so, it counts as started from now on.
    pub fn claim_return(&mut self, now: Time) -> bool {
        // A task checks once in [`IDLE`]. One that has missed three checks is gone.
        let claimed = self.return_checked.is_some_and(|at| now < at.plus(IDLE.times(3)));
        let claims = !claimed && self.may_hold(now);
        if claims {
            self.return_checked = Some(now);
        }
        claims
    }

    /// Whether the task that returns idle permits has to go on. It has `checks_left`.
    pub fn keeps_returning(&mut self, checks_left: u32, now: Time) -> bool {
        let holds = self.may_hold(now);
        // A task with few checks left no longer renews its claim: the next request that ends starts
        // another one.
        if checks_left >= LAST_CHECKS || !holds {
            self.return_checked = holds.then_some(now);
        }
        holds && checks_left > 0
    }

    /// Takes in the result of the question with this number: the actor's answer, or the reason why
    /// there is none. An answer to an older question may be out of date, so it says only that the
    /// actor works.
    pub fn observe(&mut self, number: u64, answer: Result<PermitReply, CallResult>, now: Time) {
        let result = answer.err().unwrap_or(CallResult::Answer);
        let pending = self.questions.record_result(number, result, now);
        let (Some(question), Ok(reply)) = (pending, answer) else { return };
        self.questions.note_answer(now);
        self.inherits = false;
        self.lent.renew(&reply, question.reserve, question.asked, now);
        // An answer with all that was asked for may still leave no room: the permits kept may be
        // all that was wanted, and not usable for this reserve.
        let fulfilled =
            reply.permits.min(reply.share) >= question.wants && reply.free >= question.reserve.of_cap(reply.cap);
        let enough = fulfilled || self.lent.has_room(&mut self.demand, question.reserve, now);
        self.full = (!enough).then(|| (question.reserve, now.plus(self.questions.spread(reply.again))));
    }

    /// Notes that `on_error` decides, because the actor cannot be asked.
    pub fn mark_unchecked(&mut self) {
        self.questions.mark_unchecked();
    }

    /// Whether the cap is checked again after a failure; true once for each recovery.
    pub fn mark_checked(&mut self) -> bool {
        self.questions.mark_checked()
    }

    /// Whether the circuit breaker is open: the actor gets no questions but a probe now and then.
    pub fn is_in_trouble(&self) -> bool {
        self.questions.is_open()
    }

    /// The question for `more` requests with this `reserve`. `None`: the circuit breaker is open,
    /// or there is no time to wait.
    ///
    /// Permits that are not worth keeping are out of use from now on, whether or not an answer
    /// comes: the actor may lend them to others as soon as it has read the question.
    pub(super) fn question(&mut self, more: u64, reserve: Reserve, now: Time, patience: Span) -> Option<PermitAsk> {
        let question = self.questions.begin(reserve, now, patience)?;
        let kept = self.lent.give_up_idle(&mut self.demand, now);
        // Requests in flight keep their permits, also where they are more than the permits held.
        let keeps = kept.max(self.demand.in_flight.count(now));
        question.wants = self.demand.permits_wanted(more, reserve, now).max(keeps);
        let (number, wants) = (question.number, question.wants);
        self.demand.forget_unmet(reserve);
        let sample = core::mem::take(&mut self.sample);
        Some(PermitAsk {
            holder: self.questions.holder,
            number,
            size: self.size,
            keeps,
            wants,
            reserve,
            sample: Some(sample).filter(|sample| *sample != OriginSample::default()),
        })
    }

    /// Whether there may be permits to give back.
    fn may_hold(&self, now: Time) -> bool {
        self.inherits || self.held(now) > 0
    }
}
