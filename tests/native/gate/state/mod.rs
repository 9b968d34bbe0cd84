//! The memory of one isolate: leases, debts, shares and turns.

mod actor_health;
mod bucket_view;
mod call_budget;
mod fair_share;
mod lease_cache;
mod local_limiter;
mod retry_places;
mod retry_spread;
