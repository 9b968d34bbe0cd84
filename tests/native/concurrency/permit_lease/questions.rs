//! A lease whose actor is in trouble.

use super::{PATIENCE, at, id_of, lease_with, next_step, question_of, reply};
use crate::support::EVENING;
use penstock::concurrency::permit_lease::NextStep;
use penstock::limit::time::Span;
use penstock::protocol::circuit_breaker::CallResult;
use penstock::protocol::permits::Reserve;

#[test]
fn failing_actor_gets_no_question_during_a_pause() {
    let mut lease = lease_with(1);
    id_of(next_step(&mut lease, EVENING));
    let question = question_of(next_step(&mut lease, EVENING));
    lease.observe(question.number, Err(CallResult::Failure), EVENING);
    let question = question_of(next_step(&mut lease, EVENING));
    lease.observe(question.number, Err(CallResult::Failure), EVENING);
    assert_eq!(next_step(&mut lease, at(100)), NextStep::Unknown, "two failures in a row");
    assert_eq!(lease.tick(at(100), PATIENCE), None);
    let question = question_of(next_step(&mut lease, at(400)));
    assert_eq!(next_step(&mut lease, at(401)), NextStep::Unknown, "no request waits for the probe");
    lease.observe(question.number, Ok(reply(1)), at(402));
    question_of(next_step(&mut lease, at(500)));
    assert_eq!(next_step(&mut lease, at(501)), NextStep::LookAgain);
}

#[test]
fn request_without_time_left_neither_asks_nor_takes_the_probe() {
    let mut lease = lease_with(0);
    assert_eq!(lease.next_step(Reserve::Nothing, at(100), Span::ZERO), NextStep::Unknown);
    let question = question_of(next_step(&mut lease, at(100)));
    lease.observe(question.number, Err(CallResult::Overload), at(100));
    assert_eq!(lease.next_step(Reserve::Nothing, at(600), Span::ZERO), NextStep::Unknown);
    question_of(next_step(&mut lease, at(600)));
}

#[test]
fn permits_in_use_are_renewed_within_their_term_despite_an_open_breaker() {
    for crowd in [true, false] {
        let mut lease = lease_with(1);
        let id = id_of(next_step(&mut lease, EVENING));
        let mut asked = vec![0];
        for millis in (0..60_000).step_by(100) {
            lease.heartbeat(id, at(millis));
            let tick = if millis % 1_000 == 0 { lease.tick(at(millis), PATIENCE) } else { None };
            let question = tick.or_else(|| match next_step(&mut lease, at(millis)) {
                NextStep::Ask(question) if crowd => Some(question),
                _ => None,
            });
            if let Some(question) = question {
                lease.observe(question.number, Err(CallResult::Overload), at(millis));
                asked.push(millis);
            }
        }
        let (term, then): (Vec<u64>, Vec<u64>) = asked.into_iter().partition(|millis| *millis < 10_000);
        assert!(term.windows(2).all(|pair| pair[1] - pair[0] <= 3_500), "{term:?}");
        assert!(term.len() <= 9, "{term:?}");
        assert!((3..=10).contains(&then.len()), "then as seldom as any question: {then:?}");
    }
}
