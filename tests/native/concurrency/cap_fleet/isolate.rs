//! One isolate of a cap's fleet, with the requests that the origin sees of it.

use penstock::concurrency::heartbeats::reserve_of;
use penstock::concurrency::permit_lease::PermitLease;
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{Holder, Reserve};

/// The reserves of requests that leave something to higher priorities.
pub(super) const LEAVING: [Reserve; 2] = [Reserve::Tenth, Reserve::Fifth];

pub(super) struct SimulatedIsolate {
    pub(super) lease: PermitLease,
    pub(super) holder: Holder,
    /// Until this time the actor surely lends as many permits as requests are in flight, also to an
    /// instance of the module that has not asked yet.
    pub(super) covered_until: Time,
    /// The same for requests with each of [`LEAVING`] or a larger reserve.
    pub(super) covered_until_for: [Time; 2],
    /// How far the isolate's clock is ahead.
    pub(super) ahead: Span,
    /// The requests in flight, as the origin sees them.
    pub(super) in_flight: Vec<u64>,
}

impl SimulatedIsolate {
    /// An isolate without permits, whose clock is `ahead`.
    pub(super) fn new(id: u64, ahead: Span, cap: u64) -> SimulatedIsolate {
        let holder = Holder { id, life: 0 };
        SimulatedIsolate {
            lease: PermitLease::new(holder, Size::Fixed(cap)),
            holder,
            covered_until: Time::default(),
            covered_until_for: Default::default(),
            ahead,
            in_flight: Vec::new(),
        }
    }

    /// The number of requests in flight with this `reserve` or a larger one.
    pub(super) fn in_flight_for(&self, reserve: Reserve) -> u64 {
        self.in_flight.iter().filter(|id| reserve_of(**id) >= reserve).count() as u64
    }

    /// Permits held, or requests in flight where these are more and surely covered.
    pub(super) fn taken(&self, now: Time) -> u64 {
        let held = self.lease.held(now.plus(self.ahead));
        if now < self.covered_until { held.max(self.in_flight.len() as u64) } else { held }
    }

    /// The same for requests with the reserve `LEAVING[index]`, or a larger one.
    pub(super) fn taken_for(&self, index: usize, now: Time) -> u64 {
        let held = self.lease.held_for(LEAVING[index], now.plus(self.ahead));
        if now < self.covered_until_for[index] { held.max(self.in_flight_for(LEAVING[index])) } else { held }
    }
}
