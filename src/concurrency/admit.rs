//! A request's way to a permit of one cap.

use crate::concurrency::heartbeats::Id;
use crate::concurrency::lease_table::PermitGuard;
use crate::concurrency::permit_calls::PermitCalls;
use crate::concurrency::permit_lease::NextStep;
use crate::concurrency::plan::PlannedCap;
use crate::gate::deadline::{POLL_EVERY, is_short};
use crate::gate::decision::{CapDecision, Spent};
use crate::gate::on_error::OnErrorActions;
use crate::limit::time::{Span, Time};
use crate::protocol::permits::PermitActors;
use crate::protocol::rates::CallError;
use std::cell::RefCell;

/// How often a request that waits for a full cap looks for a permit. A permit that comes back
/// stands idle for half of this on average.
const WAIT_POLL_EVERY: Span = Span::from_millis(5);

/// How many times one request asks for more permits, should other requests take the ones that it
/// was given.
const ASKS: u32 = 4;

/// Why a request gets no permit.
#[derive(Clone, Debug)]
pub enum NoPermit {
    /// All permits are in use.
    Full,
    /// The cap cannot be checked, and its `on_error` is `closed`.
    Unknown,
}

/// One request's attempt at a permit.
struct Attempt<'a, 'p, K> {
    calls: &'a PermitCalls<'a, K>,
    cap: &'a PlannedCap<'p>,
    /// Permits of other caps that the request has already.
    held: &'a RefCell<Vec<PermitGuard>>,
    began: Time,
    /// How long the attempt may take, besides a wait for a full cap.
    time: Span,
    /// Questions asked since the request last waited for the full cap; at most [`ASKS`].
    asks: u32,
    /// Whether any question was asked.
    has_asked: bool,
    /// Whether the request is counted among those that found no permit.
    is_unmet: bool,
    /// Since when the cap is full.
    full_since: Option<Time>,
    /// The request's id among those that wait.
    waiting: Option<Id>,
    /// Whether the cap is checked again, and could not be before.
    restored: bool,
}

/// The end of an attempt.
enum End {
    /// A permit, or none.
    Checked(Result<PermitGuard, NoPermit>),
    /// The cap cannot be checked, so `on_error` decides.
    Unchecked(CallError),
}

impl<K: PermitActors> PermitCalls<'_, K> {
    /// Gets a request a permit of `cap` within `time`, besides its wait for a full cap. The request
    /// holds the permits `held` already. Adds cost, wait and failures to `decision`.
    ///
    /// # Errors
    /// [`NoPermit`], where the cap is full or cannot be checked.
    pub async fn admit<'p>(
        &self,
        cap: &PlannedCap<'p>,
        time: Span,
        held: &RefCell<Vec<PermitGuard>>,
        decision: &mut CapDecision<'p>,
    ) -> Result<PermitGuard, NoPermit> {
        decision.spent.limits = decision.spent.limits.saturating_add(1);
        let mut attempt = Attempt {
            calls: self,
            cap,
            held,
            began: (self.wall)(),
            time,
            asks: 0,
            has_asked: false,
            is_unmet: false,
            full_since: None,
            waiting: None,
            restored: false,
        };
        let (permit, error) = match attempt.run(&mut decision.spent).await {
            End::Checked(permit) => (permit, None),
            End::Unchecked(error) => (self.decide_unchecked(cap), Some(error)),
        };
        attempt.stop_waiting();
        decision.waited = decision.waited.plus(attempt.waited());
        decision.unchecked.extend(error.map(|error| (&**cap.cap, error)));
        decision.restored.extend(attempt.restored.then_some(&**cap.cap));
        permit
    }

    /// Has `on_error` decide about a cap that cannot be checked.
    fn decide_unchecked(&self, planned: &PlannedCap<'_>) -> Result<PermitGuard, NoPermit> {
        let &PlannedCap { cap, reserve, .. } = planned;
        self.with_lease(cap, |lease, _| lease.mark_unchecked());
        let actions = OnErrorActions {
            local: || self.with_lease(cap, |lease, now| lease.start_locally(reserve, now)).ok_or(NoPermit::Full),
            open: || Ok(self.with_lease(cap, |lease, now| lease.start(reserve, now))),
            closed: || Err(NoPermit::Unknown),
        };
        let id = actions.run(cap.on_error);
        id.map(|id| self.guard(cap, id))
    }
}

