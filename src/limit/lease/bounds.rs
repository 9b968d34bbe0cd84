//! How much a holder may have, and for how long.

use crate::limit::time::Span;

/// The tokens that are left, divided by this, are the most that a holder gets to spend later: an
/// eighth. Near the limit grants therefore shrink, and no holder starves the others. Requests that
/// wait for tokens of a rate may get all that are left.
pub const PREPAY_DIVISOR: u64 = 8;

/// The shortest horizon, which is how long a grant should last. A longer one would lose more tokens
/// when a caller stops. A shorter one would cost more calls; with this one, a caller of a few
/// hundred requests per second causes a few calls per second.
pub const HORIZON: Span = Span::from_millis(500);

/// The longest horizon, to which an actor with too many calls stretches it.
pub const LONGEST_HORIZON: Span = Span::from_secs(10);
