//! What an isolate makes of what it is lent.

use crate::support::EVENING;
use penstock::gate::circuit::Heard;
use penstock::gate::slots::book::{Book, Turn};
use penstock::gate::slots::{Answer, Holder, Question, Reserve, TERM};
use penstock::limit::time::{Span, Time};
use penstock::policy::Size;

const ME: Holder = Holder { id: 7, life: 0 };
const PATIENCE: Span = Span::from_millis(250);

fn ms(millis: u64) -> Time {
    EVENING.plus(Span::from_millis(millis))
}

fn book() -> Book {
    Book::new(ME, Size::Fixed(10))
}

fn given(slots: u64) -> Answer {
    Answer { slots, share: 10, cap: 10, free: 10 - slots, term: TERM, again: Span::from_millis(50), rows: 1 }
}

fn asks(turn: Turn) -> Question {
    match turn {
        Turn::Ask(question) => question,
        turn => panic!("{turn:?}"),
    }
}

fn goes(turn: Turn) -> u64 {
    match turn {
        Turn::Go(id) => id,
        turn => panic!("{turn:?}"),
    }
}

fn turn(book: &mut Book, now: Time) -> Turn {
    book.turn(Reserve::Nothing, now, PATIENCE)
}

/// A book with `slots` slots in hand, none of them in use.
fn with(slots: u64) -> Book {
    let mut book = book();
    (0..slots).for_each(|_| book.press());
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Ok(given(slots)), EVENING);
    book
}

#[test]
fn a_crowd_asks_twice_and_is_let_in_together() {
    let mut book = book();
    book.press();
    let first = asks(turn(&mut book, EVENING));
    assert_eq!((first.keeps, first.wants), (0, 1));
    for _ in 0..8 {
        assert_eq!(turn(&mut book, EVENING), Turn::Look);
        book.press();
    }
    book.hear(first.number, Ok(given(1)), EVENING);
    goes(turn(&mut book, EVENING));
    let second = asks(turn(&mut book, EVENING));
    assert_eq!((second.keeps, second.wants), (1, 11), "those who wait, and a quarter more");
    book.hear(second.number, Ok(given(10)), EVENING);
    for _ in 0..9 {
        goes(turn(&mut book, EVENING));
    }
}

#[test]
fn a_slot_that_falls_free_is_used_at_once_even_while_it_is_full() {
    let mut book = with(2);
    let [first, _] = [(); 2].map(|()| goes(turn(&mut book, EVENING)));
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Ok(given(2)), EVENING);
    for at in [0, 20, 49] {
        assert_eq!(turn(&mut book, ms(at)), Turn::Full, "no call for those who are refused");
    }
    book.leave(first);
    goes(turn(&mut book, ms(49)));
    asks(turn(&mut book, ms(80)));
}

#[test]
fn an_answer_that_comes_too_late_is_not_heard() {
    let mut book = with(2);
    for _ in 0..2 {
        goes(turn(&mut book, EVENING));
    }
    let late = asks(turn(&mut book, EVENING));
    let next = asks(turn(&mut book, ms(300)));
    assert!(next.number > late.number);
    book.hear(late.number, Ok(given(9)), ms(301));
    assert_eq!(book.held(ms(301)), 2);
    book.hear(next.number, Ok(given(5)), ms(302));
    assert_eq!(book.held(ms(302)), 5);
}

#[test]
fn nothing_is_used_past_the_term_counted_from_the_question() {
    let mut book = book();
    book.press();
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Ok(given(3)), ms(200));
    assert_eq!((book.held(ms(9_999)), book.held(ms(10_000))), (3, 0));
    asks(turn(&mut book, ms(10_000)));
}

#[test]
fn what_lies_idle_for_a_second_goes_back() {
    let mut book = with(8);
    let ids: Vec<u64> = (0..8).map(|_| goes(turn(&mut book, EVENING))).collect();
    ids.iter().skip(1).for_each(|id| book.leave(*id));
    assert_eq!(book.tick(ms(500), PATIENCE), None);
    (1..=2).for_each(|second| {
        book.beat(ids[0], ms(second * 1_000));
        assert_eq!(book.tick(ms(second * 1_000), PATIENCE).is_some(), second == 2);
    });
    // It says so before it is heard, and uses no more from that moment.
    assert_eq!(book.held(ms(2_000)), 1);
}

#[test]
fn a_request_that_gives_no_sign_of_life_is_gone_after_three_seconds() {
    let mut book = with(1);
    goes(turn(&mut book, EVENING));
    for half in 0..=5 {
        book.in_use(ms(half * 500));
    }
    assert_eq!(book.in_use(ms(2_900)), 1);
    assert_eq!(book.in_use(ms(3_250)), 0);
}

#[test]
fn after_a_hold_up_the_living_get_their_turn_before_they_are_counted_out() {
    let mut book = with(1);
    let id = goes(turn(&mut book, EVENING));
    // The isolate was held up for four seconds, and a newcomer has the first turn.
    assert_ne!(turn(&mut book, ms(4_000)), Turn::Go(id + 1));
    assert_eq!(book.in_use(ms(4_000)), 1);
    book.beat(id, ms(4_010));
    assert_eq!(book.in_use(ms(5_000)), 1);
    // Where nobody was heard of for longer than that, nobody was there.
    assert_eq!(book.in_use(ms(12_000)), 0);
}

