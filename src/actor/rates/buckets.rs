//! What an actor does with a question: look, prepay quotas from D1, look again and take.
//!
//! Only D1 makes it wait, and while it waits other questions are served. So nothing is taken before the last wait
//! is over: what D1 has already counted stays in the asker's hand, and goes to the purse if a limit refuses after all.

use crate::actor::rates::prepaid_quota::PrepaidQuotas;
use crate::actor::rates::quota::{CountedTokens, prepay};
use crate::identity::digest::Subject;
use crate::ledger::{Ledger, UnusedQuota};
use crate::limit::bucket_table::{Bucket, BucketId, BucketTable, Full};
use crate::limit::calendar::Day;
use crate::limit::gcra::{Gcra, NotBefore};
use crate::limit::lease::{Horizon, LONGEST_HORIZON, SavedTat, Wish, grant, max_lead};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::limit::warmup::{SavedWarmup, Warmup};
use crate::protocol::circuit_breaker::CircuitBreaker;
use crate::protocol::rates::{Ask, Demand, Enforcement, Grant, Intent, Outcome, Reply, Terms};
use std::cell::RefCell;

/// How many buckets one actor keeps: about 10 MB of memory, a small part of what its isolate may use.
pub const CAPACITY: usize = 100_000;

/// The actor's storage.
pub trait BucketStore {
    /// Saves a bucket's TAT before its tokens are handed out; returns the rows written.
    ///
    /// # Errors
    /// A sentence, where the storage refuses. Nothing may be handed out then.
    fn save(&self, id: BucketId, tat: Time) -> Result<u32, String>;

    /// Saves how warm a bucket is, in one row; returns the rows written.
    ///
    /// # Errors
    /// A sentence, where the storage refuses. Nothing may be handed out then.
    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String>;
}

/// Everything an actor keeps in memory.
#[derive(Debug)]
pub struct Buckets {
    pub(crate) table: BucketTable,
    pub(crate) purse: PrepaidQuotas,
    /// Whether D1 is left alone.
    pub(crate) ledger: CircuitBreaker,
    clock: MonotonicClock,
    horizon: Horizon,
    /// The shared rates that open slowly: an actor has one, or none.
    pub(crate) warm: Vec<(BucketId, Warmup)>,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets::with_capacity(CAPACITY)
    }
}

/// A demand, and where its state is kept.
pub(crate) struct DemandBucket<'a> {
    pub demand: &'a Demand,
    pub id: BucketId,
    pub subject: Option<Subject>,
    pub day: Option<Day>,
}

/// Whether a question's tokens were taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    All,
    Nothing,
}

/// Answers `ask`. `wall` reads the wall clock.
///
/// # Errors
/// A sentence, where the storage fails; then nothing was taken.
pub async fn answer(
    counter: &RefCell<Buckets>,
    ask: &Ask,
    disk: &impl BucketStore,
    ledger: &impl Ledger,
    wall: impl Fn() -> Time,
) -> Result<Reply, String> {
    let begun = wall();
    let targets: Vec<DemandBucket> = ask.demands.iter().map(|demand| DemandBucket::of(ask, demand, begun)).collect();
    let mut reply = counter.borrow_mut().open(&targets, ask.horizon, disk, begun)?;
    if ask.intent == Intent::Peek {
        return Ok(reply);
    }
    let mut hand = Vec::new();
    if !refuses(&targets, &reply.outcomes) {
        hand = prepay(counter, ask, &targets, &mut reply, ledger, &wall).await;
        counter.borrow_mut().look_again(&targets, &mut reply, wall());
    }

    let mut counter = counter.borrow_mut();
    let taken = if refuses(&targets, &reply.outcomes) { Taken::Nothing } else { Taken::All };
    let handed = counter.hand_out(&targets, taken, ask, disk, &mut reply, wall());
    if taken == Taken::Nothing || handed.is_err() {
        let now = counter.now(wall());
        for CountedTokens { account, tokens, granted } in hand {
            counter.purse.deposit(account, tokens, now);
            if let Some(granted) = reply.grants.get_mut(granted) {
                *granted = None;
            }
        }
    }
    handed.map(|()| reply)
}

