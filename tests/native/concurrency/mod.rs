//! Caps on the requests at the origin: the isolate's side, alone and together with a cap's actor.

mod cap_fleet;
mod caps;
mod heartbeats;
mod permit_lease;
mod plan;
