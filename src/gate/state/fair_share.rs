//! Each caller's share of a crowded shared rate.
//!
//! While a shared rate has lately refused somebody in this isolate, nobody here is given more than a level per second: as much as lets
//! everyone have the same, if those who want less are given what they want (max-min fairness). A caller whose binding has a higher `priority`
//! counts for more: 4 where it is high, 2 where it is normal, 1 where it is low.
//!
//! How much there is for all is what the rate gave out here within the last second, and a little more, or what it gave out before where
//! it has refused nobody since: nobody knows what other isolates will take, and what one leaves is to be used by another. A caller is charged
//! in time: as long as its share needs to bring what it has taken. What another limit refuses is not charged, and nothing is counted where
//! nothing is crowded.

use crate::identity::digest::Subject;
use crate::limit::gcra::Gcra;
use crate::limit::time::{Span, Time};
use crate::policy::Priority;
use contended_rate::ContendedRate;

mod contended_rate;

/// How much a request's caller counts for.
pub fn weight(priority: Priority) -> u32 {
    match priority {
        Priority::High => 4,
        Priority::Normal => 2,
        Priority::Low => 1,
    }
}

/// The crowded rates of one isolate, by their limits' numbers.
#[derive(Debug, Default)]
pub struct FairShares {
    rates: Vec<(u32, ContendedRate)>,
}

/// A caller, and how much it counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its key's digest where it has one, else its address's.
    pub subject: Subject,
    /// Its address's.
    pub address: Subject,
    /// What this request of it counts for; see [`weight`].
    pub weight: u32,
}

impl FairShares {
    fn rate(&mut self, limit: u32) -> Option<&mut ContendedRate> {
        self.rates.iter_mut().find(|(number, _)| *number == limit).map(|(_, rate)| rate)
    }

    /// How many callers are kept in mind.
    pub fn len(&self) -> usize {
        self.rates.iter().map(|(_, rate)| rate.len()).sum()
    }

    /// Whether nothing is crowded.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Notes that the caller asks for `cost` tokens. How long until its share of this limit has room; `None` where it has now, or
    /// nobody has to wait.
    pub fn wait_for(&mut self, limit: u32, caller: Caller, cost: u64, now: Time) -> Option<Span> {
        self.rates.retain(|(_, rate)| !rate.is_over(now));
        self.rate(limit)?.wait_for(caller, cost, now)
    }

    /// Takes back what [`over`](FairShares::over) has noted: it was not this rate that refused the caller.
    pub fn refund(&mut self, limit: u32, caller: Caller, cost: u64, now: Time) {
        if let Some(rate) = self.rate(limit) {
            rate.refund(caller, cost, now);
        }
    }

    /// Notes that `cost` tokens were given out.
    pub fn note_given(&mut self, limit: u32, cost: u64) {
        if let Some(rate) = self.rate(limit) {
            rate.note_given(cost);
        }
    }

    /// Notes that the rate, whatever it was, is not crowded any more.
    pub fn end(&mut self, limit: u32, now: Time) {
        if let Some(rate) = self.rate(limit) {
            rate.end(now);
        }
    }

    /// Notes that the rate had no room for the caller.
    pub fn refused(&mut self, limit: u32, gcra: &Gcra, caller: Caller, cost: u64, now: Time) {
        if self.rate(limit).is_none() {
            self.rates.push((limit, ContendedRate::new(gcra, now)));
        }
        if let Some(rate) = self.rate(limit) {
            rate.refused(caller, cost, now);
        }
    }
}
