//! An isolate's demand for permits of one cap: requests in flight, waiting, and lately refused.

use crate::concurrency::heartbeats::{Heartbeats, Id};
use crate::concurrency::per_reserve::PerReserve;
use crate::limit::time::{Span, Time};
use crate::protocol::permits::Reserve;

/// Permits that were idle for this long go back to the actor. The demand of this window and of the
/// one before counts as recent: a longer window keeps permits from other isolates, a shorter one
/// asks the actor for the same permits again.
pub(super) const IDLE: Span = Span::from_secs(1);

/// The demand, by the requests' reserves.
#[derive(Debug, Default)]
pub(super) struct PermitDemand {
    pub(super) in_flight: Heartbeats,
    /// Requests that wait for a permit because the cap is full.
    pub(super) waiting: Heartbeats,
    /// Requests that found no permit since the actor was last asked for their reserve, in this
    /// window.
    unmet: PerReserve,
    /// The most requests in flight at once in this window.
    peak: PerReserve,
    /// The same in the window before.
    previous_peak: PerReserve,
    /// Start of this window, which is [`IDLE`] long at least.
    window: Time,
}

impl PermitDemand {
    /// No demand yet. The ids of requests will be above `base`, a multiple of four.
    pub(super) fn numbered_above(base: Id) -> PermitDemand {
        PermitDemand { in_flight: Heartbeats::numbered_above(base), ..PermitDemand::default() }
    }

    /// Counts one more request in flight. Returns its id, and the number of requests in flight now.
    pub(super) fn start(&mut self, reserve: Reserve, now: Time) -> (Id, u64) {
        let id = self.in_flight.start(reserve, now);
        let in_flight = self.in_flight.per_reserve(now);
        self.roll(now);
        self.peak = self.peak.max(in_flight);
        (id, in_flight.sum())
    }

    /// Lets one more request wait, unless `most` requests of its priority or higher wait already.
    pub(super) fn try_wait(&mut self, reserve: Reserve, most: u64, now: Time) -> Option<Id> {
        let waiting = self.waiting.per_reserve(now);
        let ahead = waiting.below(reserve).saturating_add(waiting.of(reserve));
        (ahead < most).then(|| self.waiting.start(reserve, now))
    }

    /// Counts a request that found no permit.
    pub(super) fn note_unmet(&mut self, reserve: Reserve) {
        self.unmet.add(reserve, 1);
    }

    /// Takes back one count of [`PermitDemand::note_unmet`]: the request has a permit now.
    pub(super) fn clear_unmet(&mut self, reserve: Reserve) {
        let unmet = self.unmet.at(reserve);
        *unmet = unmet.saturating_sub(1);
    }

    /// The number of requests with this reserve that found no permit lately.
    pub(super) fn unmet(&self, reserve: Reserve) -> u64 {
        self.unmet.of(reserve)
    }

    /// Forgets the unmet requests with this reserve: a question to the actor asks for them.
    pub(super) fn forget_unmet(&mut self, reserve: Reserve) {
        *self.unmet.at(reserve) = 0;
    }

    /// Forgets all unmet requests.
    pub(super) fn forget_all_unmet(&mut self) {
        self.unmet = PerReserve::default();
    }

    /// The number of requests that go before one with this `reserve`: requests of a higher priority
    /// that wait, or that found no permit in this window and will come again.
    pub(super) fn queued_ahead(&mut self, reserve: Reserve, now: Time) -> u64 {
        self.roll(now);
        self.waiting.per_reserve(now).below(reserve).saturating_add(self.unmet.below(reserve))
    }

    /// The most requests at once in this window and the one before, and not fewer than `in_flight`.
    pub(super) fn recent(&self, in_flight: PerReserve) -> PerReserve {
        in_flight.max(self.peak).max(self.previous_peak)
    }

    /// The number of permits that the isolate could use with `more` requests of this `reserve`: for
    /// all in flight, the new ones, and the requests that go before them. A quarter is added for
    /// this reserve, so that a growing load need not ask for every step.
    ///
    /// With `more` of zero it counts the recent peak in place of the requests in flight.
    pub(super) fn permits_wanted(&mut self, more: u64, reserve: Reserve, now: Time) -> u64 {
        let in_flight = self.in_flight.per_reserve(now);
        let used = if more == 0 { self.recent(in_flight) } else { in_flight };
        let more = more.saturating_add(used.of(reserve).saturating_add(more) / 4);
        used.sum().saturating_add(more).saturating_add(self.queued_ahead(reserve, now))
    }

    /// Begins a new window where this one is over.
    pub(super) fn roll(&mut self, now: Time) {
        if self.window.plus(IDLE) <= now {
            let adjacent = now < self.window.plus(IDLE.times(2));
            self.previous_peak = if adjacent { self.peak } else { PerReserve::default() };
            (self.peak, self.unmet) = Default::default();
            self.window = now;
        }
    }
}
