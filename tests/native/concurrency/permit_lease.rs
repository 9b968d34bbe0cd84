//! What an isolate makes of what it is lent.

use crate::support::EVENING;
use penstock::concurrency::permit_lease::{NextStep, PermitLease};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;
use penstock::protocol::circuit_breaker::CallResult;
use penstock::protocol::permits::{Holder, PermitAsk, PermitReply, Reserve, TERM};

const ME: Holder = Holder { id: 7, life: 0 };
const PATIENCE: Span = Span::from_millis(250);

fn ms(millis: u64) -> Time {
    EVENING.plus(Span::from_millis(millis))
}

fn lease() -> PermitLease {
    PermitLease::new(ME, Size::Fixed(10))
}

fn given(slots: u64) -> PermitReply {
    beside(0, slots)
}

/// So many slots, where others hold `others`.
fn beside(others: u64, slots: u64) -> PermitReply {
    let free = 10 - others - slots;
    PermitReply { slots, share: 10, cap: 10, free, term: TERM, again: Span::from_millis(50), rows: 1 }
}

fn asks(turn: NextStep) -> PermitAsk {
    match turn {
        NextStep::Ask(question) => question,
        turn => panic!("{turn:?}"),
    }
}

fn goes(turn: NextStep) -> u64 {
    match turn {
        NextStep::Start(id) => id,
        turn => panic!("{turn:?}"),
    }
}

fn next_step(lease: &mut PermitLease, now: Time) -> NextStep {
    lease.next_step(Reserve::Nothing, now, PATIENCE)
}

/// A book with `slots` slots in hand, none of them in use.
fn with(slots: u64) -> PermitLease {
    let mut lease = lease();
    (0..slots).for_each(|_| lease.note_unmet(Reserve::Nothing));
    let question = asks(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(given(slots)), EVENING);
    lease
}

#[test]
fn a_crowd_asks_twice_and_is_let_in_together() {
    let mut lease = lease();
    lease.note_unmet(Reserve::Nothing);
    let first = asks(next_step(&mut lease, EVENING));
    assert_eq!((first.keeps, first.wants), (0, 1));
    for _ in 0..8 {
        assert_eq!(next_step(&mut lease, EVENING), NextStep::LookAgain);
        lease.note_unmet(Reserve::Nothing);
    }
    lease.observe(first.number, Ok(given(1)), EVENING);
    goes(next_step(&mut lease, EVENING));
    let second = asks(next_step(&mut lease, EVENING));
    assert_eq!((second.keeps, second.wants), (1, 11), "those who wait, and a quarter more");
    lease.observe(second.number, Ok(given(10)), EVENING);
    for _ in 0..9 {
        goes(next_step(&mut lease, EVENING));
    }
}

#[test]
fn a_slot_that_falls_free_is_used_at_once_even_while_it_is_full() {
    let mut lease = with(2);
    let [first, _] = [(); 2].map(|()| goes(next_step(&mut lease, EVENING)));
    let question = asks(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(given(2)), EVENING);
    for at in [0, 20, 49] {
        assert_eq!(next_step(&mut lease, ms(at)), NextStep::Full, "no call for those who are refused");
    }
    lease.end(first);
    goes(next_step(&mut lease, ms(49)));
    asks(next_step(&mut lease, ms(80)));
}

#[test]
fn an_answer_that_comes_too_late_is_not_heard() {
    let mut lease = with(2);
    for _ in 0..2 {
        goes(next_step(&mut lease, EVENING));
    }
    let late = asks(next_step(&mut lease, EVENING));
    let next = asks(next_step(&mut lease, ms(300)));
    assert!(next.number > late.number);
    lease.observe(late.number, Ok(given(9)), ms(301));
    assert_eq!(lease.held(ms(301)), 2);
    lease.observe(next.number, Ok(given(5)), ms(302));
    assert_eq!(lease.held(ms(302)), 5);
}

#[test]
fn nothing_is_used_past_the_term_counted_from_the_question() {
    let mut lease = lease();
    lease.note_unmet(Reserve::Nothing);
    let question = asks(next_step(&mut lease, EVENING));
    lease.observe(question.number, Ok(given(3)), ms(200));
    assert_eq!((lease.held(ms(9_999)), lease.held(ms(10_000))), (3, 0));
    asks(next_step(&mut lease, ms(10_000)));
}