#[test]
fn low_requests_leave_their_part_of_what_the_isolate_holds_as_the_cap_fills_up() {
    let mut book = Book::new(ME, Size::Fixed(100));
    (0..40).for_each(|_| book.press());
    let question = asks(turn(&mut book, EVENING));
    let answer =
        |free| Answer { slots: 50, share: 100, cap: 100, free, term: TERM, again: Span::from_millis(50), rows: 0 };
    book.hear(question.number, Ok(answer(50)), EVENING);
    let low = |book: &mut Book| {
        (0..60).filter(|_| matches!(book.turn(Reserve::Fifth, EVENING, PATIENCE), Turn::Go(_))).count()
    };
    assert_eq!(low(&mut book), 50, "there is plenty");
    let mut book = Book::new(ME, Size::Fixed(100));
    (0..40).for_each(|_| book.press());
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Ok(answer(0)), EVENING);
    assert_eq!(low(&mut book), 40, "others hold the rest: a fifth of its own is what it leaves");
    goes(turn(&mut book, EVENING));
}

#[test]
fn what_an_earlier_instance_left_under_way_is_counted_in_the_first_question_of_the_next() {
    let mut old = with(5);
    let ids = [(); 3].map(|()| goes(turn(&mut old, EVENING)));
    let _others = [(); 2].map(|()| goes(turn(&mut old, EVENING)));
    let asked = asks(turn(&mut old, EVENING));
    let mut book = Book::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    ids.iter().for_each(|id| book.beat(*id, ms(100)));
    let question = asks(turn(&mut book, ms(100)));
    assert_eq!((question.holder, question.keeps), (asked.holder, 3));
    assert!(question.number > asked.number);
    // What the old one asked is not answered to it.
    book.hear(asked.number, Ok(given(10)), ms(150));
    assert_eq!(book.held(ms(150)), 0);
    book.hear(question.number, Ok(given(4)), ms(200));
    let next = goes(turn(&mut book, ms(200)));
    assert!(!ids.contains(&next));
    asks(turn(&mut book, ms(300)));
    assert_eq!(book.in_use(ms(300)), 4);
    book.leave(ids[0]);
    goes(turn(&mut book, ms(300)));
}

#[test]
fn what_gave_no_sign_of_life_again_is_gone_from_the_next_instance_too() {
    let mut book = Book::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    (1..=2).for_each(|id| book.beat(id, EVENING));
    for half in 1..=6 {
        book.beat(2, ms(half * 500));
    }
    assert_eq!(book.in_use(ms(3_250)), 1);
    assert_eq!(book.tick(ms(3_250), PATIENCE).map(|question| question.keeps), Some(1), "without any request");
}

#[test]
fn what_an_earlier_instance_held_and_nobody_uses_goes_back() {
    let mut book = Book::new(Holder { life: 1, ..ME }, Size::Fixed(10));
    book.beat(1, EVENING);
    book.leave(1);
    assert!(book.tend(EVENING));
    let question = book.tick(EVENING, PATIENCE).unwrap();
    assert_eq!((question.keeps, question.wants), (0, 0));
    assert!(book.tend_on(1, EVENING), "until the actor has heard it");
    book.hear(question.number, Ok(given(0)), EVENING);
    assert!(!book.tend_on(1, EVENING));
    assert_eq!(book.tick(EVENING, PATIENCE), None);
}

#[test]
fn an_actor_in_trouble_is_left_alone_for_a_while() {
    let mut book = with(1);
    goes(turn(&mut book, EVENING));
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Err(Heard::Failure), EVENING);
    let question = asks(turn(&mut book, EVENING));
    book.hear(question.number, Err(Heard::Failure), EVENING);
    assert_eq!(turn(&mut book, ms(100)), Turn::Unknown, "twice in a row");
    assert_eq!(book.tick(ms(100), PATIENCE), None);
    let question = asks(turn(&mut book, ms(400)));
    assert_eq!(turn(&mut book, ms(401)), Turn::Unknown, "nobody waits for the one that finds out");
    book.hear(question.number, Ok(given(1)), ms(402));
    asks(turn(&mut book, ms(500)));
    assert_eq!(turn(&mut book, ms(501)), Turn::Look);
}

#[test]
fn who_has_no_time_left_does_not_ask_and_takes_no_probe_from_others() {
    let mut book = with(0);
    assert_eq!(book.turn(Reserve::Nothing, ms(100), Span::ZERO), Turn::Unknown);
    let question = asks(turn(&mut book, ms(100)));
    book.hear(question.number, Err(Heard::Overload), ms(100));
    assert_eq!(book.turn(Reserve::Nothing, ms(600), Span::ZERO), Turn::Unknown);
    asks(turn(&mut book, ms(600)));
}

#[test]
fn what_is_under_way_is_renewed_while_its_term_runs_although_its_actor_is_left_alone() {
    for crowd in [true, false] {
        let mut book = with(1);
        let id = goes(turn(&mut book, EVENING));
        let mut asked = vec![0];
        for at in (0..60_000).step_by(100) {
            book.beat(id, ms(at));
            let tick = if at % 1_000 == 0 { book.tick(ms(at), PATIENCE) } else { None };
            let question = tick.or_else(|| match turn(&mut book, ms(at)) {
                Turn::Ask(question) if crowd => Some(question),
                _ => None,
            });
            if let Some(question) = question {
                book.hear(question.number, Err(Heard::Overload), ms(at));
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
fn of_those_who_wait_there_are_no_more_than_of_those_who_work() {
    let mut book = with(3);
    let waiting: Vec<bool> = (0..5).map(|_| book.may_wait(EVENING).is_some()).collect();
    assert_eq!(waiting, [true, true, true, false, false]);
}
