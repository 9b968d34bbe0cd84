//! Caps on the requests at the origin at once (`in_flight`, `sockets`): the isolate's side.
//!
//! - [`plan`]: the caps that a request meets
//! - [`caps`]: a request's way through its caps
//! - [`admit`]: a request's way to a permit of one cap
//! - [`permit_calls`]: calls to the actors of caps, and the return of idle permits
//! - [`lease_table`]: all permit leases of one isolate, and the guard of a request's permit
//! - [`permit_lease`]: the permits of one cap, and which requests use them
//! - [`heartbeats`]: which requests are still there
//! - [`per_reserve`]: one number for each reserve
//!
//! # The rule
//!
//! One actor per cap lends permits to isolates for a term. An isolate uses them for one request
//! after another without asking, and renews them while it needs them. Below, `cap` is the size of
//! the cap, `held` the number of permits that an isolate holds, and `held(r)` the number of them
//! that requests with the reserve `r` may use.
//!
//! **Invariant:** before a request that must leave the reserve `r` starts,
//! `in flight + queued ahead < held(r)`. All requests of the isolate that are in flight count,
//! whatever their priority. `queued ahead` are the requests of a higher priority that wait, or that
//! found no permit a moment ago: they take the permits of lower ones as these end.
//!
//! **Invariant:** `Σ held ≤ Σ lent ≤ cap` over all isolates. The actor saves what it lends before
//! it answers. The isolate counts the term from when it asked, the actor from when it read the
//! question, so the isolate's term ends first. Only the isolate can make `held` smaller or end its
//! term early, and it stops using permits before it asks the actor to take them back. So a crash or
//! a lost message costs permits until their term ends, and never lends one twice.
//!
//! **Invariant:** `Σ held(r) ≤ cap − r.of_cap(cap)` over all isolates, for each
//! [`Reserve`](crate::protocol::permits::Reserve) `r`. An answer raises `held(r)` to at most
//! `cap − r.of_cap(cap)` less the permits that the other isolates hold at that time, so it stays
//! clear of the reserve even if all of these are in use. It grows by the actor's word alone. It
//! shrinks when the isolate gives up permits, when an answer brings fewer permits or a smaller cap,
//! and when the term ends.
//!
//! Exceptions: a cap that was made smaller takes no permit from a request in flight. An isolate
//! that lives and cannot reach the actor for a whole term starts no more requests, and the requests
//! that it has in flight go on. Where a cap cannot be checked, `on_error` may let requests pass.
//!
//! An instance of the Worker's module that fails leaves its permits and its requests in flight to
//! the next instance in the same isolate, which holds permits under the same number
//! ([`Holder`](crate::protocol::permits::Holder)).

pub mod admit;
pub mod caps;
pub mod heartbeats;
pub mod lease_table;
pub mod per_reserve;
pub mod permit_calls;
pub mod permit_lease;
pub mod plan;
