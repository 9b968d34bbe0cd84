//! Requests of several priorities under one cap: what each leaves to the higher ones.

use super::{PATIENCE, ask_and_observe, at, id_of, lease_with, new_lease, next_step, reply, reply_beside, start_all};
use crate::support::EVENING;
use penstock::concurrency::permit_lease::NextStep;
use penstock::limit::time::Span;
use penstock::protocol::permits::{PermitReply, Reserve};

#[test]
fn low_requests_keep_the_reserve_free_even_if_others_use_all_they_hold() {
    for (others, low, normal) in [(5, 3, 3), (6, 2, 3), (7, 1, 2)] {
        for (reserve, started) in [(Reserve::Fifth, low), (Reserve::Tenth, normal), (Reserve::Nothing, 3)] {
            let mut lease = new_lease();
            ask_and_observe(&mut lease, Reserve::Nothing, 3, reply_beside(others, 3), EVENING);
            assert_eq!(start_all(&mut lease, reserve, EVENING).len(), started, "{reserve:?} beside {others}");
        }
    }
}

#[test]
fn unused_permits_of_high_requests_are_not_kept_for_low_ones() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Nothing, 2, reply_beside(8, 2), EVENING);
    let asked = ask_and_observe(&mut lease, Reserve::Fifth, 4, reply_beside(3, 5), at(300));
    assert_eq!((asked.keeps, asked.wants, asked.reserve), (0, 5, Reserve::Fifth));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(300)).len(), 5);
}

#[test]
fn high_requests_take_permits_of_low_ones_as_these_end() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 8, reply_beside(0, 8), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    let asked = ask_and_observe(&mut lease, Reserve::Nothing, 2, reply_beside(0, 10), at(300));
    assert_eq!((asked.keeps, asked.wants), (8, 10), "no margin for another priority");
    let high = start_all(&mut lease, Reserve::Nothing, at(300));
    assert_eq!((low.len(), high.len()), (8, 2));
    // Low requests always come first, and get no permit.
    for id in low {
        lease.end(id);
        assert_eq!(start_all(&mut lease, Reserve::Fifth, at(400)).len(), 0);
        assert_eq!(start_all(&mut lease, Reserve::Nothing, at(400)).len(), 1);
    }
    // A permit that a high request frees is not for low ones either.
    high.iter().for_each(|id| lease.end(*id));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(500)).len(), 0);
}

#[test]
fn low_requests_use_idle_permits_of_high_ones_except_the_reserve() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Nothing, 10, reply_beside(0, 10), EVENING);
    let high = start_all(&mut lease, Reserve::Nothing, EVENING);
    high.iter().for_each(|id| lease.end(*id));
    assert_eq!((high.len(), start_all(&mut lease, Reserve::Fifth, at(100)).len()), (10, 8));
}

#[test]
fn low_requests_have_no_larger_share_than_high_ones() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 8, reply_beside(0, 8), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    ask_and_observe(&mut lease, Reserve::Nothing, 1, PermitReply { share: 5, ..reply_beside(2, 8) }, at(300));
    low.iter().take(4).for_each(|id| lease.end(*id));
    assert_eq!((low.len(), start_all(&mut lease, Reserve::Fifth, at(300)).len()), (8, 1));
}

#[test]
fn refused_high_request_goes_before_low_ones_for_a_moment() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 3, reply_beside(5, 3), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    ask_and_observe(&mut lease, Reserve::Nothing, 1, reply_beside(7, 3), at(300));
    assert_eq!(next_step(&mut lease, at(310)), NextStep::Full);
    lease.note_unmet(Reserve::Nothing);
    low.iter().take(2).for_each(|id| lease.end(*id));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(320)).len(), 1, "one permit is for the refused request");
    lease.end(low[2]);
    id_of(next_step(&mut lease, at(330)));
    // A refused request that does not come again holds up others for a second at most.
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(1_400)).len(), 1);
}

#[test]
fn low_requests_keep_the_reserve_free_without_the_actor() {
    let mut lease = lease_with(10);
    let mut started = |reserve| core::iter::from_fn(|| lease.start_locally(reserve, at(10_000))).count();
    assert_eq!([Reserve::Fifth, Reserve::Tenth, Reserve::Nothing].map(&mut started), [8, 1, 1]);
    let mut newcomer = new_lease();
    assert!(newcomer.start_locally(Reserve::Fifth, EVENING).is_some(), "at least one");
}

