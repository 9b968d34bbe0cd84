//! The permits of one cap in one isolate, without an actor: each test plays the actor's replies.

mod instances;
mod priorities;
mod questions;

use crate::support::EVENING;
use penstock::concurrency::permit_lease::{NextStep, OriginOutcome, PermitLease};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::permits::{Holder, OriginSample, PermitAsk, PermitReply, Reserve, TERM};

const HOLDER: Holder = Holder { id: 7, life: 0 };
const PATIENCE: Span = Span::from_millis(250);

/// The size of the cap in all replies.
const CAP: u64 = 10;

/// The time `millis` after the lease's first use.
pub(super) fn at(millis: u64) -> Time {
    EVENING.plus(Span::from_millis(millis))
}

fn new_lease() -> PermitLease {
    PermitLease::new(HOLDER, Size::Fixed(CAP))
}

/// A lease with `permits`, of which no request uses any.
pub(super) fn lease_with(permits: u64) -> PermitLease {
    let mut lease = new_lease();
    (0..permits).for_each(|_| lease.note_unmet(Reserve::Nothing));
    let question = question_of(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(reply(permits)), EVENING);
    lease
}

/// The actor lends `permits`, and no other isolate holds any.
fn reply(permits: u64) -> PermitReply {
    reply_beside(0, permits)
}

/// The actor lends `permits`, and other isolates hold `others`.
fn reply_beside(others: u64, permits: u64) -> PermitReply {
    let (free, again) = (CAP - others - permits, Span::from_millis(50));
    PermitReply { permits, share: CAP, cap: CAP, free, term: TERM, again, rows: 1 }
}

/// The next step of a request of the highest priority.
pub(super) fn next_step(lease: &mut PermitLease, now: Time) -> NextStep {
    lease.next_step(Reserve::Nothing, now, PATIENCE)
}

fn question_of(step: NextStep) -> PermitAsk {
    match step {
        NextStep::Ask(question) => question,
        step => panic!("no question: {step:?}"),
    }
}

pub(super) fn id_of(step: NextStep) -> u64 {
    match step {
        NextStep::Start(id) => id,
        step => panic!("no start: {step:?}"),
    }
}

/// Starts requests until one finds no permit. Returns their ids.
fn start_all(lease: &mut PermitLease, reserve: Reserve, now: Time) -> Vec<u64> {
    let started = |step| if let NextStep::Start(id) = step { Some(id) } else { None };
    core::iter::from_fn(|| started(lease.next_step(reserve, now, PATIENCE))).collect()
}

/// Lets `more` requests find no permit, and one more ask. The actor answers with `reply`.
fn ask_and_observe(lease: &mut PermitLease, reserve: Reserve, more: u64, reply: PermitReply, now: Time) -> PermitAsk {
    (0..more).for_each(|_| lease.note_unmet(reserve));
    let question = question_of(lease.next_step(reserve, now, PATIENCE));
    lease.observe(question.number, Ok(reply), now);
    question
}

#[test]
fn crowd_of_ten_asks_twice_and_all_start() {
    let mut lease = new_lease();
    lease.note_unmet(Reserve::Nothing);
    let first = question_of(next_step(&mut lease, EVENING));
    assert_eq!((first.keeps, first.wants), (0, 1));
    for _ in 0..8 {
        assert_eq!(next_step(&mut lease, EVENING), NextStep::LookAgain);
        lease.note_unmet(Reserve::Nothing);
    }
    lease.observe(first.number, Ok(reply(1)), EVENING);
    id_of(next_step(&mut lease, EVENING));
    let second = question_of(next_step(&mut lease, EVENING));
    assert_eq!((second.keeps, second.wants), (1, 11), "the waiting requests, and a quarter more");
    lease.observe(second.number, Ok(reply(10)), EVENING);
    for _ in 0..9 {
        id_of(next_step(&mut lease, EVENING));
    }
}

#[test]
fn permit_freed_in_a_full_cap_is_used_at_once() {
    let mut lease = lease_with(2);
    let [first, _] = [(); 2].map(|()| id_of(next_step(&mut lease, EVENING)));
    let question = question_of(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(reply(2)), EVENING);
    for millis in [0, 20, 49] {
        assert_eq!(next_step(&mut lease, at(millis)), NextStep::Full, "a refused request makes no call");
    }
    lease.end(first);
    id_of(next_step(&mut lease, at(49)));
    question_of(next_step(&mut lease, at(80)));
}

