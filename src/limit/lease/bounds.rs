//! How much a holder may have, and for how long.

use crate::limit::time::Span;

/// A holder gets at most one part in `SHARE` of the tokens that are left. Near the limit grants
/// therefore shrink, and no holder starves the others.
pub const SHARE: u64 = 8;

/// The shortest horizon, which is how long a grant should last. A longer one would lose more tokens
/// when a caller stops. A shorter one would cost more calls; with this one, a caller of a few
/// hundred requests per second causes a few calls per second.
pub const HORIZON: Span = Span::from_millis(500);

/// The longest horizon, to which an actor with too many calls stretches it.
pub const LONGEST_HORIZON: Span = Span::from_secs(10);
