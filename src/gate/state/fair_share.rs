//! Each caller's share of a contended rate (max-min fairness).
//!
//! A rate that everyone shares is contended while it has lately refused a request in this isolate.
//! Meanwhile each caller gets at most a share: share ≤ `share_level` × weight, in tokens per
//! nanosecond. The level is the highest at which all shares together fit into the supply. Callers
//! that want less than their share get all they want, and the rest is divided among the others. The
//! weight follows from the `priority` of the binding: 4 for high, 2 for normal, 1 for low.
//!
//! The supply is the number of tokens that the rate gave out here in the last second, and a little
//! more to find out whether there are more. It does not sink while the rate refuses nobody, because
//! the others may use the tokens that one caller leaves. The isolate cannot know what other
//! isolates will take.
//!
//! A caller is charged in time: the time in which its share brings the tokens that it has taken. It
//! is not charged for a request that another limit refuses. While no rate is contended, nothing is
//! counted.
//!
//! - `caller`: a caller and its weight
//! - `contended_rate`: the supply and the share level of one rate
//! - `shares`: the tokens that each caller of one rate asked for and has taken

use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use contended_rate::ContendedRate;

mod caller;
mod contended_rate;
mod shares;

pub use caller::{Caller, weight};

/// The contended rates of one isolate, by the numbers of their limits.
#[derive(Debug, Default)]
pub struct FairShares {
    rates: Vec<(u64, ContendedRate)>,
}

impl FairShares {
    fn rate(&mut self, limit: u64) -> Option<&mut ContendedRate> {
        self.rates.iter_mut().find(|(number, _)| *number == limit).map(|(_, rate)| rate)
    }

    /// Returns the number of shares that are kept, over all rates.
    pub fn len(&self) -> usize {
        self.rates.iter().map(|(_, rate)| rate.len()).sum()
    }

    /// Whether no rate is contended.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Counts that `caller` asks for `cost` tokens. Returns how long until its share has room for
    /// them; `None` if it has room now, and is charged, or if the rate is not contended.
    pub fn wait_for(&mut self, limit: u64, caller: Caller, cost: u64, now: Time) -> Option<Span> {
        self.rates.retain(|(_, rate)| !rate.is_over(now));
        self.rate(limit)?.wait_for(caller, cost, now)
    }

    /// Takes back the charge of [`wait_for`](FairShares::wait_for), because another limit or a cap
    /// refused the request.
    pub fn refund(&mut self, limit: u64, caller: Caller, cost: u64, now: Time) {
        if let Some(rate) = self.rate(limit) {
            rate.refund(caller, cost, now);
        }
    }

    /// Counts `cost` tokens that the rate gave out.
    pub fn note_given(&mut self, limit: u64, cost: u64) {
        if let Some(rate) = self.rate(limit) {
            rate.note_given(cost);
        }
    }

    /// Ends the contention of a rate, if it is contended.
    pub fn end(&mut self, limit: u64, now: Time) {
        if let Some(rate) = self.rate(limit) {
            rate.end(now);
        }
    }

    /// Notes that the rate itself refused `caller`. The rate is contended from now on.
    pub fn refused(&mut self, limit: u64, gcra: &Gcra, caller: Caller, cost: u64, now: Time) {
        if self.rate(limit).is_none() {
            self.rates.push((limit, ContendedRate::new(gcra, now)));
        }
        if let Some(rate) = self.rate(limit) {
            rate.refused(caller, cost, now);
        }
    }
}