#[test]
fn reply_to_an_older_question_changes_nothing() {
    let mut lease = lease_with(2);
    for _ in 0..2 {
        id_of(next_step(&mut lease, EVENING));
    }
    let late = question_of(next_step(&mut lease, EVENING));
    let next = question_of(next_step(&mut lease, at(300)));
    assert!(next.number > late.number);
    lease.observe(late.number, Ok(reply(9)), at(301));
    assert_eq!(lease.held(at(301)), 2);
    lease.observe(next.number, Ok(reply(5)), at(302));
    assert_eq!(lease.held(at(302)), 5);
}

#[test]
fn permits_end_one_term_after_the_question() {
    let mut lease = new_lease();
    lease.note_unmet(Reserve::Nothing);
    let question = question_of(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(reply(3)), at(200));
    assert_eq!((lease.held(at(9_999)), lease.held(at(10_000))), (3, 0));
    question_of(next_step(&mut lease, at(10_000)));
}

#[test]
fn permits_idle_for_a_second_are_given_back() {
    let mut lease = lease_with(8);
    let ids: Vec<u64> = (0..8).map(|_| id_of(next_step(&mut lease, EVENING))).collect();
    ids.iter().skip(1).for_each(|id| lease.end(*id));
    assert_eq!(lease.tick(at(500), PATIENCE), None);
    (1..=2).for_each(|second| {
        lease.heartbeat(ids[0], at(second * 1_000));
        assert_eq!(lease.tick(at(second * 1_000), PATIENCE).is_some(), second == 2);
    });
    // The permits are out of use as soon as the question is made, before the actor reads it.
    assert_eq!(lease.held(at(2_000)), 1);
}

#[test]
fn permits_used_a_moment_ago_are_renewed() {
    let mut lease = lease_with(8);
    let first = id_of(next_step(&mut lease, EVENING));
    lease.heartbeat(first, at(2_400));
    let ids: Vec<u64> = (0..7).map(|_| id_of(next_step(&mut lease, at(2_400)))).collect();
    ids.iter().for_each(|id| lease.end(*id));
    let question = lease.tick(at(2_500), PATIENCE).unwrap();
    assert_eq!((question.keeps, question.wants), (8, 10));
}

#[test]
fn queue_is_no_longer_than_the_number_of_permits() {
    let mut lease = lease_with(3);
    let mut waiting = |reserve| (0..5).filter(|_| lease.try_wait(reserve, EVENING).is_some()).count();
    assert_eq!(waiting(Reserve::Fifth), 3);
    assert_eq!(waiting(Reserve::Nothing), 3, "requests of a lower priority do not count");
    assert_eq!(waiting(Reserve::Fifth), 0);
}

#[test]
fn cap_10_cap_is_crowded_while_those_who_found_it_full_may_come_back() {
    let mut lease = lease_with(1);
    let id = id_of(next_step(&mut lease, EVENING));
    assert!(!lease.is_crowded(EVENING), "nobody waits");
    ask_and_observe(&mut lease, Reserve::Nothing, 0, reply_beside(9, 1), EVENING);
    assert_eq!(next_step(&mut lease, EVENING), NextStep::Full);
    assert!(lease.is_crowded(EVENING) && lease.is_crowded(at(3_900)));
    assert!(!lease.is_crowded(at(4_000)), "a client is told to come back within three seconds");
    lease.end(id);
}

#[test]
fn cap_12_429_counts_as_a_failure_and_its_time_does_not() {
    let mut lease = lease_with(1);
    for (status, took, outcome) in [
        (200, 100, OriginOutcome::Answered),
        (404, 100, OriginOutcome::Answered),
        (428, 100, OriginOutcome::Answered),
        (429, 1, OriginOutcome::Failed),
        (430, 100, OriginOutcome::Answered),
        (499, 100, OriginOutcome::Answered),
        (500, 1, OriginOutcome::Failed),
        (503, 1, OriginOutcome::Failed),
        (999, 1, OriginOutcome::Failed),
    ] {
        assert_eq!(OriginOutcome::of_status(status), outcome, "{status}");
        lease.note(Span::from_millis(took), OriginOutcome::of_status(status));
    }
    let id = id_of(next_step(&mut lease, EVENING));
    let OriginSample { ended, sum_ms, errors, .. } = question_of(next_step(&mut lease, EVENING)).sample.unwrap();
    assert_eq!((ended, sum_ms, errors), (9, 500, 4));
    lease.end(id);
}
