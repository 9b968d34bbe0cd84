//! The usage of the limits that a request has met, as its client is told.

use crate::limit::time::Span;
use crate::policy::Limit;
use core::cmp::Reverse;

/// Limits whose usage is kept without an allocation. More make each decision larger; with fewer,
/// requests that meet more limits allocate.
const INLINE: usize = 8;

/// How much a limit has left for its caller after a request.
#[derive(Clone, Copy, Debug)]
pub struct LimitUsage<'p> {
    /// The limit.
    pub limit: &'p Limit,
    /// Whole tokens left.
    pub left: u64,
    /// How long until there is one more token; zero for a full bucket.
    pub more: Span,
}

/// The usage of the caller's own limits, in the order in which the request met them.
#[derive(Clone, Debug, Default)]
pub struct Usages<'p> {
    first: [Option<LimitUsage<'p>>; INLINE],
    more: Vec<LimitUsage<'p>>,
}

impl<'p> Usages<'p> {
    /// Adds the usage of one limit more.
    pub fn push(&mut self, usage: LimitUsage<'p>) {
        match self.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(usage),
            None => self.more.push(usage),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = LimitUsage<'p>> {
        self.first.iter().map_while(|usage| *usage).chain(self.more.iter().copied())
    }

    /// The usage of the limit with the fewest requests left; of equal ones, the one whose next
    /// token takes the longest. `None` if no limit is known.
    pub fn tightest(&self) -> Option<LimitUsage<'p>> {
        let requests = |usage: &LimitUsage<'_>| usage.left.checked_div(usage.limit.cost);
        self.iter().min_by_key(|usage| (requests(usage), Reverse(usage.more)))
    }
}
