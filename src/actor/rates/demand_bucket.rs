//! One demand of a question, with the bucket or the account that it is about.

use crate::actor::rates::former_names::FormerNames;
use crate::actor::rates::prepaid_quota::Account;
use crate::identity::digest::Subject;
use crate::limit::bucket_table::BucketId;
use crate::limit::calendar::Day;
use crate::limit::debt::Debt;
use crate::limit::gcra::Gcra;
use crate::limit::time::Time;
use crate::protocol::rates::{Ask, Demand, Terms, bucket_id};
use std::borrow::Cow;

/// A demand, and the place of its state.
pub(crate) struct DemandBucket<'a> {
    /// The demand.
    pub demand: &'a Demand,
    /// The counter; or the limit's printed name, if no counter was asked for yet.
    pub name: Cow<'a, str>,
    /// The name of the counter's bucket for this subject.
    pub id: BucketId,
    /// The caller; `None` for a `global` limit.
    pub subject: Option<Subject>,
    /// The quota's current day; `None` for a rate.
    pub day: Option<Day>,
}

impl<'a> DemandBucket<'a> {
    /// Finds the bucket of `demand`, and the day of a quota at the wall time `wall`.
    pub(crate) fn of(ask: &Ask, demand: &'a Demand, names: &mut FormerNames, wall: Time) -> DemandBucket<'a> {
        let day = match &demand.terms {
            Terms::Rate(_) => None,
            Terms::Quota(_, zone) => Some(zone.day(wall)),
        };
        let name = names.name_of(demand);
        let id = bucket_id(&name, ask.subject);
        DemandBucket { demand, name, id, subject: ask.subject, day }
    }

    /// The bucket's shape; `None` for a quota.
    pub(crate) fn rate(&self) -> Option<Gcra> {
        match self.demand.terms {
            Terms::Rate(gcra) => Some(gcra),
            Terms::Quota(..) => None,
        }
    }

    /// Whether the state is kept under a printed name, as an earlier version kept it.
    fn is_by_name(&self) -> bool {
        *self.name == self.demand.limit
    }

    /// Puts the bucket's debt under the terms of the question; whether that changed it. A debt
    /// under a printed name has no terms of its own.
    pub(crate) fn ask(&self, debt: &mut Debt, gcra: &Gcra, now: Time) -> bool {
        !self.is_by_name() && debt.ask(gcra, now)
    }

    /// The quota's account; `None` for a rate.
    pub(crate) fn account(&self) -> Option<Account<'_>> {
        let (Terms::Quota(count, _), Some(day)) = (&self.demand.terms, &self.day) else { return None };
        let Demand { limit, .. } = self.demand;
        let former = (!self.is_by_name()).then_some(limit.as_str());
        Some(Account { id: self.id, limit, name: &self.name, former, subject: self.subject, day, count: *count })
    }
}
