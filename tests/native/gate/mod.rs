//! The gate over actors in memory: who is charged, who is refused, and what happens when nobody answers.

mod alone;
mod budget;
mod circuit;
mod deadline;
mod failing;
mod fair;
mod fairness;
mod impossible_replies;
mod known;
mod lease_cache;
mod leases;
mod least;
mod plan;
mod returns;
mod support;