#[test]
fn what_lies_idle_for_a_second_goes_back() {
    let mut lease = with(8);
    let ids: Vec<u64> = (0..8).map(|_| goes(next_step(&mut lease, EVENING))).collect();
    ids.iter().skip(1).for_each(|id| lease.end(*id));
    assert_eq!(lease.tick(ms(500), PATIENCE), None);
    (1..=2).for_each(|second| {
        lease.heartbeat(ids[0], ms(second * 1_000));
        assert_eq!(lease.tick(ms(second * 1_000), PATIENCE).is_some(), second == 2);
    });
    // It says so before it is heard, and uses no more from that moment.
    assert_eq!(lease.held(ms(2_000)), 1);
}

#[test]
fn what_was_of_use_a_moment_ago_is_still_wanted_when_slots_are_renewed() {
    let mut lease = with(8);
    let first = goes(next_step(&mut lease, EVENING));
    lease.heartbeat(first, ms(2_400));
    let ids: Vec<u64> = (0..7).map(|_| goes(next_step(&mut lease, ms(2_400)))).collect();
    ids.iter().for_each(|id| lease.end(*id));
    let question = lease.tick(ms(2_500), PATIENCE).unwrap();
    assert_eq!((question.keeps, question.wants), (8, 10));
}

#[test]
fn a_request_that_gives_no_sign_of_life_is_gone_after_three_seconds() {
    let mut lease = with(1);
    goes(next_step(&mut lease, EVENING));
    for half in 0..=5 {
        lease.in_use(ms(half * 500));
    }
    assert_eq!(lease.in_use(ms(2_900)), 1);
    assert_eq!(lease.in_use(ms(3_250)), 0);
}

#[test]
fn after_a_hold_up_the_living_get_their_turn_before_they_are_counted_out() {
    let mut lease = with(1);
    let id = goes(next_step(&mut lease, EVENING));
    // The isolate was held up for four seconds, and a newcomer has the first turn.
    assert_ne!(next_step(&mut lease, ms(4_000)), NextStep::Start(id + 1));
    assert_eq!(lease.in_use(ms(4_000)), 1);
    lease.heartbeat(id, ms(4_010));
    assert_eq!(lease.in_use(ms(5_000)), 1);
    // Where nobody was heard of for longer than that, nobody was there.
    assert_eq!(lease.in_use(ms(12_000)), 0);
}

/// As many as get a slot without asking.
fn let_in(lease: &mut PermitLease, reserve: Reserve, now: Time) -> Vec<u64> {
    let go = |turn| if let NextStep::Start(id) = turn { Some(id) } else { None };
    core::iter::from_fn(|| go(lease.next_step(reserve, now, PATIENCE))).collect()
}

/// Asks for `more` that leave so much, and hears this.
fn ask_for(lease: &mut PermitLease, reserve: Reserve, more: u64, answer: PermitReply, now: Time) -> PermitAsk {
    (0..more).for_each(|_| lease.note_unmet(reserve));
    let question = asks(lease.next_step(reserve, now, PATIENCE));
    lease.observe(question.number, Ok(answer), now);
    question
}

#[test]
fn low_requests_use_what_leaves_enough_to_others_even_if_all_of_it_is_used() {
    for (others, low, normal) in [(5, 3, 3), (6, 2, 3), (7, 1, 2)] {
        for (reserve, passed) in [(Reserve::Fifth, low), (Reserve::Tenth, normal), (Reserve::Nothing, 3)] {
            let mut lease = lease();
            ask_for(&mut lease, Reserve::Nothing, 3, beside(others, 3), EVENING);
            assert_eq!(let_in(&mut lease, reserve, EVENING).len(), passed, "{reserve:?} beside {others}");
        }
    }
}

#[test]
fn what_nobody_has_used_is_not_kept_for_low_requests() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Nothing, 2, beside(8, 2), EVENING);
    let asked = ask_for(&mut lease, Reserve::Fifth, 4, beside(3, 5), ms(300));
    assert_eq!((asked.keeps, asked.wants, asked.reserve), (0, 5, Reserve::Fifth));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(300)).len(), 5);
}

