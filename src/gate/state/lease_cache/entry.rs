//! One entry of the lease cache: the tokens, denial and debt of one limit for one caller.
//!
//! - `parts`: the part of a bucket
//! - `idle_quota`: quota tokens that go back

use crate::gate::state::bucket_view::BucketView;
use crate::gate::state::lease_cache::denial::Denial;
use crate::gate::state::lease_cache::grants::Grants;
use crate::gate::state::lease_cache::shared_part::SharedPart;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::lease::{HORIZON, SlowStart, StockLevel, Wish, leasable};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Grant, Outcome, Terms};

mod idle_quota;
mod parts;

/// Quota tokens that lay unused for this long go back to the actor.
///
/// A larger span keeps tokens from other isolates for longer; a smaller one makes a caller of about
/// one request a second ask for its tokens again and again.
pub const IDLE: Span = Span::from_secs(1);

/// After this time a task that returns idle quota tokens is taken for dead, and another may start.
/// Most tasks end sooner; two at once do no harm, since tokens are taken out once.
const RETURN_TASK_LIFE: Span = Span::from_secs(30);

/// The loss that dropping an entry would cause, the smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// A call or two.
    Nothing,
    /// The debt from which the local limiter starts if the actor fails.
    View,
    /// A denial: each request of a flood would ask the actor again.
    Denial,
    /// Tokens: tokens in hand would be lost, and unreported debt would be admitted a second time.
    Tokens,
}

/// The tokens, denial and debt of one limit for one caller, as one isolate knows them.
#[derive(Debug)]
pub(super) struct CachedLimit {
    denial: Option<Denial>,
    grants: Grants,
    /// Measures how fast requests spend, and sizes the next wish.
    slow_start: SlowStart,
    /// How long the actor wants its grants to last; at least [`HORIZON`].
    horizon: Span,
    /// When the call in flight was made; `None` while there is none.
    call_since: Option<Time>,
    /// Tokens for which requests have waited since the last call was made.
    waiting: u64,
    /// The debt of the bucket, as far as this isolate knows.
    pub view: BucketView,
    /// The part of the bucket; `None` for a bucket that is not cut, and for a first request.
    part: Option<Box<SharedPart>>,
    /// When tokens were last spent from hand or taken at the actor.
    last_spent: Time,
    /// When the task that returns idle quota tokens started; `None` while there is none.
    return_task_since: Option<Time>,
}

impl CachedLimit {
    /// Makes an entry that holds no token and knows nothing of the bucket.
    pub fn new(now: Time) -> CachedLimit {
        CachedLimit {
            denial: None,
            grants: Grants::default(),
            slow_start: SlowStart::new(now),
            horizon: HORIZON,
            call_since: None,
            waiting: 0,
            view: BucketView::default(),
            part: None,
            last_spent: now,
            return_task_since: None,
        }
    }

    /// Returns the loss that dropping this entry would cause.
    pub fn worth(&self, now: Time) -> Worth {
        match () {
            () if self.view.has_unreported() || self.grants.any_left(now) || self.part_left(now) > 0 => Worth::Tokens,
            () if self.is_denied(now) => Worth::Denial,
            () if self.view.is_in_debt(now) => Worth::View,
            () => Worth::Nothing,
        }
    }

    fn is_denied(&self, now: Time) -> bool {
        self.denial.is_some_and(|denial| denial.holds(now))
    }

    /// Returns the denial that holds for a request of `cost` tokens, with the wait that is left.
    ///
    /// `None` leaves the request to the tokens in hand or to the actor. Slots in hand that cannot
    /// be spent yet deny it too, because the bucket's TAT lies beyond them.
    pub fn denied(&self, cost: u64, now: Time) -> Option<Outcome> {
        if let Some(wait) = self.view.wait_for(cost, now) {
            // The actor must hear of unreported debt first, or it would give the same tokens to
            // other isolates.
            return (!self.view.has_unreported()).then_some(Outcome::Refused { left: 0, wait, until: None });
        }
        if self.part.as_ref().is_some_and(|part| part.left(now) >= cost) {
            return None;
        }
        match self.grants.wait(cost, now) {
            Some(Span::ZERO) => None,
            Some(wait) => Some(Outcome::Refused { left: 0, wait, until: None }),
            None => self.denial?.outcome(now),
        }
    }

