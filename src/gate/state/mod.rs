//! The memory of one isolate: state that it keeps between requests about rates and quotas.
//!
//! If it is lost, that costs calls and prepaid tokens. It never admits more than a limit allows.
//!
//! - [`lease_cache`]: leases to spend and denials to remember, per limit and caller
//! - [`tokens`]: the tokens of one grant, in the isolate's hand
//! - [`bucket_view`]: the isolate's view of a bucket, and the debt that its actor has not heard of
//! - [`local_limiter`]: counts in this isolate alone while an actor cannot be reached
//! - [`retry_spread`]: spreads the retries of a refused crowd
//! - [`retry_places`]: places for several requests of one caller that are refused at once
//! - [`fair_share`]: each caller's share of a contended rate
//! - [`call_budget`]: the day's budget of calls to Durable Objects
//! - [`actor_health`]: the actors that fail, and are left alone for a while

pub mod actor_health;
pub mod bucket_view;
pub mod call_budget;
pub mod fair_share;
pub mod lease_cache;
pub mod local_limiter;
pub mod retry_places;
pub mod retry_spread;
pub mod tokens;

use crate::gate::state::actor_health::ActorHealth;
use crate::gate::state::call_budget::CallBudget;
use crate::gate::state::fair_share::FairShares;
use crate::gate::state::lease_cache::LeaseCache;
use crate::gate::state::local_limiter::LocalLimiter;
use std::cell::RefCell;

/// The memory of one isolate's gate. Each part is borrowed for a moment and never across an
/// `await`, since the isolate's requests share it.
#[derive(Debug, Default)]
pub struct GateState {
    /// Leases to spend and denials to remember.
    pub lease_cache: RefCell<LeaseCache>,
    /// Counts of this isolate alone, for limits whose actors cannot be asked.
    pub local_limiter: RefCell<LocalLimiter>,
    /// Which actors fail, and are left alone.
    pub actor_health: RefCell<ActorHealth>,
    /// The day's budget of calls.
    pub call_budget: RefCell<CallBudget>,
    /// Callers' shares of contended rates.
    pub fair_shares: RefCell<FairShares>,
}

impl GateState {
    /// An empty memory. Chance begins from `seed`, which should differ between isolates. `budget`
    /// is the number of calls that may be made a day; `None` without a bound.
    pub fn new(seed: u64, budget: Option<u64>) -> GateState {
        GateState {
            actor_health: RefCell::new(ActorHealth::new(seed)),
            call_budget: RefCell::new(CallBudget::new(budget)),
            ..GateState::default()
        }
    }
}