#[test]
fn high_requests_take_the_places_of_low_ones_as_these_end() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 8, beside(0, 8), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    let asked = ask_for(&mut lease, Reserve::Nothing, 2, beside(0, 10), ms(300));
    assert_eq!((asked.keeps, asked.wants), (8, 10), "no margin for others");
    let high = let_in(&mut lease, Reserve::Nothing, ms(300));
    assert_eq!((low.len(), high.len()), (8, 2));
    // Low ones are always a moment earlier, and in vain.
    for id in low {
        lease.end(id);
        assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(400)).len(), 0);
        assert_eq!(let_in(&mut lease, Reserve::Nothing, ms(400)).len(), 1);
    }
    // Nor are those for them that a higher one leaves.
    high.iter().for_each(|id| lease.end(*id));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(500)).len(), 0);
}

#[test]
fn low_requests_use_what_high_ones_have_left_idle_but_for_what_they_leave() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Nothing, 10, beside(0, 10), EVENING);
    let high = let_in(&mut lease, Reserve::Nothing, EVENING);
    high.iter().for_each(|id| lease.end(*id));
    assert_eq!((high.len(), let_in(&mut lease, Reserve::Fifth, ms(100)).len()), (10, 8));
}

#[test]
fn low_requests_have_no_larger_share_than_high_ones() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 8, beside(0, 8), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    ask_for(&mut lease, Reserve::Nothing, 1, PermitReply { share: 5, ..beside(2, 8) }, ms(300));
    low.iter().take(4).for_each(|id| lease.end(*id));
    assert_eq!((low.len(), let_in(&mut lease, Reserve::Fifth, ms(300)).len()), (8, 1));
}

#[test]
fn high_requests_that_found_no_slot_go_before_low_ones_for_a_moment() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 3, beside(5, 3), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    ask_for(&mut lease, Reserve::Nothing, 1, beside(7, 3), ms(300));
    assert_eq!(next_step(&mut lease, ms(310)), NextStep::Full);
    lease.note_unmet(Reserve::Nothing);
    low.iter().take(2).for_each(|id| lease.end(*id));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(320)).len(), 1, "one slot is for the one that was refused");
    lease.end(low[2]);
    goes(next_step(&mut lease, ms(330)));
    // Those who never come again keep nobody out.
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(1_400)).len(), 1);
}

#[test]
fn low_requests_leave_a_part_also_of_what_an_isolate_uses_alone() {
    let mut lease = with(10);
    let mut enter = |reserve| core::iter::from_fn(|| lease.start_locally(reserve, ms(10_000))).count();
    assert_eq!([Reserve::Fifth, Reserve::Tenth, Reserve::Nothing].map(&mut enter), [8, 1, 1]);
    let mut newcomer = self::lease();
    assert!(newcomer.start_locally(Reserve::Fifth, EVENING).is_some(), "at least one");
}

#[test]
fn low_requests_ask_for_those_too_that_go_before_them() {
    let mut lease = lease();
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
    (0..3).for_each(|_| lease.note_unmet(Reserve::Nothing));
    assert_eq!(ask_for(&mut lease, Reserve::Fifth, 1, beside(0, 4), EVENING).wants, 4);
    assert_eq!(let_in(&mut lease, Reserve::Fifth, EVENING).len(), 1);
}

#[test]
fn a_crowd_of_low_requests_does_not_keep_the_slot_of_a_high_one_from_going_back() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 4, beside(4, 4), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    ask_for(&mut lease, Reserve::Nothing, 2, beside(4, 6), ms(300));
    let_in(&mut lease, Reserve::Nothing, ms(300)).iter().for_each(|id| lease.end(*id));
    let now = ms(2_400);
    low.iter().for_each(|id| lease.heartbeat(*id, now));
    let asked = lease.tick(now, PATIENCE).unwrap();
    assert_eq!((asked.keeps, asked.reserve), (4, Reserve::Fifth));
}

#[test]
fn a_crowd_of_low_requests_does_not_make_a_high_one_ask_for_more_than_its_own() {
    let mut lease = lease();
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
    (0..50).for_each(|_| lease.note_unmet(Reserve::Fifth));
    let asked = ask_for(&mut lease, Reserve::Nothing, 1, beside(8, 1), EVENING);
    assert_eq!(asked.wants, 1);
    assert_eq!(ask_for(&mut lease, Reserve::Fifth, 0, beside(8, 1), EVENING).wants, 62);
}

