//! An isolate on its own: what `on_error = "local"` goes on with while a limit's actor or D1 is away. Each isolate then
//! grants at most what the limit allows, so a caller who reaches many isolates gets as many times more. It begins with what
//! it knows of the limit already, or going on alone would fill every bucket once.

use crate::gate::state::bucket_view::StartingPoint;
use crate::identity::digest::Subject;
use crate::limit::bucket_table::{Bucket, BucketId, BucketTable, Full};
use crate::limit::day_counter::{Counted, DayCounter};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Outcome, Terms};
use hashbrown::HashMap;

/// Callers kept in mind, per kind of limit. Of a quota, those beyond them share 256 counts, by a byte of their digests.
const CAPACITY: usize = 10_000;

/// How often those of past days are looked for.
const SWEEP: Span = Span::from_secs(60);

/// The buckets and tallies of one isolate.
#[derive(Debug)]
pub struct LocalLimiter {
    table: BucketTable,
    day_counters: HashMap<BucketId, DayCounter>,
    /// When those of past days were last looked for.
    swept: Time,
    clock: MonotonicClock,
}

impl Default for LocalLimiter {
    fn default() -> LocalLimiter {
        LocalLimiter {
            table: BucketTable::new(CAPACITY),
            day_counters: HashMap::new(),
            swept: Time::default(),
            clock: MonotonicClock::default(),
        }
    }
}

impl LocalLimiter {
    /// Takes what `demand` asks for, counting in this isolate alone; what it already knows is in `begin`.
    pub fn take(&mut self, demand: &Demand, subject: Option<Subject>, begin: StartingPoint, wall: Time) -> Outcome {
        let now = self.clock.read(wall);
        let id = demand.bucket(subject);
        match &demand.terms {
            Terms::Rate(gcra) => {
                if let Err(Full { wait }) = self.table.reserve(core::iter::once(id), now) {
                    return Outcome::Full { wait };
                }
                let tat = self.table.tat(id).max(now.plus(begin.debt));
                match gcra.take(tat, now, demand.cost) {
                    Ok(tat) => {
                        self.table.put(id, Bucket { tat, ..Bucket::default() });
                        met(gcra.available(tat, now), gcra.until_next_token(tat, now))
                    }
                    Err(no) => Outcome::Refused { left: gcra.available(tat, now), wait: no.wait, until: None },
                }
            }
            Terms::Quota(count, zone) => {
                let day = zone.day(wall);
                let day_counter = self.day_counter(id, demand, subject, wall);
                if let Some(rest) = begin.day.filter(|rest| rest.until == day.end.as_secs()) {
                    day_counter.raise_to(&day, count.saturating_sub(rest.left));
                }
                match day_counter.take(&day, demand.cost, *count) {
                    Counted::Taken { left } => met(left, day.end.since(wall)),
                    Counted::Exhausted { left, until } => {
                        Outcome::Refused { left, wait: until.since(wall), until: Some(until.as_secs()) }
                    }
                }
            }
        }
    }

    /// Gives back what `demand` took a moment ago, for a request that another limit has refused.
    pub fn give_back(&mut self, demand: &Demand, subject: Option<Subject>, wall: Time) {
        let id = demand.bucket(subject);
        match &demand.terms {
            Terms::Rate(gcra) => {
                let tat = self.table.tat(id).minus(gcra.interval().times(demand.cost));
                self.table.put(id, Bucket { tat, ..Bucket::default() });
            }
            Terms::Quota(_, zone) => {
                self.day_counter(id, demand, subject, wall).give_back(&zone.day(wall), demand.cost)
            }
        }
    }

    /// A caller's tally. When there are too many, those of past days make room. None of a day that goes on is ever dropped, or whoever can
    /// make up callers would start the day again.
    fn day_counter(
        &mut self,
        mut id: BucketId,
        demand: &Demand,
        subject: Option<Subject>,
        wall: Time,
    ) -> &mut DayCounter {
        if self.day_counters.len() >= CAPACITY && !self.day_counters.contains_key(&id) {
            if self.swept.plus(SWEEP) <= wall {
                self.swept = wall;
                self.day_counters.retain(|_, day_counter| !day_counter.is_over(wall));
            }
            if self.day_counters.len() >= CAPACITY {
                id = demand.bucket(subject.map(Subject::group));
            }
        }
        self.day_counters.entry(id).or_default()
    }
}

/// Nothing that is taken here can be given back to an actor.
fn met(left: u64, more: Span) -> Outcome {
    Outcome::Met { left, more, slot: Span::ZERO, until: None }
}
