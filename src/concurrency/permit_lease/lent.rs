//! The permits that the actor of one cap has lent to this isolate, and which requests may use them.
//!
//! **Invariant:** `held.of(Fifth) ≤ held.of(Tenth) ≤ held.of(Nothing)`: each number is a part of
//! the one after it. Requests that leave a larger reserve may use fewer permits, and any request
//! may use a permit that one of a lower priority may use.

use crate::concurrency::per_reserve::PerReserve;
use crate::concurrency::permit_lease::demand::PermitDemand;
use crate::limit::time::Time;
use crate::protocol::permits::{PermitReply, Reserve};
use core::cmp::Ordering;

/// The permits held, their term, and the actor's latest word about the cap.
#[derive(Debug)]
pub(super) struct LentPermits {
    /// The number of permits that requests with this reserve may use; for [`Reserve::Nothing`] it
    /// is all of them. Only an answer of the actor makes a number larger. Zero after `until`.
    held: PerReserve,
    /// End of the term, counted from when the isolate asked.
    until: Time,
    /// The isolate's fair share while other isolates want permits too. Unlimited before the first
    /// answer.
    share: PerReserve,
    /// Size of the cap, as last heard; 0 before the first answer.
    pub(super) cap: u64,
    /// Permits that the last answer lent. Kept past the term, for `on_error = "local"`.
    pub(super) last_lent: u64,
}

impl LentPermits {
    /// Nothing lent yet.
    pub(super) fn none() -> LentPermits {
        LentPermits {
            held: PerReserve::default(),
            until: Time::default(),
            share: PerReserve::all(u64::MAX),
            cap: 0,
            last_lent: 0,
        }
    }

    /// Whether the term is over. The actor may have lent the permits to others by then.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.until <= now
    }

    /// The number of permits held that requests with this `reserve` may use.
    pub(super) fn held_for(&self, reserve: Reserve, now: Time) -> u64 {
        if self.is_over(now) { 0 } else { self.held.of(reserve) }
    }

    /// Whether one more request with this `reserve` may start. Its usable permits must cover
    /// everything in flight, whatever its priority, and the requests that go before it.
    pub(super) fn has_room(&self, demand: &mut PermitDemand, reserve: Reserve, now: Time) -> bool {
        let ahead = demand.queued_ahead(reserve, now).saturating_add(demand.in_flight.count(now));
        ahead < self.usable(reserve, now)
    }

    /// The permits that are worth keeping: for each reserve its recent demand and a quarter more,
    /// within the fair share. A permit without use for its own reserve is not kept for another one.
    /// No permit that is in use is given up.
    pub(super) fn permits_to_keep(&self, demand: &mut PermitDemand, now: Time) -> PerReserve {
        let in_flight = demand.in_flight.per_reserve(now);
        let recent = demand.recent(in_flight);
        let mut useful: u64 = 0;
        for reserve in Reserve::ALL.into_iter().rev() {
            let with_margin = recent.of(reserve).saturating_add(recent.of(reserve) / 4);
            useful = useful.saturating_add(with_margin).min(self.usable(reserve, now));
        }
        let held = if self.is_over(now) { PerReserve::default() } else { self.held };
        held.up_to(useful.max(in_flight.sum()))
    }

    /// Whether [`LentPermits::permits_to_keep`] leaves some permits to give back.
    pub(super) fn has_idle(&self, demand: &mut PermitDemand, now: Time) -> bool {
        self.permits_to_keep(demand, now).of(Reserve::Nothing) < self.held.of(Reserve::Nothing)
    }

    /// Stops using all permits that are not worth keeping. Returns the number of those that are.
    pub(super) fn give_up_idle(&mut self, demand: &mut PermitDemand, now: Time) -> u64 {
        self.held = self.permits_to_keep(demand, now);
        self.held.of(Reserve::Nothing)
    }

    /// Takes in the actor's answer to the question that was asked at `asked_at` for `asked_for`.
    pub(super) fn renew(&mut self, reply: &PermitReply, asked_for: Reserve, asked_at: Time, now: Time) {
        // Past its term the actor may have lent the permits to others. It lends them anew then, out
        // of what the others leave.
        if self.is_over(now) {
            self.held = PerReserve::default();
        }
        for reserve in Reserve::ALL {
            let kept_free = reserve.of_cap(reply.cap);
            let (held, share) = (self.held.at(reserve), self.share.at(reserve));
            // `permits + free` is the cap without the permits of other isolates. So `surely`
            // keeps the reserve free even if the others use all that they hold.
            let surely = reply.permits.saturating_add(reply.free).saturating_sub(kept_free);
            *held = surely.max(*held).min(reply.permits).min(reply.cap.saturating_sub(kept_free));
            // The reply's share is for the reserve that was asked for. A smaller reserve has no
            // smaller share, and a larger one no larger share.
            *share = match reserve.cmp(&asked_for) {
                Ordering::Less => reply.share.max(*share),
                Ordering::Equal => reply.share,
                Ordering::Greater => reply.share.min(*share),
            };
        }
        *self.held.at(Reserve::Nothing) = reply.permits;
        self.last_lent = reply.permits;
        self.until = asked_at.plus(reply.term);
        self.cap = reply.cap;
    }

    /// The number of permits for requests with this `reserve`, within the fair share.
    fn usable(&self, reserve: Reserve, now: Time) -> u64 {
        self.held_for(reserve, now).min(self.share.of(reserve))
    }
}
