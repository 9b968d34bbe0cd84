//! Prepaying: every tier spends only what the tier above has already written down as spent.
//!
//! Think of a limit's schedule as slots, one emission interval T apart. *An admission at time t owns one slot s with t ≤ s ≤ t + τ
//! (τ = (burst − 1) · T), and no slot is owned twice.* So the admissions in any span d own different slots within d + τ, and there are
//! at most d / T + burst of them, whoever admitted them, in whatever order, and whatever was lost. Plain GCRA does this: it gives an
//! admission the slot max(TAT, t). A [`Lease`] is a slice of the schedule given away at once; its holder spends slot s while
//! s − τ ≤ now ≤ s. The upper end matters as much as the lower: tokens kept past their slots would add to a burst that the
//! bucket has meanwhile regained.
//!
//! All three holders size what they take by the same slow start, a [`SlowStart`]: one token at a time until they spend quickly, then twice
//! as much, up to what they use within a horizon.
//!
//! | holder | takes from | what | what a crash loses |
//! |---|---|---|---|
//! | isolate | actor | a lease, or a part of a chunk | what it has not spent; each grant is at most a [`SHARE`] of the bucket and a horizon |
//! | actor | its disk | a TAT ahead of the true one | how far ahead it was: at most a [`SHARE`] of the bucket |
//! | actor | D1 | a chunk of the day's quota | what it has not spent: two chunks, each at most a [`SHARE`] of the day's rest |

mod grant;
mod saved_tat;
mod slots;
mod slow_start;

pub use grant::{Granted, Horizon, Wish, ahead, grant, leasable};
pub use saved_tat::SavedTat;
pub use slots::Lease;
pub use slow_start::{SlowStart, StockLevel};

use crate::limit::time::Span;

/// No holder is given more than one part in so many of what is there, so that near the limit grants shrink and nobody
/// starves the others.
pub const SHARE: u64 = 8;

/// The shortest horizon: how long a grant should last. Long enough that a caller of a few hundred requests a second costs a few
/// calls a second; short enough that little is lost when it stops.
pub const HORIZON: Span = Span::from_millis(500);

/// The longest, to which an actor with too many calls stretches.
pub const LONGEST_HORIZON: Span = Span::from_secs(10);
