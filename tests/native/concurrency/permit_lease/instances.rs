//! A lease in an isolate whose module has failed: the next instance takes it over.

use super::{HOLDER, PATIENCE, at, id_of, lease_with, next_step, question_of, reply};
use crate::support::EVENING;
use penstock::concurrency::permit_lease::PermitLease;
use penstock::policy::Size;
use penstock::protocol::permits::Holder;

#[test]
fn first_question_of_the_next_instance_counts_requests_in_flight() {
    let mut old = lease_with(5);
    let ids = [(); 3].map(|()| id_of(next_step(&mut old, EVENING)));
    let _others = [(); 2].map(|()| id_of(next_step(&mut old, EVENING)));
    let asked = question_of(next_step(&mut old, EVENING));
    let mut lease = PermitLease::new(Holder { life: 1, ..HOLDER }, Size::Fixed(10));
    ids.iter().for_each(|id| lease.heartbeat(*id, at(100)));
    let question = question_of(next_step(&mut lease, at(100)));
    assert_eq!((question.holder, question.keeps), (asked.holder, 3));
    assert!(question.number > asked.number);
    // A reply to the earlier instance's question changes nothing.
    lease.observe(asked.number, Ok(reply(10)), at(150));
    assert_eq!(lease.held(at(150)), 0);
    lease.observe(question.number, Ok(reply(4)), at(200));
    let next = id_of(next_step(&mut lease, at(200)));
    assert!(!ids.contains(&next));
    question_of(next_step(&mut lease, at(300)));
    assert_eq!(lease.in_use(at(300)), 4);
    lease.end(ids[0]);
    id_of(next_step(&mut lease, at(300)));
}

#[test]
fn next_instance_drops_requests_without_heartbeat() {
    let mut lease = PermitLease::new(Holder { life: 1, ..HOLDER }, Size::Fixed(10));
    (1..=2).for_each(|id| lease.heartbeat(id, EVENING));
    for half in 1..=6 {
        lease.heartbeat(2, at(half * 500));
    }
    assert_eq!(lease.in_use(at(3_250)), 1);
    assert_eq!(lease.tick(at(3_250), PATIENCE).map(|question| question.keeps), Some(1), "no request comes");
}

#[test]
fn next_instance_returns_unused_permits_of_the_earlier_one() {
    let mut lease = PermitLease::new(Holder { life: 1, ..HOLDER }, Size::Fixed(10));
    lease.heartbeat(1, EVENING);
    lease.end(1);
    assert!(lease.claim_return(EVENING));
    let question = lease.tick(EVENING, PATIENCE).unwrap();
    assert_eq!((question.keeps, question.wants), (0, 0));
    assert!(lease.keeps_returning(1, EVENING), "until the actor has answered");
    lease.observe(question.number, Ok(reply(0)), EVENING);
    assert!(!lease.keeps_returning(1, EVENING));
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
}
