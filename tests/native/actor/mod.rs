//! The actor's protocol on the host.

mod counter;
mod faults;
mod quota;
mod wire;