    /// Returns the shortest time for which the limit refuses `cost` tokens, as far as is known
    /// here, to a caller that comes back at `later`. Tokens in hand serve it if they are still good
    /// then.
    pub fn min_wait(&self, terms: &Terms, cost: u64, now: Time, later: Time) -> Span {
        let denied = match self.denied(cost, now) {
            Some(Outcome::Refused { wait, .. } | Outcome::Full { wait }) => wait,
            _ => Span::ZERO,
        };
        let in_debt = if self.part.is_some() || self.grants.any_left(later) {
            Span::ZERO
        } else {
            self.view.min_wait(terms, cost, now)
        };
        denied.max(in_debt)
    }

    /// Spends `cost` tokens in hand, and returns them with the tokens that are left to the caller
    /// then. `None` if there are too few, or if this isolate has admitted too much on its own.
    pub fn spend(&mut self, cost: u64, now: Time) -> Option<(Tokens, Outcome)> {
        if self.view.wait_for(cost, now).is_some() {
            return None;
        }
        let of_part = self.part.as_mut().and_then(|part| part.spend(cost, now));
        let spent = of_part.or_else(|| self.grants.spend(cost, now))?;
        self.note_demand(cost, now);
        self.slow_start.spend(cost);
        self.last_spent = now;
        if let Tokens::Lease(gcra, _) | Tokens::Part { gcra, .. } = &spent {
            self.view.pass(gcra, cost, now);
        }
        Some((spent, self.usage_after(spent, now)))
    }

    /// Returns the tokens left to the caller, in hand and in the bucket, after `spent` was taken.
    fn usage_after(&self, spent: Tokens, now: Time) -> Outcome {
        let held = self.grants.left(now).saturating_add(self.part_left(now));
        let (left, more) = match spent {
            Tokens::Lease(gcra, _) | Tokens::Part { gcra, .. } => {
                let left = self.view.available(&gcra, now).saturating_add(held);
                (left.min(gcra.burst().saturating_sub(1)), gcra.interval())
            }
            Tokens::Quota { end, .. } => (self.view.left().saturating_add(held), end.since(now)),
        };
        Outcome::Met { left, more, slot: Span::ZERO, until: None }
    }

    /// Returns the tokens left to the caller, in hand and in the bucket, and the time until there
    /// is one more; `None` if the actor has said nothing lately.
    pub fn known_usage(&self, terms: &Terms, now: Time) -> Option<(u64, Span)> {
        let (left, more) = self.view.known_usage(terms, now)?;
        let most = match terms {
            Terms::Rate(gcra) => gcra.burst(),
            Terms::Quota(count, _) => *count,
        };
        Some((left.saturating_add(self.grants.left(now)).min(most), more))
    }

    /// Takes back tokens that were spent at `since` or later, on a request that does not use them.
    pub fn give_back(&mut self, spent: Tokens, since: Time, now: Time) {
        let spent = self.as_part_tokens(spent, now);
        match &spent {
            Tokens::Lease(gcra, lease) => self.view.take_back(gcra, lease.count(), since, now),
            Tokens::Part { gcra, tokens } => {
                self.view.take_back(gcra, *tokens, since, now);
                self.slow_start.unspend(*tokens);
                if let Some(part) = &mut self.part {
                    part.put_back(*tokens, now);
                }
                return;
            }
            Tokens::Quota { .. } => {
                // The day is not used up any more, whatever the actor said meanwhile.
                self.view.clear_empty();
                self.denial = None;
            }
        }
        self.slow_start.unspend(spent.count());
        self.grants.put_back(spent, now);
    }

    /// Returns the wish and the unreported debt that go with the next question, and notes that the
    /// call is in flight. There is no wish while another call younger than `patience` is in flight.
    pub fn wish_for(&mut self, terms: &Terms, cost: u64, now: Time, patience: Span) -> (Wish, u64) {
        let horizon = self.horizon_for(terms);
        let too_small = matches!(terms, Terms::Rate(gcra) if !leasable(gcra, cost));
        let mut wish = Wish::default();
        if !too_small && !self.has_call_in_flight(now, patience) {
            self.call_since = Some(now);
            let waiting = core::mem::take(&mut self.waiting).saturating_sub(cost);
            if !self.grants.is_full() {
                // This one call serves all requests that wait.
                wish = match self.slow_start.wish(now, horizon) {
                    0 => Wish { ahead: 0, waiting },
                    ahead => Wish { ahead: ahead.max(waiting), waiting: 0 },
                };
            }
        }
        (wish, self.view.take_unreported(terms, now))
    }

