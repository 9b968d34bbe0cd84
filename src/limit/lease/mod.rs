//! Prepaying: each tier spends only tokens that the tier above has already written down as spent.
//!
//! - `slice`: the [`Lease`], a slice of a rate's schedule that its holder spends without asking.
//! - `grant`: how many slots an actor gives in reply to a wish, and for how long.
//! - `saved_tat`: the TAT on an actor's disk, which runs ahead of the true one.
//! - `bounds`: how much a holder may have, and for how long.
//! - `slow_start`: how many tokens a holder asks for.
//!
//! **Why this is exact.** The schedule of a limit is a row of slots, one emission interval T apart.
//! With τ = (burst − 1) × T:
//!
//! > An admission at time t owns one slot s with t ≤ s ≤ t + τ, and no slot is owned twice.
//!
//! The admissions within any span d therefore own different slots within a span d + τ. There are at
//! most d / T + burst of them, whoever admits them, in whatever order, and whatever is lost.
//!
//! Plain GCRA keeps this rule: it gives an admission the slot max(TAT, t). A [`Lease`] is a slice
//! of the schedule that is given away at once; its holder spends slot s while s − τ ≤ now ≤ s. The
//! upper end matters as much as the lower: a token kept past its slot would add to a burst that the
//! bucket has regained meanwhile.
//!
//! Every holder sizes its wishes by the same [`SlowStart`]: one token at a time until it spends
//! quickly, then twice as many each time, up to its use within a horizon.
//!
//! Three holders prepay. A crash loses the tokens that the holder has not spent yet:
//!
//! - An isolate takes a lease, or a part of a chunk, from an actor. A lease to spend later is at
//!   most an eighth of the bucket, and should last a horizon. A lease for requests that wait may be
//!   all that is left.
//! - An actor saves a TAT ahead of the true one on its disk. The lead is at most an eighth of the
//!   bucket.
//! - An actor takes a chunk of the day's quota from D1 when it has too few tokens for a question. A
//!   chunk is at most an eighth of the rest of the day, as D1 last gave it. Questions that wait for
//!   D1 at the same time take a chunk each.
//!
//! The eighth is one part in [`PREPAY_DIVISOR`].

mod bounds;
mod grant;
mod saved_tat;
mod slice;
mod slow_start;

pub use bounds::{HORIZON, LONGEST_HORIZON, PREPAY_DIVISOR};
pub use grant::{GrantedSlots, Horizon, Wish, grant, leasable, max_lead};
pub use saved_tat::SavedTat;
pub use slice::Lease;
pub use slow_start::{SlowStart, StockLevel};
