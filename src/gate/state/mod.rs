//! What one isolate remembers between requests about rates and quotas. It is lost without harm: that costs calls, never correctness.
//!
//! - [`lease_cache`]: leases to spend and denials to remember, per limit and subject
//! - [`tokens`]: tokens in the isolate's hand
//! - [`bucket_view`]: what the isolate knows of a bucket, and the debt that its actor has not heard of
//! - [`local_limiter`]: counts in this isolate alone while an actor cannot be reached
//! - [`retry_spread`]: spreads the retries of a refused crowd
//! - [`fair_share`]: each caller's share of a crowded rate
//! - [`call_budget`]: the day's budget of calls to Durable Objects
//! - [`actor_health`]: which actors fail, and are left alone

pub mod actor_health;
pub mod bucket_view;
pub mod call_budget;
pub mod fair_share;
pub mod lease_cache;
pub mod local_limiter;
pub mod retry_spread;
pub mod tokens;
