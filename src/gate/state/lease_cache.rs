//! Everything that an isolate can decide alone: leases and quota tokens to spend, denials to
//! remember.
//!
//! Denials and leases are exact. A TAT never goes back, so a bucket that denies a caller until a
//! time *t* denies it until *t* whatever other isolates do. A lease is exact by the rule in
//! [`lease`](crate::limit::lease). An entry that is dropped costs a call, never correctness.
//!
//! - `entry`: the tokens, denial and debt of one limit for one caller
//! - `grants`: the tokens in hand of one entry
//! - `shared_part`: the part of a bucket that the isolate holds for one caller
//! - `denial`: a denial, and how long it is believed

use crate::gate::state::bucket_view::StartingPoint;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::identity::digest::Subject;
use crate::limit::gcra::Gcra;
use crate::limit::lease::{StockLevel, Wish};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::share::{HolderId, is_cut};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Grant, Outcome, PartAsk, PartReply, Terms, UnusedTokens};
use hashbrown::HashMap;

mod denial;
mod entry;
mod grants;
mod shared_part;

pub use entry::IDLE;
use entry::{CachedLimit, Worth};

/// Names one bucket in the isolate's memory.
///
/// A limit's number is a digest of its counter, so it means the same counter under any policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitKey {
    /// The limit's number in the policy.
    pub limit: u64,
    /// The caller; `None` at a `global` limit.
    pub subject: Option<Subject>,
}

/// Entries kept, at about 300 bytes each. More cost memory; fewer cost calls when many callers are
/// active.
const CAPACITY: usize = 20_000;

/// The leases, quota tokens and denials of one isolate.
#[derive(Debug, Default)]
pub struct LeaseCache {
    entries: HashMap<LimitKey, CachedLimit>,
    clock: MonotonicClock,
    /// The name of this isolate as a holder of parts, new for each life; zero for one without a
    /// name, which asks for no parts.
    isolate: HolderId,
    /// The number of the last question for a part, of whatever bucket.
    part_seq: u64,
}

impl LeaseCache {
    /// An empty cache of an isolate that is named `isolate` as a holder of parts.
    pub fn of_isolate(isolate: HolderId) -> LeaseCache {
        LeaseCache { isolate, ..LeaseCache::default() }
    }