    /// Returns how long the wished tokens should last. Of a rate that is at most half of its
    /// tolerance, because later slots would have passed before they are spent.
    fn horizon_for(&self, terms: &Terms) -> Span {
        match terms {
            Terms::Rate(gcra) => self.horizon.min(Span::from_nanos(gcra.tolerance().as_nanos() / 2)),
            Terms::Quota(..) => self.horizon,
        }
    }

    /// Whether a call younger than `patience` is in flight.
    pub fn has_call_in_flight(&self, now: Time, patience: Span) -> bool {
        self.call_since.is_some_and(|since| now < since.plus(patience))
    }

    /// Notes that a request waits for `tokens` of the call in flight.
    pub fn note_waiting(&mut self, tokens: u64) {
        self.waiting = self.waiting.saturating_add(tokens);
    }

    /// Returns how the tokens in hand compare with their use; `Enough` while no more may be asked
    /// for.
    pub fn stock_level(&self, now: Time, patience: Span) -> StockLevel {
        let in_flight = self.has_call_in_flight(now, patience);
        if let Some(part) = self.part.as_ref().filter(|part| part.has_part(now)) {
            return if !in_flight && part.is_due(now, patience) { StockLevel::Low } else { StockLevel::Enough };
        }
        if in_flight || self.grants.is_full() || self.is_denied(now) {
            return StockLevel::Enough;
        }
        self.slow_start.stock_level(self.grants.left(now))
    }

    /// Takes in the actor's outcome for `demand`, and returns the outcome that stands in this
    /// isolate.
    ///
    /// The two differ only where this isolate has admitted requests on its own: the actor may not
    /// have heard of them yet, and may admit more than the limit allows the caller here.
    pub fn observe(&mut self, demand: &Demand, outcome: &Outcome, horizon: Span, answered: Time) -> Outcome {
        self.horizon = horizon.max(HORIZON);
        self.view.observe(&demand.terms, demand.cost, outcome, answered);
        match *outcome {
            Outcome::Met { .. } => {
                self.denial = None;
                self.slow_start.spend(demand.cost);
                self.last_spent = answered;
                if let (Terms::Rate(gcra), 1..) = (&demand.terms, demand.cost) {
                    if let Some(wait) = self.view.wait_for(demand.cost, answered) {
                        return Outcome::Refused { left: 0, wait, until: None };
                    }
                    self.view.pass(gcra, demand.cost, answered);
                }
            }
            Outcome::Refused { wait, .. } => {
                let believed = self.believed(demand, wait, answered);
                self.denial = Some(Denial::new(&demand.terms, *outcome, believed, answered));
            }
            Outcome::Full { wait } => self.denial = Some(Denial::new(&demand.terms, *outcome, wait, answered)),
            // The next wish is for all demand, answered or not.
            Outcome::Unknown => self.slow_start.spend(demand.cost),
        }
        self.with_part_left(*outcome, answered)
    }

    /// Takes in the actor's answer to a wish; `grant` is `None` if it granted nothing.
    pub fn accept_grant(&mut self, terms: &Terms, grant: Option<Grant>, outcome: &Outcome, round_trip: RoundTrip) {
        self.call_since = None;
        if let (Terms::Rate(gcra), Some(grant)) = (terms, grant) {
            self.view.note_lease(round_trip.answered.plus(grant.first).plus(gcra.interval().times(grant.count)));
        }
        self.grants.drop_lapsed(round_trip.answered);
        match grant.and_then(|grant| Tokens::granted(terms, grant, outcome, round_trip)) {
            Some(granted) => self.grants.add(granted),
            None if self.grants.is_empty() && !matches!(outcome, Outcome::Met { .. }) => self.slow_start.back_off(),
            None => {}
        }
    }

    /// Notes that a question that reported `unreported` tokens got no answer.
    pub fn note_lost(&mut self, unreported: u64) {
        self.call_since = None;
        self.view.restore_unreported(unreported);
    }
}
