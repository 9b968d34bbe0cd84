//! An isolate that counts for itself: the limiter of `on_error = "local"`, while the actor of a
//! limit or D1 cannot be reached.
//!
//! Each isolate grants at most the limit, so a client that reaches *n* isolates gets at most *n*
//! times the limit. The limiter starts from the isolate's view of the bucket. Otherwise each outage
//! would fill every bucket once.

use crate::gate::state::bucket_view::StartingPoint;
use crate::identity::digest::Subject;
use crate::limit::bucket_table::{Bucket, BucketId, BucketTable, Full};
use crate::limit::day_counter::{Counted, DayCounter};
use crate::limit::debt::Debt;
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Outcome, Terms};
use hashbrown::HashMap;

/// Callers counted one by one, for rates and for quotas each. Newcomers to a full table of rates
/// are refused; newcomers to a full table of quotas share 256 counters, by a byte of their digests.
const CAPACITY: usize = 10_000;

/// The least time between two searches for counters of past days. Each one looks through all
/// counters.
const SWEEP: Span = Span::from_secs(60);

/// The buckets and day counters of one isolate.
#[derive(Debug)]
pub struct LocalLimiter {
    table: BucketTable,
    day_counters: HashMap<BucketId, DayCounter>,
    /// When counters of past days were last searched for.
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
    /// Takes the cost of `demand`, counting in this isolate alone. The bucket is at least as empty
    /// as `start` says.
    pub fn take(&mut self, demand: &Demand, subject: Option<Subject>, start: StartingPoint, wall: Time) -> Outcome {
        let now = self.clock.read(wall);
        let id = demand.bucket(subject);
        match &demand.terms {
            Terms::Rate(gcra) => {
                if let Err(Full { wait }) = self.table.reserve(core::iter::once(id), now) {
                    return Outcome::Full { wait };
                }
                let tat = self.table.get(id).debt.tat().max(now.plus(start.debt));
                match gcra.take(tat, now, demand.cost) {
                    Ok(tat) => {
                        self.table.put(id, bucket(tat));
                        passed(gcra.available(tat, now), gcra.until_next_token(tat, now))
                    }
                    Err(no) => Outcome::Refused { left: gcra.available(tat, now), wait: no.wait, until: None },
                }
            }
            Terms::Quota(count, zone) => {
                let day = zone.day(wall);
                let day_counter = self.day_counter(id, demand, subject, wall);
                if let Some(known) = start.day.filter(|known| known.until == day.end.as_secs()) {
                    day_counter.raise_to(&day, count.saturating_sub(known.left));
                }
                match day_counter.take(&day, demand.cost, *count) {
                    Counted::Taken { left } => passed(left, day.end.since(wall)),
                    Counted::Exhausted { left, until } => {
                        Outcome::Refused { left, wait: until.since(wall), until: Some(until.as_secs()) }
                    }
                }
            }
        }
    }

    /// Gives back the cost that `demand` took at `taken`, by the wall clock, for a request that
    /// does not use it. Tokens of a rate go back only while time cannot have repaid them.
    pub fn give_back(&mut self, demand: &Demand, subject: Option<Subject>, taken: Time, wall: Time) {
        let id = demand.bucket(subject);
        match &demand.terms {
            Terms::Rate(gcra) => {
                let now = self.clock.read(wall);
                if !gcra.may_be_repaid(demand.cost, taken, now) {
                    let tat = self.table.get(id).debt.tat().minus(gcra.interval().times(demand.cost));
                    self.table.put(id, bucket(tat));
                }
            }
            Terms::Quota(_, zone) => {
                self.day_counter(id, demand, subject, wall).give_back(&zone.day(taken), demand.cost)
            }
        }
    }

    /// Returns the counter of a caller's day.
    ///
    /// A full table drops counters of past days. It never drops the counter of a day that is not
    /// over, because a client that can make up callers would then start its day again.
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

/// Returns a bucket that lives in this isolate alone, whose policy never changes.
fn bucket(tat: Time) -> Bucket {
    Bucket { debt: Debt::of_tat(tat), ..Bucket::default() }
}

/// Returns the outcome of a take that was granted. It names neither a slot nor a day, because
/// nothing that is taken here can be given back to an actor.
fn passed(left: u64, more: Span) -> Outcome {
    Outcome::Met { left, more, slot: Span::ZERO, until: None }
}
