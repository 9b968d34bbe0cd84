//! The Durable Object that holds every bucket. One class serves all scopes; only the objects' names differ.
//!
//! [`counter`] is the protocol, pure and tested on the host; the rest ties it to the platform.

pub mod bucket_actor;
pub mod call;
pub mod client;
pub mod counter;
pub mod disk;
pub mod name;
pub mod purse;
mod quota;
pub mod slots;
pub mod slots_client;
pub mod slots_disk;
pub mod slots_wire;
mod warming;
pub mod wire;