    /// Notes that a request asks for `cost` tokens of a limit that refuses it.
    pub fn note_refused(&mut self, key: LimitKey, cost: u64, now: Time) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.note_demand(cost, now);
        }
    }

    /// Returns the question for a part of the bucket of `demand`, which goes with the next
    /// question; `None` for no part.
    pub fn part_question(&mut self, key: LimitKey, demand: &Demand, now: Time, patience: Span) -> Option<PartAsk> {
        let Terms::Rate(gcra) = &demand.terms else { return None };
        // A rate that everyone shares is leased by slots alone: fair shares follow from these.
        let is_named = self.isolate != 0 && key.subject.is_some();
        if !is_named || demand.warmup > Span::ZERO || !is_cut(gcra, demand.per_request) {
            return None;
        }
        let isolate = self.isolate;
        self.part_seq = self.part_seq.saturating_add(1);
        let seq = self.part_seq;
        let entry = self.entry_mut(key, now);
        let question = entry.part_question(gcra, isolate, seq, now, patience);
        // Requests that wait for this very answer have been counted as demand by nobody yet.
        entry.note_demand(demand.cost, now);
        question
    }

    /// Returns the isolate's time when the wall clock reads `wall`. It never decreases.
    pub fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// Returns the denial that holds for a request of `cost` tokens, with the wait that is left.
    ///
    /// `None` leaves the request to the tokens in hand or to the actor. Slots in hand that cannot
    /// be spent yet deny it too, because the bucket's TAT lies beyond them.
    pub fn denied(&self, key: LimitKey, cost: u64, now: Time) -> Option<Outcome> {
        self.entries.get(&key)?.denied(cost, now)
    }

    /// Returns the shortest time for which a limit refuses `cost` tokens, as far as this isolate
    /// knows, to a caller that comes back at `later`; zero if it may admit them.
    pub fn min_wait(&self, key: LimitKey, terms: &Terms, cost: u64, now: Time, later: Time) -> Span {
        self.entries.get(&key).map_or(Span::ZERO, |entry| entry.min_wait(terms, cost, now, later))
    }

    /// Returns the tokens left to the caller, in hand and in the bucket, and the time until there
    /// is one more; `None` if this isolate does not know.
    pub fn known_usage(&self, key: LimitKey, terms: &Terms, now: Time) -> Option<(u64, Span)> {
        self.entries.get(&key)?.known_usage(terms, now)
    }

    /// Spends `cost` tokens in hand, and returns them with the tokens that are left to the caller
    /// then; `None` if there are too few.
    pub fn spend(&mut self, key: LimitKey, cost: u64, now: Time) -> Option<(Tokens, Outcome)> {
        self.entries.get_mut(&key)?.spend(cost, now)
    }

    /// Takes back tokens that were spent at `since` or later, on a request that does not use them.
    pub fn give_back(&mut self, key: LimitKey, spent: Tokens, since: Time, now: Time) {
        self.entry_mut(key, now).give_back(spent, since, now);
    }

    /// Notes that a request owes tokens that the actor has not counted. The next question reports
    /// them.
    pub fn add_debt(&mut self, key: LimitKey, terms: &Terms, tokens: u64, now: Time) {
        self.entry_mut(key, now).view.add_debt(terms, tokens, now);
    }

    /// Notes that this isolate lets a request pass without the actor. Its tokens are debt, too.
    /// Returns the tokens that are owed now, at most `tokens`.
    pub fn pass_alone(&mut self, key: LimitKey, terms: &Terms, tokens: u64, now: Time) -> u64 {
        self.entry_mut(key, now).view.pass_alone(terms, tokens, now)
    }

    /// Takes back the debt `owed` that [`pass_alone`](LeaseCache::pass_alone) noted at `since` for
    /// a request of `tokens`, which does not use them.
    pub fn take_back_alone(&mut self, key: LimitKey, rate: &Gcra, tokens: u64, owed: u64, since: Time, now: Time) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.view.take_back_alone(rate, tokens, owed, since, now);
        }
    }

    /// Returns the state from which the local limiter starts.
    pub fn starting_point(&self, key: LimitKey, now: Time) -> StartingPoint {
        self.entries.get(&key).map(|entry| entry.view.starting_point(now)).unwrap_or_default()
    }

    /// Returns the wish and the unreported debt that go with the next question, and notes that the
    /// call is in flight. There is no wish while another call younger than `patience` is in flight.
    pub fn wish_for(&mut self, key: LimitKey, terms: &Terms, cost: u64, now: Time, patience: Span) -> (Wish, u64) {
        self.entry_mut(key, now).wish_for(terms, cost, now, patience)
    }

    /// Whether a call is in flight that may bring tokens for other requests as well.
    ///
    /// A call older than `patience` is not counted on: the runtime may never resume a request whose
    /// client has left, and then its answer is never read.
    pub fn has_call_in_flight(&self, key: LimitKey, now: Time, patience: Span) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.has_call_in_flight(now, patience))
    }

    /// Notes that a request waits for `tokens` of the call in flight.
    pub fn note_waiting(&mut self, key: LimitKey, tokens: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.note_waiting(tokens);
        }
    }

    /// Returns how the tokens in hand compare with their use; `Enough` while no more may be asked
    /// for.
    pub fn stock_level(&self, key: LimitKey, now: Time, patience: Span) -> StockLevel {
        self.entries.get(&key).map_or(StockLevel::Enough, |entry| entry.stock_level(now, patience))
    }

    /// Takes in the actor's outcome for `demand`, and returns the outcome that stands in this
    /// isolate.
    ///
    /// The two differ only where this isolate has admitted requests on its own: the actor may not
    /// have heard of them yet, and may admit more than the limit allows the caller here.
    pub fn observe(
        &mut self,
        key: LimitKey,
        demand: &Demand,
        outcome: &Outcome,
        horizon: Span,
        round_trip: RoundTrip,
    ) -> Outcome {
        self.entry_mut(key, round_trip.answered).observe(demand, outcome, horizon, round_trip.answered)
    }

    /// Takes in the actor's answer to a wish; `grant` is `None` if it granted nothing.
    pub fn accept_grant(
        &mut self,
        key: LimitKey,
        terms: &Terms,
        grant: Option<Grant>,
        outcome: &Outcome,
        round_trip: RoundTrip,
    ) {
        self.entry_mut(key, round_trip.answered).accept_grant(terms, grant, outcome, round_trip);
    }

    /// Takes in the actor's answer to the question for a part that `demand` had, if it had one.
    pub fn accept_part(&mut self, key: LimitKey, demand: &Demand, reply: Option<PartReply>, round_trip: RoundTrip) {
        if let (Terms::Rate(gcra), Some(PartAsk { question, .. })) = (&demand.terms, demand.part)
            && let Some(entry) = self.entries.get_mut(&key)
        {
            entry.hear_part(gcra, question.seq, reply, round_trip);
        }
    }

    /// Notes that a question that reported `unreported` tokens got no answer.
    pub fn note_lost(&mut self, key: LimitKey, unreported: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.note_lost(unreported);
        }
    }

    /// Whether quota tokens are in hand.
    pub fn holds_quota(&self, key: LimitKey, now: Time) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.holds_quota(now))
    }

    /// Whether quota tokens are in hand and no task returns them. If so, a task must be started.
    pub fn claim_return(&mut self, key: LimitKey, now: Time) -> bool {
        self.entries.get_mut(&key).is_some_and(|entry| entry.claim_return(now))
    }

    /// Notes that the task that returns idle quota tokens has ended.
    pub fn release_return(&mut self, key: LimitKey) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.release_return();
        }
    }

    /// Takes out quota tokens that lay unused for [`IDLE`]; `None` if there are none.
    ///
    /// They are to be sent back to the actor once, and never again: tokens that are sent twice
    /// could be admitted twice.
    pub fn take_idle_quota(&mut self, key: LimitKey, now: Time) -> Option<UnusedTokens> {
        self.entries.get_mut(&key)?.take_idle_quota(now)
    }

    /// Returns the entry of `key`, and makes one if there is none.
    fn entry_mut(&mut self, key: LimitKey, now: Time) -> &mut CachedLimit {
        if self.entries.len() >= CAPACITY && !self.entries.contains_key(&key) {
            self.make_room(now);
        }
        self.entries.entry(key).or_insert_with(|| CachedLimit::new(now))
    }

    /// Drops a quarter of [`CAPACITY`], the entries of least worth first; among equals, the first
    /// that come up.
    ///
    /// Dropping one entry at a time would let a flood of callers have all entries looked through
    /// for each of them.
    fn make_room(&mut self, now: Time) {
        let most = CAPACITY / 4 * 3;
        for least in [Worth::View, Worth::Denial, Worth::Tokens] {
            let mut over = self.entries.len().saturating_sub(most);
            self.entries.retain(|_, entry| {
                // Entries of no worth go in any case.
                let stays = over == 0 && least > Worth::View || entry.worth(now) >= least;
                over = over.saturating_sub(usize::from(!stays));
                stays
            });
        }
        let mut over = self.entries.len().saturating_sub(most);
        self.entries.retain(|_, _| {
            let stays = over == 0;
            over = over.saturating_sub(1);
            stays
        });
    }
}
