//! A request's way to a slot, and what goes on while it has one.

use crate::concurrency::caps::{Admission, PlannedCap};
use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_lease::{NextStep, PermitLease};
use crate::concurrency::permit_leases::{PermitGuard, PermitLeases};
use crate::gate::on_error::OnErrorActions;
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::protocol::circuit_breaker::CallResult;
use crate::protocol::permits::{PermitActors, PermitAsk, Reserve};
use crate::protocol::rates::CallError;
use std::cell::RefCell;
use std::rc::Rc;

/// How often a request looks whether the slots that another has asked for are there. Promises must not be shared between requests,
/// so it looks at plain data.
const LOOK: Span = Span::from_millis(2);

/// How often one looks that waits for a slot although it is full: so long, on average half of it, a slot may stand empty.
const WAIT_LOOK: Span = Span::from_millis(5);

/// How often one request asks for more slots, should others take each time what it was given.
const ASKS: u32 = 4;

/// Why there is no place.
#[derive(Clone, Debug)]
pub enum NoPermit {
    /// All slots are in use.
    Full,
    /// The cap cannot be checked, and must not be passed unchecked.
    Unknown,
}

/// Who lets requests in.
#[derive(Debug)]
pub struct Admit<'a, K> {
    /// Those who keep count.
    pub actors: &'a K,
    /// What the isolate knows.
    pub leases: &'a RefCell<PermitLeases>,
    /// How long a decision may take, and so an actor.
    pub patience: Span,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<K: PermitActors> Admit<'_, K> {
    /// Gets a request a place under one cap more: it has so much `time` for that, besides what it waits for a place. Notes in `entry` what it
    /// took.
    pub async fn admit<'p>(
        &self,
        met: &PlannedCap<'p>,
        time: Span,
        entry: &mut Admission<'p>,
    ) -> Result<PermitGuard, NoPermit> {
        let &PlannedCap { cap, reserve, wait, .. } = met;
        let Admission { spent, permits, .. } = &mut *entry;
        spent.limits = spent.limits.saturating_add(1);
        let begun = (self.wall)();
        let mut again = false;
        let mut asked = false;
        let mut in_vain = 0;
        let mut unmet = false;
        let mut full = None;
        let mut waiting = None;
        let waited = |full: Option<Time>| full.map_or(Span::ZERO, |since| (self.wall)().since(since).min(wait));
        let (permit, error) = loop {
            let at = (self.wall)();
            if in_vain >= ASKS {
                break (Err(NoPermit::Full), None);
            }
            let granted = full.map_or(time, |_| time.plus(wait));
            let left = granted.saturating_sub(at.since(begun)).min(self.patience);
            // Nobody else gives signs of life for it before it is at the origin.
            permits.iter().for_each(|permit| permit.extend_heartbeat(at, left));
            let turn = self.lease(cap, |lease, now| {
                if let Some(id) = waiting {
                    lease.heartbeat_waiting(id, now);
                }
                again |= lease.mark_checked();
                // What is asked of one in trouble needs its time.
                let vain = lease.is_in_trouble() && self.is_short(left);
                let turn = lease.next_step(reserve, now, if vain { Span::ZERO } else { left });
                if matches!(turn, NextStep::Start(_)) {
                    if unmet {
                        lease.clear_unmet(reserve);
                    }
                } else if !unmet || matches!(turn, NextStep::Ask(_)) {
                    // Once, and once more when a question has been asked without it.
                    lease.note_unmet(reserve);
                    unmet = true;
                }
                turn
            });
            match turn {
                NextStep::Start(id) => {
                    spent.wallet = spent.wallet.saturating_add(u32::from(!asked));
                    break (Ok(self.guard(cap, id)), None);
                }
                NextStep::Ask(question) => {
                    asked = true;
                    in_vain = u32::saturating_add(in_vain, 1);
                    spent.actors = spent.actors.saturating_add(1);
                    match self.ask(cap, &question, left).await {
                        Ok(rows) => spent.rows = spent.rows.saturating_add(rows),
                        // The way broke: another may not.
                        Err(CallError::Disconnected) if in_vain == 1 => {}
                        Err(error) => break (self.alone(cap, reserve), Some(error)),
                    }
                }
                NextStep::LookAgain if left > Span::ZERO => self.actors.sleep(LOOK).await,
                NextStep::LookAgain => break (self.alone(cap, reserve), Some(CallError::Late)),
                NextStep::Full if waited(full) < wait => {
                    full = full.or(Some(at));
                    waiting = waiting.or_else(|| self.lease(cap, |lease, now| lease.try_wait(reserve, now)));
                    if waiting.is_none() {
                        break (Err(NoPermit::Full), None);
                    }
                    in_vain = 0;
                    self.actors.sleep(WAIT_LOOK).await;
                }
                NextStep::Full => break (Err(NoPermit::Full), None),
                NextStep::Unknown => break (self.alone(cap, reserve), Some(CallError::NotAsked)),
            }
        };
        if let Some(id) = waiting {
            self.lease(cap, |lease, _| lease.stop_waiting(id));
        }
        entry.waited = entry.waited.plus(waited(full));
        if let Some(error) = error {
            entry.unchecked.push((cap, error));
        }
        if again {
            entry.restored.push(cap);
        }
        permit
    }

    /// Whether an answer may be late after so long without anyone's fault.
    fn is_short(&self, patience: Span) -> bool {
        patience.times(4) < self.patience
    }

    /// Says to the actor what is to be said off any request's path; how many calls that took, or rows, where there were more.
    pub async fn tick(&self, cap: &Rc<Cap>) -> u32 {
        match self.lease(cap, |lease, now| lease.tick(now, self.patience)) {
            // Who needs a slot will see that the actor does not answer.
            Some(question) => self.ask(cap, &question, self.patience).await.unwrap_or(1).max(1),
            None => 0,
        }
    }

    /// Whether somebody has to look after idle slots of `cap`; whoever asks has to.
    pub fn claim_return(&self, cap: &Rc<Cap>) -> bool {
        self.lease(cap, PermitLease::claim_return)
    }

    /// Whether whoever looks after idle slots of `cap` has to go on, who has so many looks left.
    pub fn keeps_returning(&self, cap: &Rc<Cap>, looks: u32) -> bool {
        self.lease(cap, |lease, now| lease.keeps_returning(looks, now))
    }

    async fn ask(&self, cap: &Rc<Cap>, question: &PermitAsk, patience: Span) -> Result<u32, CallError> {
        let answer = self.actors.ask(&cap.name, question, patience).await;
        let heard = match &answer {
            Err(CallError::Late) if self.is_short(patience) => CallResult::Nothing,
            answer => CallResult::of(answer),
        };
        self.lease(cap, |lease, now| lease.observe(question.number, answer.as_ref().copied().map_err(|_| heard), now));
        answer.map(|answer| answer.rows)
    }

    /// What a cap comes to that cannot be checked.
    fn alone(&self, cap: &Rc<Cap>, reserve: Reserve) -> Result<PermitGuard, NoPermit> {
        self.lease(cap, |lease, _| lease.mark_unchecked());
        let records = OnErrorActions {
            local: || self.lease(cap, |lease, now| lease.start_locally(reserve, now)).ok_or(NoPermit::Full),
            open: || Ok(self.lease(cap, |lease, now| lease.start(reserve, now))),
            closed: || Err(NoPermit::Unknown),
        };
        let id = records.go(cap.on_error);
        id.map(|id| self.guard(cap, id))
    }

    fn guard(&self, cap: &Rc<Cap>, id: Id) -> PermitGuard {
        self.leases.borrow_mut().guard(cap, id)
    }

    fn lease<T>(&self, cap: &Cap, work: impl FnOnce(&mut PermitLease, Time) -> T) -> T {
        let lease = self.leases.borrow_mut().of(cap);
        let mut lease = lease.borrow_mut();
        let now = lease.now((self.wall)());
        work(&mut lease, now)
    }
}
