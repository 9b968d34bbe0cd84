//! One demand of a question, with the bucket or the account that it is about.

use crate::actor::rates::prepaid_quota::Account;
use crate::identity::digest::Subject;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Day;
use crate::limit::gcra::Gcra;
use crate::limit::time::Time;
use crate::protocol::rates::{Ask, Demand, Terms};

/// A demand, and the place of its state.
pub(crate) struct DemandBucket<'a> {
    /// The demand.
    pub demand: &'a Demand,
    /// The name of the limit's bucket for this subject.
    pub id: BucketId,
    /// The caller; `None` for a `global` limit.
    pub subject: Option<Subject>,
    /// The quota's current day; `None` for a rate.
    pub day: Option<Day>,
}

impl<'a> DemandBucket<'a> {
    /// Finds the bucket of `demand`, and the day of a quota at the wall time `wall`.
    pub(crate) fn of(ask: &Ask, demand: &'a Demand, wall: Time) -> DemandBucket<'a> {
        let day = match &demand.terms {
            Terms::Rate(_) => None,
            Terms::Quota(_, zone) => Some(zone.day(wall)),
        };
        DemandBucket { demand, id: demand.bucket(ask.subject), subject: ask.subject, day }
    }

    /// The bucket's shape; `None` for a quota.
    pub(crate) fn rate(&self) -> Option<Gcra> {
        match self.demand.terms {
            Terms::Rate(gcra) => Some(gcra),
            Terms::Quota(..) => None,
        }
    }

    /// The quota's account; `None` for a rate.
    pub(crate) fn account(&self) -> Option<Account<'_>> {
        match (&self.demand.terms, &self.day) {
            (Terms::Quota(count, _), Some(day)) => {
                Some(Account { id: self.id, limit: &self.demand.limit, subject: self.subject, day, count: *count })
            }
            _ => None,
        }
    }
}