impl<K: PermitActors> Attempt<'_, '_, K> {
    /// Takes a permit, asks for one, or waits, until the attempt has an end.
    async fn run(&mut self, spent: &mut Spent) -> End {
        while self.asks < ASKS {
            let now = (self.calls.wall)();
            let left = self.left(now);
            // The request gives no heartbeat before it is at the origin.
            self.held.borrow().iter().for_each(|permit| permit.extend_heartbeat(now, left));
            match self.next_step(left) {
                NextStep::Start(id) => {
                    spent.settled = spent.settled.saturating_add(u32::from(!self.has_asked));
                    return End::Checked(Ok(self.calls.guard(self.cap.cap, id)));
                }
                NextStep::Ask(question) => {
                    self.has_asked = true;
                    self.asks = self.asks.saturating_add(1);
                    spent.calls = spent.calls.saturating_add(1);
                    match self.calls.ask(self.cap.cap, &question, left).await {
                        Ok(rows) => spent.rows = spent.rows.saturating_add(rows),
                        // The connection broke; a second one may hold.
                        Err(CallError::Disconnected) if self.asks == 1 => {}
                        Err(error) => return End::Unchecked(error),
                    }
                }
                NextStep::LookAgain if left > Span::ZERO => self.calls.actors.sleep(POLL_EVERY).await,
                NextStep::LookAgain => return End::Unchecked(CallError::Late),
                NextStep::Full if self.waited() < self.cap.wait && self.start_waiting(now) => {
                    self.asks = 0;
                    self.calls.actors.sleep(WAIT_POLL_EVERY).await;
                }
                NextStep::Full => break,
                NextStep::Unknown => return End::Unchecked(CallError::NotAsked),
            }
        }
        End::Checked(Err(NoPermit::Full))
    }

    /// The time left at `now`: while the cap is full, its wait comes on top.
    fn left(&self, now: Time) -> Span {
        let granted = self.full_since.map_or(self.time, |_| self.time.plus(self.cap.wait));
        granted.saturating_sub(now.since(self.began)).min(self.calls.deadline)
    }

    /// The next step by the isolate's lease, for a request with so much time `left`.
    fn next_step(&mut self, left: Span) -> NextStep {
        let reserve = self.cap.reserve;
        self.calls.with_lease(self.cap.cap, |lease, now| {
            if let Some(id) = self.waiting {
                lease.heartbeat_waiting(id, now);
            }
            self.restored |= lease.mark_checked();
            // A probe of a failing actor needs its time.
            let in_vain = lease.is_in_trouble() && is_short(left, self.calls.deadline);
            let step = lease.next_step(reserve, now, if in_vain { Span::ZERO } else { left });
            if matches!(step, NextStep::Start(_)) {
                if self.is_unmet {
                    lease.clear_unmet(reserve);
                }
            } else if !self.is_unmet || matches!(step, NextStep::Ask(_)) {
                // Each question clears the count, so the request is counted once more after its
                // own.
                lease.note_unmet(reserve);
                self.is_unmet = true;
            }
            step
        })
    }

    /// Begins to wait for the full cap, or goes on waiting; whether the isolate's queue has room.
    fn start_waiting(&mut self, now: Time) -> bool {
        self.full_since = self.full_since.or(Some(now));
        let reserve = self.cap.reserve;
        let try_wait = || self.calls.with_lease(self.cap.cap, |lease, now| lease.try_wait(reserve, now));
        self.waiting = self.waiting.or_else(try_wait);
        self.waiting.is_some()
    }

    fn stop_waiting(&self) {
        if let Some(id) = self.waiting {
            self.calls.with_lease(self.cap.cap, |lease, _| lease.stop_waiting(id));
        }
    }

    /// How long the request has waited for the full cap; at most the cap's wait.
    fn waited(&self) -> Span {
        self.full_since.map_or(Span::ZERO, |since| (self.calls.wall)().since(since).min(self.cap.wait))
    }
}
