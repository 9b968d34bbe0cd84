//! The adaptive cap, on simulated origins whose knee is known.

mod bounds;
mod convergence;
mod lender;
mod saved;
mod simulation;
