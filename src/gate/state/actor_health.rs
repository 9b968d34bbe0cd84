//! Who is in trouble, and is left alone until it may be over.
//!
//! An actor that answers late, or not at all, is not helped by being asked again by everybody; and whoever asks waits for nothing. So after
//! some failures in a row its circuit is *open*: nobody asks, and `on_error` decides at once. After a pause one question is let
//! through to see whether it is over. The pauses grow, and are drawn by chance, so that isolates do not come back together.

use crate::gate::state::call_budget::{BudgetStage, CallBudget};
use crate::limit::time::{Span, Time};
use crate::protocol::circuit_breaker::{CallPermission, CallResult, CircuitBreaker};
use crate::protocol::rates::ActorKey;

/// How long the time that an answer took says something about the next one's.
const LATELY: Span = Span::from_secs(1);

/// The circuits of one isolate, by actor. There are as many actors as shards and shared limits, so they need no other bound; and they are few
/// enough that a list is as good as a map.
#[derive(Debug, Default)]
pub struct ActorHealth {
    records: Vec<ActorRecord>,
    /// What may be spent on calls.
    pub budget: CallBudget,
    chance: u64,
}

/// What is known of the way to one actor.
#[derive(Debug, Default)]
struct ActorRecord {
    actor: u64,
    circuit: CircuitBreaker,
    /// How long its last answer took, and when it came.
    round_trip: Span,
    heard: Time,
    /// Its limits that could not be checked lately, by number.
    down: Vec<u32>,
}

impl ActorHealth {
    /// All closed; chance begins from `seed`, which should differ between isolates. So many calls may be made a day.
    pub fn new(seed: u64, budget: Option<u64>) -> ActorHealth {
        ActorHealth { chance: seed, budget: CallBudget::new(budget), ..ActorHealth::default() }
    }

    fn record_of(&self, actor: &ActorKey<'_>) -> Option<&ActorRecord> {
        let actor = actor.number();
        self.records.iter().find(|record| record.actor == actor)
    }

    fn record_mut(&mut self, actor: &ActorKey<'_>) -> Option<&mut ActorRecord> {
        let number = actor.number();
        if self.record_of(actor).is_none() {
            self.records.push(ActorRecord { actor: number, ..ActorRecord::default() });
        }
        self.records.iter_mut().find(|record| record.actor == number)
    }

    /// Whether the actor at `actor` is left alone.
    pub fn is_open(&self, actor: &ActorKey<'_>) -> bool {
        self.record_of(actor).is_some_and(|record| record.circuit.is_open())
    }

    /// Whether the actor at `actor` is left alone, or all are, for want of calls.
    pub fn is_silent(&self, actor: &ActorKey<'_>, now: Time) -> bool {
        self.is_open(actor) || self.budget.stage(now) == BudgetStage::Alone
    }

    /// Whether any actor is left alone.
    pub fn any_open(&self) -> bool {
        self.records.iter().any(|record| record.circuit.is_open())
    }

    /// Whether the actor at `actor` may be asked at `now`; see [`CircuitBreaker::admit`].
    pub fn admit(&mut self, actor: &ActorKey<'_>, now: Time, patience: Span) -> Option<CallPermission> {
        self.record_mut(actor)?.circuit.admit(now, patience)
    }

    /// Whether the last answer took longer than `patience`, not long ago.
    pub fn answers_slower_than(&self, actor: &ActorKey<'_>, now: Time, patience: Span) -> bool {
        self.record_of(actor).is_some_and(|record| patience < record.round_trip && now < record.heard.plus(LATELY))
    }

    /// Whether the actor at `actor` has answered anybody after `asked`.
    pub fn has_answered_since(&self, actor: &ActorKey<'_>, asked: Time) -> bool {
        self.record_of(actor).is_some_and(|record| asked < record.heard)
    }

    /// Takes in what became of a question to the actor at `actor`, asked at `asked`.
    pub fn record(&mut self, actor: &ActorKey<'_>, pass: CallPermission, heard: CallResult, asked: Time, now: Time) {
        let chance = self.draw();
        let Some(record) = self.record_mut(actor) else { return };
        if heard == CallResult::Answer {
            (record.round_trip, record.heard) = (now.since(asked), now);
        }
        record.circuit.record(pass, heard, now, chance);
    }

    /// Notes that the limit of this number could not be checked.
    pub fn mark_unchecked(&mut self, limit: u32, actor: &ActorKey<'_>) {
        if let Some(record) = self.record_mut(actor)
            && !record.down.contains(&limit)
        {
            record.down.push(limit);
        }
    }

    /// Notes that the limit of this number was checked; whether it could not be before.
    pub fn mark_checked(&mut self, limit: u32, actor: &ActorKey<'_>) -> bool {
        let Some(record) = self.record_mut(actor) else { return false };
        let place = record.down.iter().position(|number| *number == limit);
        place.map(|place| record.down.swap_remove(place)).is_some()
    }

    /// Whether a slow caller's question is the one in eight that is asked. By chance: each eighth would always be about the same limit, where
    /// a request asks two.
    pub fn sample(&mut self) -> bool {
        self.draw().is_multiple_of(8)
    }

    /// SplitMix64.
    fn draw(&mut self) -> u8 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.chance;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 56) as u8
    }
}
