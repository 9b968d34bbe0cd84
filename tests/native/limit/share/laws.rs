//! Small facts about parts.

use super::world::{MILLI, span, time};
use penstock::limit::gcra::Gcra;
use penstock::limit::share::{CutBucket, Fraction, Part, PartAnswer, PartHolder, PartSize, Question};
use penstock::limit::time::{Span, Time};

const T: u64 = 10 * MILLI;
const MINUTE: Span = Span::from_secs(60);

fn bucket() -> CutBucket {
    let gcra = Gcra::new(span(T), 100).unwrap();
    CutBucket::new(gcra, Time::default(), Time::default(), Span::from_secs(10))
}

fn size(room: u64, tokens: u64) -> PartSize {
    PartSize { fraction: Fraction::one_in(4), room, tokens, term: MINUTE, written: true }
}

fn ask(seq: u64) -> Question {
    Question { holder: 7, seq, ..Question::default() }
}

#[test]
fn with_nothing_out_the_bucket_is_gcra() {
    let (gcra, mut bucket) = (Gcra::new(span(T), 100).unwrap(), bucket());
    let mut tat = Time::default();
    for step in 0..2_000_u64 {
        let (now, cost) = (time(step * T * 2 + step * step * 7_919 % T), 1 + step % 3);
        let plain = gcra.take(tat, now, cost);
        assert_eq!(
            bucket.take(now, cost).map_err(|refusal| refusal.wait),
            plain.map(|_| ()).map_err(|refusal| refusal.wait)
        );
        tat = plain.unwrap_or(tat);
        assert!(bucket.is_whole());
    }
}

#[test]
fn a_repeated_question_gets_no_answer() {
    let mut bucket = bucket();
    assert!(matches!(bucket.part(time(0), &ask(2), &size(10, 5)), PartAnswer::Part(_)));
    for seq in [0, 1, 2] {
        assert_eq!(bucket.part(time(0), &ask(seq), &size(10, 5)), PartAnswer::Stale);
    }
}

#[test]
fn a_part_and_its_tokens_come_back_after_the_term() {
    let mut bucket = bucket();
    assert_eq!(
        bucket.part(time(0), &ask(1), &size(20, 20)),
        PartAnswer::Part(Part { fraction: Fraction::one_in(4), room: 20, tokens: 20, term: MINUTE })
    );
    assert_eq!((bucket.free(), bucket.room_out(), bucket.holders()), (80, 20, 1));
    bucket.to(Time::default().plus(MINUTE));
    assert!(bucket.is_whole());
    bucket.to(Time::default().plus(MINUTE).plus(span(20 * T)));
    assert_eq!(bucket.free(), 100);
}

#[test]
fn longer_parts_are_written_and_short_ones_at_most_an_eighth() {
    let mut bucket = bucket();
    let unwritten = PartSize { written: false, ..size(12, 12) };
    assert_eq!(bucket.part(time(0), &ask(1), &unwritten), PartAnswer::None, "a minute is too long");
    let short = PartSize { term: Span::from_secs(10), fraction: Fraction::one_in(8), ..unwritten };
    assert!(matches!(bucket.part(time(0), &ask(2), &short), PartAnswer::Part(_)));
    assert_eq!(bucket.saved().entries, []);
    let other = Question { holder: 8, seq: 1, ..Question::default() };
    assert_eq!(bucket.part(time(0), &other, &short), PartAnswer::None, "the eighth is out");
    assert!(matches!(bucket.part(time(0), &other, &size(12, 12)), PartAnswer::Part(_)));
    assert_eq!(bucket.saved().entries.len(), 1);
}

#[test]
fn a_holder_whose_clock_steps_back_drops_its_part() {
    let mut bucket = bucket();
    let mut holder = PartHolder::default();
    let question = holder.ask(7, 1, time(5 * T), 0);
    let PartAnswer::Part(part) = bucket.part(time(5 * T), &question, &size(20, 20)) else { panic!("no part") };
    holder.hear(time(6 * T), question.seq, span(T), Some(&part));
    assert_eq!(holder.tokens(time(6 * T)), 20);
    assert!(holder.spend(time(6 * T), 3));
    assert!(!holder.spend(time(6 * T - 1), 1));
    assert!(!holder.spend(time(7 * T), 1), "it is gone for good");
}

#[test]
fn tokens_that_were_not_used_go_back_into_the_part_that_they_are_of() {
    let mut bucket = bucket();
    let mut holder = PartHolder::default();
    let question = holder.ask(7, 1, time(0), 0);
    let PartAnswer::Part(part) = bucket.part(time(0), &question, &size(20, 20)) else { panic!("no part") };
    holder.hear(time(0), question.seq, span(T), Some(&part));
    assert!(holder.spend(time(0), 5));
    holder.put_back(time(0), 5);
    assert_eq!(holder.tokens(time(0)), 20);
    holder.put_back(time(0), 5);
    assert_eq!(holder.tokens(time(0)), 20, "never more than there is room for");
    assert!(holder.spend(time(0), 18));
    let question = holder.ask(7, 2, time(0), 20);
    assert_eq!(question.keep, 2);
    holder.put_back(time(0), 5);
    assert_eq!(holder.tokens(time(0)), 2, "the question has said that no more are left");
    assert!(holder.spend(time(0), 2));
    holder.put_back(time(0), 1);
    assert_eq!(holder.tokens(time(0)), 1, "spent since the question");
    holder.hear(time(0), question.seq, span(T), None);
    holder.put_back(time(0), 9);
    assert_eq!(holder.tokens(time(0)), 2, "an answer without a part leaves the room that was named");
}

/// Used tokens stay used where the limit changes, at most a full bucket.
#[test]
fn a_changed_limit_keeps_the_tokens_of_the_debt() {
    let mut bucket = bucket();
    assert!(bucket.take(time(0), 40).is_ok());
    let mut raised = bucket.clone();
    raised.change(time(0), Gcra::new(span(T / 2), 200).unwrap());
    assert_eq!(raised.free(), 160);
    bucket.change(time(0), Gcra::new(span(T * 10), 30).unwrap());
    assert_eq!(bucket.free(), 0);
}

#[test]
fn fractions_round_so_that_less_is_admitted() {
    let third = Fraction::from_f64(1.0 / 3.0);
    assert_eq!(third.of(span(1)), span(1));
    assert_eq!(third.whole_of(span(1)), span(4));
    assert_eq!(Fraction::ZERO.of(span(u64::MAX)), Span::ZERO);
    assert_eq!(Fraction::ZERO.whole_of(span(1)), span(u64::MAX));
    assert_eq!(Fraction::ONE.whole_of(span(u64::MAX)), span(u64::MAX));
    assert_eq!(Fraction::from_parts(1).whole_of(span(u64::MAX)), span(u64::MAX));
    assert_eq!(Fraction::from_f64(f64::NAN), Fraction::ZERO);
    assert_eq!(Fraction::from_f64(7.0), Fraction::ONE);
    assert_eq!(Fraction::from_f64(-1.0), Fraction::ZERO);
    assert_eq!(Fraction::from_parts(3).rescaled(span(2), span(1)), Fraction::from_parts(2));
}
