//! The requests that are still there, by their heartbeats.

use super::permit_lease::{at, id_of, lease_with, next_step};
use crate::support::EVENING;
use penstock::concurrency::heartbeats::{Heartbeats, reserve_of};
use penstock::concurrency::permit_lease::NextStep;
use penstock::protocol::permits::Reserve;

#[test]
fn ids_carry_their_reserve_in_the_low_bits() {
    let mut requests = Heartbeats::numbered_above(1 << 32);
    for (reserve, bits) in [(Reserve::Nothing, 0), (Reserve::Tenth, 1), (Reserve::Fifth, 2)] {
        let id = requests.start(reserve, EVENING);
        assert!(id > 1 << 32);
        assert_eq!((id & 3, reserve_of(id)), (bits, reserve));
    }
    assert_eq!(reserve_of(7), Reserve::Fifth, "an unknown reserve is the largest");
}

#[test]
fn request_without_heartbeat_is_gone_after_three_seconds() {
    let mut lease = lease_with(1);
    id_of(next_step(&mut lease, EVENING));
    for half in 0..=5 {
        lease.in_use(at(half * 500));
    }
    assert_eq!(lease.in_use(at(2_900)), 1);
    assert_eq!(lease.in_use(at(3_250)), 0);
}

#[test]
fn hold_up_leaves_requests_time_for_a_heartbeat() {
    let mut lease = lease_with(1);
    let id = id_of(next_step(&mut lease, EVENING));
    // The isolate ran no code for four seconds. The first call is by another request.
    assert!(!matches!(next_step(&mut lease, at(4_000)), NextStep::Start(_)));
    assert_eq!(lease.in_use(at(4_000)), 1);
    lease.heartbeat(id, at(4_010));
    assert_eq!(lease.in_use(at(5_000)), 1);
    // After a longer silence there is no time of grace.
    assert_eq!(lease.in_use(at(12_000)), 0);
}