impl<'a> DemandBucket<'a> {
    fn of(ask: &Ask, demand: &'a Demand, wall: Time) -> DemandBucket<'a> {
        let day = match &demand.terms {
            Terms::Rate(_) => None,
            Terms::Quota(_, zone) => Some(zone.day(wall)),
        };
        DemandBucket { demand, id: demand.bucket(ask.subject), subject: ask.subject, day }
    }

    fn rate(&self) -> Option<Gcra> {
        match self.demand.terms {
            Terms::Rate(gcra) => Some(gcra),
            Terms::Quota(..) => None,
        }
    }
}

impl Buckets {
    /// A counter without any debt, for at most `capacity` buckets.
    pub fn with_capacity(capacity: usize) -> Buckets {
        Buckets {
            table: BucketTable::new(capacity),
            purse: PrepaidQuotas::default(),
            ledger: CircuitBreaker::default(),
            clock: MonotonicClock::default(),
            horizon: Horizon::default(),
            warm: Vec::new(),
        }
    }

    /// Takes over a bucket that an earlier life of the actor saved.
    pub fn restore(&mut self, id: BucketId, saved: Time) {
        self.table.put(id, Bucket { tat: saved, saved: SavedTat::exact(saved) });
    }

    /// Takes out quota tokens that nobody has asked for lately; see [`PrepaidQuotas::idle`].
    pub fn idle(&mut self, wall: Time) -> Option<UnusedQuota> {
        let now = self.now(wall);
        self.purse.idle(now)
    }

    /// Whether D1 is left alone for a while.
    pub fn leaves_ledger_alone(&self) -> bool {
        self.ledger.is_open()
    }

    /// Whether it holds quota tokens that may have to be given back.
    pub fn holds_quota(&self) -> bool {
        self.purse.holds()
    }

