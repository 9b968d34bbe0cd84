//! The part of a bucket in an entry of the lease cache.

use super::CachedLimit;
use crate::gate::state::lease_cache::shared_part::SharedPart;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::limit::gcra::Gcra;
use crate::limit::share::HolderId;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Outcome, PartAsk, PartReply};

impl CachedLimit {
    /// The whole tokens of the part in hand.
    pub(super) fn part_left(&self, now: Time) -> u64 {
        self.part.as_ref().map_or(0, |part| part.left(now))
    }

    /// Notes that a request asks for `cost` tokens, whether it gets them or not.
    pub(in crate::gate::state::lease_cache) fn note_demand(&mut self, cost: u64, now: Time) {
        if let Some(part) = &mut self.part {
            part.note_demand(cost, now);
        }
    }

    /// Returns the question for a part of the bucket that goes with the next question, under the
    /// number `seq`. `None` for a bucket that is not cut, for a caller's first request, and while a
    /// question younger than `patience` is under way.
    pub(in crate::gate::state::lease_cache) fn part_question(
        &mut self,
        gcra: &Gcra,
        isolate: HolderId,
        seq: u64,
        now: Time,
        patience: Span,
    ) -> Option<PartAsk> {
        match &mut self.part {
            Some(part) => part.question(isolate, seq, now, patience),
            None => {
                self.part = Some(Box::new(SharedPart::new(*gcra, now)));
                None
            }
        }
    }

    /// Takes in the answer to the question for a part; `reply` is `None` if the actor said nothing.
    pub(in crate::gate::state::lease_cache) fn hear_part(
        &mut self,
        gcra: &Gcra,
        seq: u64,
        reply: Option<PartReply>,
        round_trip: RoundTrip,
    ) {
        if let Some(part) = &mut self.part {
            part.hear(gcra, seq, reply, round_trip);
        }
    }

    /// Makes tokens of a lease tokens of the part, if the part has room for them: slots lapse while
    /// parts are out, and a part keeps its tokens.
    pub(super) fn as_part_tokens(&self, spent: Tokens, now: Time) -> Tokens {
        match spent {
            Tokens::Lease(gcra, lease) if lease.left(&gcra, now) == lease.count() => {
                let fits = self.part.as_ref().is_some_and(|part| part.spare_room(now) >= lease.count());
                if fits { Tokens::Part { gcra, tokens: lease.count() } } else { spent }
            }
            _ => spent,
        }
    }

    /// How long a refusal of `demand` for `wait` is believed. While parts are out, tokens may come
    /// back to this isolate's own part, or with the next question for it.
    pub(super) fn believed(&self, demand: &Demand, wait: Span, answered: Time) -> Span {
        let part = self.part.as_ref().filter(|_| demand.part.is_some());
        part.map_or(wait, |part| part.believes_refusal(wait, answered))
    }

    /// The outcome as the caller has it: with the tokens of the part beside those of the rest.
    pub(super) fn with_part_left(&self, outcome: Outcome, now: Time) -> Outcome {
        match outcome {
            Outcome::Met { left, more, slot, until } if self.part.is_some() => {
                Outcome::Met { left: left.saturating_add(self.part_left(now)), more, slot, until }
            }
            _ => outcome,
        }
    }
}
