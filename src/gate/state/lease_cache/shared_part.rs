//! The part of a rate's bucket that an isolate holds for one caller.

use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::gcra::Gcra;
use crate::limit::share::{HolderId, PartHolder, Renewal};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{PartAsk, PartReply};

/// A refusal is believed for so long while parts of the bucket are out. Longer, and tokens that
/// come back wait; shorter, and a refused caller costs more calls.
const BELIEVED: Span = Span::from_millis(250);

/// A part in hand, or the wish for one.
#[derive(Debug)]
pub(super) struct SharedPart {
    gcra: Gcra,
    holder: PartHolder,
    renewal: Renewal,
    /// The number of the question under way.
    seq: u64,
    /// The actor should not be asked for more before this time, if it has too few tokens.
    again_at: Time,
}

impl SharedPart {
    /// No part of a bucket of `gcra`, and nothing known of its demand before `now`.
    pub fn new(gcra: Gcra, now: Time) -> SharedPart {
        SharedPart { gcra, holder: PartHolder::default(), renewal: Renewal::new(now), seq: 0, again_at: now }
    }

    /// The whole tokens in hand.
    pub fn left(&self, now: Time) -> u64 {
        self.holder.tokens(now)
    }

    /// Notes that a request asks for `cost` tokens, whether it gets them or not.
    pub fn note_demand(&mut self, cost: u64, now: Time) {
        self.renewal.meter.record(now, cost);
    }

    /// Spends `cost` tokens, and returns them; `None` if there are fewer.
    pub fn spend(&mut self, cost: u64, now: Time) -> Option<Tokens> {
        self.holder.spend(now, cost).then_some(Tokens::Part { gcra: self.gcra, tokens: cost })
    }

    /// Takes back tokens of a part, of a request that does not use them.
    pub fn put_back(&mut self, tokens: u64, now: Time) {
        self.holder.put_back(now, tokens);
    }

    /// How long a refusal for `wait` is believed, which the actor has given at `now`.
    pub fn believes_refusal(&self, wait: Span, now: Time) -> Span {
        wait.min(BELIEVED).max(self.again_at.since(now))
    }

    /// Whether a part is in hand.
    pub fn has_part(&self, now: Time) -> bool {
        self.holder.part(now).is_some()
    }

    /// The tokens that the part has room for beside those in it.
    pub fn spare_room(&self, now: Time) -> u64 {
        self.holder.part(now).map_or(0, |part| part.room().saturating_sub(part.tokens(now).ceil()))
    }

    /// Whether the part should be renewed, and no question younger than `patience` is under way.
    pub fn is_due(&self, now: Time, patience: Span) -> bool {
        !self.holder.is_asking(now, patience) && self.renewal.is_due(&self.holder, now)
    }

    /// The question for a part, under the number `seq`; `None` while one younger than `patience` is
    /// under way.
    pub fn question(&mut self, isolate: HolderId, seq: u64, now: Time, patience: Span) -> Option<PartAsk> {
        if self.holder.is_asking(now, patience) {
            return None;
        }
        let demand = self.renewal.meter.measure(now);
        self.seq = seq;
        // Nothing is given back: a TAT in an actor never goes back.
        Some(PartAsk { question: self.holder.ask(isolate, seq, now, u64::MAX), demand })
    }

    /// Takes in the answer to the question `seq` about a bucket of `gcra`; `None` if the actor said
    /// nothing of it.
    pub fn hear(&mut self, gcra: &Gcra, seq: u64, reply: Option<PartReply>, round_trip: RoundTrip) {
        let part = reply.and_then(|reply| reply.part);
        self.again_at = reply.map_or(Time::default(), |reply| round_trip.answered.plus(reply.again));
        if let (Some(part), true) = (part, seq == self.seq) {
            self.gcra = *gcra;
            let again = reply.map_or(Span::ZERO, |reply| reply.again);
            self.renewal.heard(round_trip.answered, part.term, again);
        }
        self.holder.hear(round_trip.answered, seq, gcra.interval(), part.as_ref());
    }
}