#[test]
fn low_request_asks_also_for_high_requests_ahead_of_it() {
    let mut lease = new_lease();
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
    (0..3).for_each(|_| lease.note_unmet(Reserve::Nothing));
    assert_eq!(ask_and_observe(&mut lease, Reserve::Fifth, 1, reply_beside(0, 4), EVENING).wants, 4);
    assert_eq!(start_all(&mut lease, Reserve::Fifth, EVENING).len(), 1);
}

#[test]
fn crowd_of_low_requests_does_not_keep_idle_permits_of_high_ones() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 4, reply_beside(4, 4), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    ask_and_observe(&mut lease, Reserve::Nothing, 2, reply_beside(4, 6), at(300));
    start_all(&mut lease, Reserve::Nothing, at(300)).iter().for_each(|id| lease.end(*id));
    let now = at(2_400);
    low.iter().for_each(|id| lease.heartbeat(*id, now));
    let asked = lease.tick(now, PATIENCE).unwrap();
    assert_eq!((asked.keeps, asked.reserve), (4, Reserve::Fifth));
}

#[test]
fn high_request_does_not_ask_for_a_crowd_of_low_ones() {
    let mut lease = new_lease();
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
    (0..50).for_each(|_| lease.note_unmet(Reserve::Fifth));
    let asked = ask_and_observe(&mut lease, Reserve::Nothing, 1, reply_beside(8, 1), EVENING);
    assert_eq!(asked.wants, 1);
    assert_eq!(ask_and_observe(&mut lease, Reserve::Fifth, 0, reply_beside(8, 1), EVENING).wants, 62);
}

#[test]
fn low_request_refused_by_the_actor_does_not_ask_again_at_once() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Nothing, 2, reply_beside(7, 2), EVENING);
    let high = [(); 2].map(|()| id_of(next_step(&mut lease, EVENING)));
    lease.end(high[0]);
    // The isolate holds as many permits as it wants, but none for a low request.
    let asked = ask_and_observe(&mut lease, Reserve::Fifth, 1, reply_beside(7, 2), EVENING);
    assert_eq!((asked.keeps, asked.wants), (2, 2));
    assert_eq!(lease.next_step(Reserve::Fifth, EVENING, PATIENCE), NextStep::Full);
    id_of(next_step(&mut lease, EVENING));
}

#[test]
fn permits_renewed_after_their_term_keep_the_reserve_free_anew() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 4, reply_beside(4, 4), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    // The question is asked within the term and answered after it. Other isolates may have been
    // lent the permits meanwhile.
    low.iter().for_each(|id| lease.extend_heartbeat(*id, at(0), Span::from_secs(20)));
    let question = lease.tick(at(9_900), PATIENCE).unwrap();
    lease.observe(question.number, Ok(reply_beside(6, 4)), at(10_100));
    lease.end(low[0]);
    assert_eq!((lease.held(at(10_100)), lease.held_for(Reserve::Fifth, at(10_100))), (4, 2));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(10_100)).len(), 0);
    assert_eq!(start_all(&mut lease, Reserve::Nothing, at(10_100)).len(), 1);
}

#[test]
fn smaller_cap_lowers_the_permits_of_low_requests() {
    let mut lease = new_lease();
    ask_and_observe(&mut lease, Reserve::Fifth, 8, reply(8), EVENING);
    let low = start_all(&mut lease, Reserve::Fifth, EVENING);
    assert_eq!(low.len(), 8);
    low.iter().for_each(|id| lease.heartbeat(*id, at(2_500)));
    let question = lease.tick(at(2_500), PATIENCE).unwrap();
    lease.observe(question.number, Ok(PermitReply { cap: 5, share: 5, ..reply(8) }), at(2_500));
    assert_eq!(lease.held_for(Reserve::Fifth, at(2_500)), 4);
    low.iter().take(5).for_each(|id| lease.end(*id));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, at(2_500)).len(), 1);
}

#[test]
fn low_requests_leave_room_for_waiting_high_ones() {
    let mut lease = lease_with(3);
    let ids = [(); 3].map(|()| id_of(next_step(&mut lease, EVENING)));
    let waiting = lease.try_wait(Reserve::Nothing, EVENING).unwrap();
    ids.iter().for_each(|id| lease.end(*id));
    assert_eq!(start_all(&mut lease, Reserve::Fifth, EVENING).len(), 2);
    lease.stop_waiting(waiting);
    assert_eq!(start_all(&mut lease, Reserve::Fifth, EVENING).len(), 1);
}