#[test]
fn who_hears_that_there_is_nothing_for_low_requests_does_not_ask_again_at_once() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Nothing, 2, beside(7, 2), EVENING);
    let high = [(); 2].map(|()| goes(next_step(&mut lease, EVENING)));
    lease.end(high[0]);
    // It has all that it wants, but not for such.
    let asked = ask_for(&mut lease, Reserve::Fifth, 1, beside(7, 2), EVENING);
    assert_eq!((asked.keeps, asked.wants), (2, 2));
    assert_eq!(lease.next_step(Reserve::Fifth, EVENING, PATIENCE), NextStep::Full);
    goes(next_step(&mut lease, EVENING));
}

#[test]
fn what_comes_back_after_its_term_is_for_low_requests_what_it_would_be_to_anyone() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 4, beside(4, 4), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    // Sent before its term ends, and answered after that: others may have been lent the slots meanwhile.
    low.iter().for_each(|id| lease.extend_heartbeat(*id, ms(0), Span::from_secs(20)));
    let question = lease.tick(ms(9_900), PATIENCE).unwrap();
    lease.observe(question.number, Ok(beside(6, 4)), ms(10_100));
    lease.end(low[0]);
    assert_eq!((lease.held(ms(10_100)), lease.held_for(Reserve::Fifth, ms(10_100))), (4, 2));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(10_100)).len(), 0);
    assert_eq!(let_in(&mut lease, Reserve::Nothing, ms(10_100)).len(), 1);
}

#[test]
fn what_low_requests_may_use_follows_a_cap_that_moves() {
    let mut lease = lease();
    ask_for(&mut lease, Reserve::Fifth, 8, given(8), EVENING);
    let low = let_in(&mut lease, Reserve::Fifth, EVENING);
    assert_eq!(low.len(), 8);
    low.iter().for_each(|id| lease.heartbeat(*id, ms(2_500)));
    let question = lease.tick(ms(2_500), PATIENCE).unwrap();
    lease.observe(question.number, Ok(PermitReply { cap: 5, share: 5, ..given(8) }), ms(2_500));
    assert_eq!(lease.held_for(Reserve::Fifth, ms(2_500)), 4);
    low.iter().take(5).for_each(|id| lease.end(*id));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, ms(2_500)).len(), 1);
}

#[test]
fn what_an_earlier_instance_left_under_way_is_counted_in_the_first_question_of_the_next() {
    let mut old = with(5);
    let ids = [(); 3].map(|()| goes(next_step(&mut old, EVENING)));
    let _others = [(); 2].map(|()| goes(next_step(&mut old, EVENING)));
    let asked = asks(next_step(&mut old, EVENING));
    let mut lease = PermitLease::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    ids.iter().for_each(|id| lease.heartbeat(*id, ms(100)));
    let question = asks(next_step(&mut lease, ms(100)));
    assert_eq!((question.holder, question.keeps), (asked.holder, 3));
    assert!(question.number > asked.number);
    // What the old one asked is not answered to it.
    lease.observe(asked.number, Ok(given(10)), ms(150));
    assert_eq!(lease.held(ms(150)), 0);
    lease.observe(question.number, Ok(given(4)), ms(200));
    let next = goes(next_step(&mut lease, ms(200)));
    assert!(!ids.contains(&next));
    asks(next_step(&mut lease, ms(300)));
    assert_eq!(lease.in_use(ms(300)), 4);
    lease.end(ids[0]);
    goes(next_step(&mut lease, ms(300)));
}

#[test]
fn what_gave_no_sign_of_life_again_is_gone_from_the_next_instance_too() {
    let mut lease = PermitLease::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    (1..=2).for_each(|id| lease.heartbeat(id, EVENING));
    for half in 1..=6 {
        lease.heartbeat(2, ms(half * 500));
    }
    assert_eq!(lease.in_use(ms(3_250)), 1);
    assert_eq!(lease.tick(ms(3_250), PATIENCE).map(|question| question.keeps), Some(1), "without any request");
}

