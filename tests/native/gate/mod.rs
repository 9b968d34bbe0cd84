//! The gate over actors in memory. A file has the tests of the source file of its name, except:
//!
//! - `impossible_replies`: a gate whose actor gives answers that no correct actor can give
//! - `interleavings`: one isolate whose questions are answered late, never, or in any order
//! - `support`: a deployment in memory, and faults to inject
//! - `askers`: simulated callers

mod askers;
mod background;
mod deadline;
mod decide;
mod impossible_replies;
mod interleavings;
mod on_error;
mod parts;
mod plan;
mod retry_after;
mod share_check;
mod state;
mod support;
mod unused_tokens;
mod usages;
