//! A caller and the weight with which it counts in fair shares.

use crate::identity::digest::Subject;
use crate::policy::Priority;

/// A caller that may have a share of a contended rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The digest of its key, or of its address if it has no key.
    pub subject: Subject,
    /// The digest of its address.
    pub address: Subject,
    /// The weight of this request; see [`weight`].
    pub weight: u32,
}

/// Returns the weight of a request: a caller of weight 4 gets twice the share of one of weight 2.
pub fn weight(priority: Priority) -> u32 {
    match priority {
        Priority::High => 4,
        Priority::Normal => 2,
        Priority::Low => 1,
    }
}
