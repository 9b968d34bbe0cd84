//! Rates and quotas at one actor.

mod answer;
mod buckets;
mod quota;
mod takeover;