#[test]
fn what_an_earlier_instance_held_and_nobody_uses_goes_back() {
    let mut lease = PermitLease::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    lease.heartbeat(1, EVENING);
    lease.end(1);
    assert!(lease.claim_return(EVENING));
    let question = lease.tick(EVENING, PATIENCE).unwrap();
    assert_eq!((question.keeps, question.wants), (0, 0));
    assert!(lease.keeps_returning(1, EVENING), "until the actor has heard it");
    lease.observe(question.number, Ok(given(0)), EVENING);
    assert!(!lease.keeps_returning(1, EVENING));
    assert_eq!(lease.tick(EVENING, PATIENCE), None);
}

#[test]
fn an_actor_in_trouble_is_left_alone_for_a_while() {
    let mut lease = with(1);
    goes(next_step(&mut lease, EVENING));
    let question = asks(next_step(&mut lease, EVENING));
    lease.observe(question.number, Err(CallResult::Failure), EVENING);
    let question = asks(next_step(&mut lease, EVENING));
    lease.observe(question.number, Err(CallResult::Failure), EVENING);
    assert_eq!(next_step(&mut lease, ms(100)), NextStep::Unknown, "twice in a row");
    assert_eq!(lease.tick(ms(100), PATIENCE), None);
    let question = asks(next_step(&mut lease, ms(400)));
    assert_eq!(next_step(&mut lease, ms(401)), NextStep::Unknown, "nobody waits for the one that finds out");
    lease.observe(question.number, Ok(given(1)), ms(402));
    asks(next_step(&mut lease, ms(500)));
    assert_eq!(next_step(&mut lease, ms(501)), NextStep::LookAgain);
}

#[test]
fn who_has_no_time_left_does_not_ask_and_takes_no_probe_from_others() {
    let mut lease = with(0);
    assert_eq!(lease.next_step(Reserve::Nothing, ms(100), Span::ZERO), NextStep::Unknown);
    let question = asks(next_step(&mut lease, ms(100)));
    lease.observe(question.number, Err(CallResult::Overload), ms(100));
    assert_eq!(lease.next_step(Reserve::Nothing, ms(600), Span::ZERO), NextStep::Unknown);
    asks(next_step(&mut lease, ms(600)));
}

#[test]
fn what_is_under_way_is_renewed_while_its_term_runs_although_its_actor_is_left_alone() {
    for crowd in [true, false] {
        let mut lease = with(1);
        let id = goes(next_step(&mut lease, EVENING));
        let mut asked = vec![0];
        for at in (0..60_000).step_by(100) {
            lease.heartbeat(id, ms(at));
            let tick = if at % 1_000 == 0 { lease.tick(ms(at), PATIENCE) } else { None };
            let question = tick.or_else(|| match next_step(&mut lease, ms(at)) {
                NextStep::Ask(question) if crowd => Some(question),
                _ => None,
            });
            if let Some(question) = question {
                lease.observe(question.number, Err(CallResult::Overload), ms(at));
                asked.push(at);
            }
        }
        let (term, then): (Vec<u64>, Vec<u64>) = asked.into_iter().partition(|at| *at < 10_000);
        assert!(term.windows(2).all(|pair| pair[1] - pair[0] <= 3_500), "{term:?}");
        assert!(term.len() <= 9, "{term:?}");
        assert!((3..=10).contains(&then.len()), "and then like any other question: {then:?}");
    }
}

#[test]
fn low_requests_leave_room_for_high_ones_that_wait() {
    let mut lease = with(3);
    let ids = [(); 3].map(|()| goes(next_step(&mut lease, EVENING)));
    let waiting = lease.try_wait(Reserve::Nothing, EVENING).unwrap();
    ids.iter().for_each(|id| lease.end(*id));
    assert_eq!(let_in(&mut lease, Reserve::Fifth, EVENING).len(), 2);
    lease.stop_waiting(waiting);
    assert_eq!(let_in(&mut lease, Reserve::Fifth, EVENING).len(), 1);
}

#[test]
fn of_those_who_wait_there_are_no_more_than_of_those_who_work() {
    let mut lease = with(3);
    let mut waiting = |reserve| (0..5).filter(|_| lease.try_wait(reserve, EVENING).is_some()).count();
    assert_eq!(waiting(Reserve::Fifth), 3);
    assert_eq!(waiting(Reserve::Nothing), 3, "those below come after them");
    assert_eq!(waiting(Reserve::Fifth), 0);
}