    /// The steady time at which the wall clock reads `wall`.
    pub(crate) fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// Puts the buckets in order, lets them pay what is owed, and says what each limit would say now. A quota that is not known
    /// to be used up counts as met.
    fn open(
        &mut self,
        targets: &[DemandBucket<'_>],
        horizon: Span,
        disk: &impl BucketStore,
        wall: Time,
    ) -> Result<Reply, String> {
        let now = self.now(wall);
        let horizon = self.horizon.record_call(now).max(horizon).min(LONGEST_HORIZON);
        let mut reply = Reply { horizon, grants: vec![None; targets.len()], ..Reply::default() };
        for target in targets {
            let Some(gcra) = target.rate() else { continue };
            reply.rows = reply.rows.saturating_add(self.warm_up(target, &gcra, disk, now)?);
            let bucket = self.table.get(target.id);
            // What is cut down is cut down on the disk too, or the next life of the actor would begin with it again.
            let settled = gcra.clamp_tat(bucket.tat, now, max_lead(&gcra, target.demand.cost));
            if settled < bucket.tat {
                reply.rows = reply.rows.saturating_add(disk.save(target.id, settled)?);
                self.table.put(target.id, Bucket { tat: settled, saved: SavedTat::exact(settled) });
            }
            let owed = target.demand.unreported.min(gcra.available(settled, now));
            if owed > 0
                && self.reserve(core::slice::from_ref(target), now).is_ok()
                && let Ok(tat) = gcra.take(settled, now, owed)
            {
                let saved = self.table.get(target.id).saved;
                self.table.put(target.id, Bucket { tat, saved });
            }
        }
        reply.outcomes = match self.reserve(targets, now) {
            Ok(()) => targets.iter().map(|target| self.look_at(target, now, wall)).collect(),
            Err(Full { wait }) => vec![Outcome::Full { wait }; targets.len()],
        };
        Ok(reply)
    }

    fn look_at(&self, target: &DemandBucket<'_>, now: Time, wall: Time) -> Outcome {
        let cost = target.demand.cost;
        if let Some(gcra) = target.rate() {
            let tat = self.table.tat(target.id);
            return match take(&gcra, tat, now, cost) {
                Ok(_) => self.met(target.id, &gcra, tat, now, Span::ZERO),
                Err(no) => {
                    let wait = self.truly(target.id, &gcra, now, no.wait);
                    Outcome::Refused { left: gcra.available(tat, now), wait, until: None }
                }
            };
        }
        match target.account() {
            Some(account) if self.purse.exhausted(account, cost, now) => exhausted(account.day, wall),
            _ => Outcome::Met { left: 0, more: Span::ZERO, slot: Span::ZERO, until: None },
        }
    }

    /// Looks at the rates again, now that nothing has to be waited for.
    fn look_again(&mut self, targets: &[DemandBucket<'_>], reply: &mut Reply, wall: Time) {
        let now = self.now(wall);
        let reserved = self.reserve(targets, now);
        for (target, outcome) in targets.iter().zip(reply.outcomes.iter_mut()) {
            if target.rate().is_some() {
                *outcome = match reserved {
                    Ok(()) => self.look_at(target, now, wall),
                    Err(Full { wait }) => Outcome::Full { wait },
                };
            }
        }
    }

    /// Takes from every rate that has enough, if `taken` says so, and grants wishes in any case; saves before it hands out.
    fn hand_out(
        &mut self,
        targets: &[DemandBucket<'_>],
        taken: Taken,
        ask: &Ask,
        disk: &impl BucketStore,
        reply: &mut Reply,
        wall: Time,
    ) -> Result<(), String> {
        let now = self.now(wall);
        let mut changed = Vec::with_capacity(targets.len());
        for ((target, outcome), granted) in targets.iter().zip(reply.outcomes.iter_mut()).zip(&mut reply.grants) {
            let (Some(gcra), Demand { cost, per_request: each, wish, .. }) = (target.rate(), target.demand) else {
                continue;
            };
            if matches!(outcome, Outcome::Full { .. }) {
                continue;
            }
            let bucket = self.table.get(target.id);
            let takes = taken == Taken::All && matches!(outcome, Outcome::Met { .. });
            let after_take = if takes { take(&gcra, bucket.tat, now, *cost).unwrap_or(bucket.tat) } else { bucket.tat };
            // Those who wait get what each of them would have got; only what is held ahead is less while the bucket warms up.
            let most = self.leasable(target.id, &gcra, after_take, now, reply.horizon);
            let wish = Wish { ahead: wish.ahead.min(most), ..*wish };
            let grant = grant(&gcra, after_take, now, wish, *each, reply.horizon);
            let tat = grant.map_or(after_take, |grant| grant.tat);
            // What it owed has been paid, and that must not be forgotten either.
            if tat == bucket.tat && target.demand.unreported == 0 {
                continue;
            }
            let to_save = Some(bucket.saved)
                .filter(|_| tat.since(now) >= ask.durable_after)
                .and_then(|saved| saved.cover(&gcra, tat, now));
            if let Some(saved) = to_save {
                reply.rows = reply.rows.saturating_add(disk.save(target.id, saved.tat())?);
            }
            *granted = grant.map(|grant| Grant { count: grant.count, first: grant.first });
            if takes {
                *outcome = self.met(target.id, &gcra, tat, now, bucket.tat.since(now));
            }
            changed.push((target.id, Bucket { tat, saved: to_save.unwrap_or(bucket.saved) }));
        }
        for (id, bucket) in changed {
            self.table.put(id, bucket);
        }
        Ok(())
    }

    pub(crate) fn reserve(&mut self, targets: &[DemandBucket<'_>], now: Time) -> Result<(), Full> {
        self.table.reserve(targets.iter().filter(|target| target.rate().is_some()).map(|target| target.id), now)
    }
}

/// Takes `cost` tokens, or none where only the wish is asked for: that can always be asked.
fn take(gcra: &Gcra, tat: Time, now: Time, cost: u64) -> Result<Time, NotBefore> {
    if cost == 0 { Ok(tat) } else { gcra.take(tat, now, cost) }
}

pub(crate) fn exhausted(day: &Day, wall: Time) -> Outcome {
    Outcome::Refused { left: 0, wait: day.end.since(wall), until: Some(day.end.as_secs()) }
}

/// Whether an outcome of a binding limit stops the request.
fn refuses(targets: &[DemandBucket<'_>], outcomes: &[Outcome]) -> bool {
    targets.iter().zip(outcomes).any(|(target, outcome)| {
        target.demand.enforcement == Enforcement::Enforced
            && matches!(outcome, Outcome::Refused { .. } | Outcome::Full { .. })
    })
}
