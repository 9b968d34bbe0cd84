//! The lender's memory of one holder.

use crate::limit::time::Time;
use crate::protocol::permits::Reserve;

/// One holder of a cap's permits, or an isolate that has lately asked for some and got none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    /// Permits lent to it.
    pub(super) permits: u64,
    /// The end of their term. The lender may then lend them to others.
    pub(super) until: Time,
    /// Permits that it could use when it last asked, at most the cap.
    pub(super) wants: u64,
    /// The reserve of the requests that it last asked for.
    pub(super) reserve: Reserve,
    /// When it last asked; zero for a holding that was restored from its row.
    pub(super) asked: Time,
    /// The number of its last question.
    pub(super) number: u64,
    /// The end of its row's validity on disk; `None` if it has no row.
    pub(super) row_until: Option<Time>,
    /// The most requests that it had in flight at once, in its last report.
    pub(super) peak: u64,
    /// The size of the cap in its last reply; 0 if it has had none.
    pub(super) reported_cap: u64,
}
