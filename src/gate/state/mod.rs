//! The memory of one isolate: state that it keeps between requests about rates and quotas.
//!
//! If it is lost, that costs calls and prepaid tokens. It never admits more than a limit allows.
//!
//! - [`lease_cache`]: leases to spend and denials to remember, per limit and caller
//! - [`tokens`]: the tokens of one grant, in the isolate's hand
//! - [`bucket_view`]: the isolate's view of a bucket, and the debt that its actor has not heard of
//! - [`local_limiter`]: counts in this isolate alone while an actor cannot be reached
//! - [`retry_spread`]: spreads the retries of a refused crowd
//! - [`fair_share`]: each caller's share of a contended rate
//! - [`call_budget`]: the day's budget of calls to Durable Objects
//! - [`actor_health`]: the actors that fail, and are left alone for a while

pub mod actor_health;
pub mod bucket_view;
pub mod call_budget;
pub mod fair_share;
pub mod lease_cache;
pub mod local_limiter;
pub mod retry_spread;
pub mod tokens;
