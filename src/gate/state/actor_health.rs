//! How each actor has answered this isolate lately, and which actors it leaves alone for now.
//!
//! An actor that answers late or not at all is not helped by more questions, and requests that ask
//! it wait in vain. After a few failures in a row its circuit breaker opens: the isolate does not
//! ask it for a pause, and `on_error` decides at once. After the pause one question finds out
//! whether the trouble is over. Pauses grow, and are drawn at random, so that isolates do not
//! return together.

use crate::limit::jitter::SplitMix64;
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult, CircuitBreaker};
use crate::protocol::rates::ActorKey;

/// For this long after an answer, its round trip predicts that of the next one. Longer, and one
/// slow answer keeps questions back after the actor has recovered.
const ROUND_TRIP_VALID: Span = Span::from_secs(1);

/// While calls are saved, one question in this many is asked.
const SAMPLED: u8 = 8;

/// The health of all actors that one isolate has asked.
#[derive(Debug, Default)]
pub struct ActorHealth {
    /// One record per actor. There are as many actors as shards and `global` limits, so the list
    /// needs no other bound, and is short enough to be searched.
    records: Vec<ActorRecord>,
    random: SplitMix64,
}

/// The health of one actor.
#[derive(Debug, Default)]
struct ActorRecord {
    /// [`ActorKey::number`].
    actor: u64,
    circuit: CircuitBreaker,
    /// How long the last answer took.
    round_trip: Span,
    /// When the last answer arrived; the epoch if there was none.
    answered: Time,
    /// The numbers of this actor's limits that could not be checked when last met.
    unchecked: Vec<u64>,
}

impl ActorHealth {
    /// Makes the health of actors that have not been asked yet. Pauses are drawn from `seed`, which
    /// should differ between isolates.
    pub fn new(seed: u64) -> ActorHealth {
        ActorHealth { random: SplitMix64::new(seed), ..ActorHealth::default() }
    }

    fn record_of(&self, actor: &ActorKey<'_>) -> Option<&ActorRecord> {
        let actor = actor.number();
        self.records.iter().find(|record| record.actor == actor)
    }

    /// Returns the record of `actor`, and makes one if there is none. It is never `None`.
    fn record_mut(&mut self, actor: &ActorKey<'_>) -> Option<&mut ActorRecord> {
        let number = actor.number();
        if self.record_of(actor).is_none() {
            self.records.push(ActorRecord { actor: number, ..ActorRecord::default() });
        }
        self.records.iter_mut().find(|record| record.actor == number)
    }

    /// Whether the circuit breaker of `actor` is open.
    pub fn is_open(&self, actor: &ActorKey<'_>) -> bool {
        self.record_of(actor).is_some_and(|record| record.circuit.is_open())
    }

    /// Whether any circuit breaker is open.
    pub fn any_open(&self) -> bool {
        self.records.iter().any(|record| record.circuit.is_open())
    }

    /// Returns the permission to ask `actor` now, with an answer within `patience`; `None` if it is
    /// to be left alone. See [`CircuitBreaker::permission`].
    pub fn permission(&mut self, actor: &ActorKey<'_>, now: Time, patience: Span) -> Option<CallPermission> {
        self.record_mut(actor)?.circuit.permission(now, patience)
    }

    /// Whether the last answer of `actor` is recent and took longer than `patience`.
    pub fn answers_slower_than(&self, actor: &ActorKey<'_>, now: Time, patience: Span) -> bool {
        self.record_of(actor)
            .is_some_and(|record| patience < record.round_trip && now < record.answered.plus(ROUND_TRIP_VALID))
    }

    /// Whether an answer of `actor` to any question arrived after `asked`.
    pub fn has_answered_since(&self, actor: &ActorKey<'_>, asked: Time) -> bool {
        self.record_of(actor).is_some_and(|record| asked < record.answered)
    }

    /// Records the result of a call to `actor`: made at `asked` with `permission`, ended at `now`.
    pub fn record(
        &mut self,
        actor: &ActorKey<'_>,
        permission: CallPermission,
        result: CallResult,
        asked: Time,
        now: Time,
    ) {
        let chance = self.random.draw_byte();
        let Some(record) = self.record_mut(actor) else { return };
        if result == CallResult::Answer {
            (record.round_trip, record.answered) = (now.since(asked), now);
        }
        record.circuit.record(permission, result, now, chance);
    }

    /// Notes that the limit of this number could not be checked at `actor`.
    pub fn mark_unchecked(&mut self, limit: u64, actor: &ActorKey<'_>) {
        if let Some(record) = self.record_mut(actor)
            && !record.unchecked.contains(&limit)
        {
            record.unchecked.push(limit);
        }
    }

    /// Notes that the limit of this number was checked at `actor`, and returns whether it could not
    /// be before.
    pub fn mark_checked(&mut self, limit: u64, actor: &ActorKey<'_>) -> bool {
        let Some(record) = self.record_mut(actor) else { return false };
        let index = record.unchecked.iter().position(|number| *number == limit);
        index.map(|index| record.unchecked.swap_remove(index)).is_some()
    }

    /// Whether a question about a slow caller is the one in eight that is asked while calls are
    /// saved.
    ///
    /// It is drawn at random. Counting would always pick the same limit where each request asks
    /// about two.
    pub fn sample(&mut self) -> bool {
        self.random.draw_byte().is_multiple_of(SAMPLED)
    }
}
