//! The text of questions and answers about permits. Old and new code talk to each other during a
//! deploy, so these texts may gain words, and must not change.

use penstock::limit::time::Span;
use penstock::policy::Size;
use penstock::protocol::permits::{OriginSample, PermitAsk, PermitReply, Reserve};
use penstock::protocol::permits_wire::{read_ask, read_reply, write_ask, write_reply};

pub(super) fn question() -> PermitAsk {
    PermitAsk {
        holder: 0xab,
        number: 7,
        size: Size::Fixed(200),
        keeps: 12,
        wants: 20,
        reserve: Reserve::Fifth,
        sample: None,
    }
}

pub(super) fn answer() -> PermitReply {
    PermitReply {
        permits: 12,
        share: 50,
        cap: 200,
        free: 3,
        term: Span::from_secs(10),
        again: Span::from_millis(50),
        rows: 1,
    }
}

#[test]
fn question_and_answer_are_written_in_the_pinned_texts() {
    let auto = PermitAsk {
        size: Size::Auto { least: 10, most: 1000 },
        reserve: Reserve::Nothing,
        sample: Some(OriginSample { ended: 9, sum_ms: 900, min_ms: 80, errors: 1, peak: 12 }),
        ..question()
    };
    for (question, text) in [
        (question(), "1 00000000000000ab 7 200..200 12 20 5"),
        (auto, "1 00000000000000ab 7 auto:10..1000 12 20 0 9 900 80 1 12"),
        (PermitAsk { reserve: Reserve::Tenth, ..question() }, "1 00000000000000ab 7 200..200 12 20 10"),
    ] {
        assert_eq!(write_ask(&question), text);
        assert_eq!(read_ask(text), Ok(question));
    }
    assert_eq!(write_reply(&answer()), "1 12 50 200 3 10000 50 1");
    assert_eq!(read_reply("1 12 50 200 3 10000 50 1"), Ok(answer()));
}

#[test]
fn words_of_a_later_version_are_skipped() {
    assert_eq!(read_ask("1 00000000000000ab 7 200..200 12 20 5 words of later"), Ok(question()));
    assert_eq!(read_reply("1 12 50 200 3 10000 50 1 and more"), Ok(answer()));
}

#[test]
fn malformed_text_is_refused() {
    for text in ["", "2 12 50 200 3 10000 50 1", "1 12 50", "1 12 50 200 -3 10000 50 1", "1 12 50 200 3 1e4 50 1", "{}"]
    {
        assert!(read_reply(text).is_err(), "{text}");
    }
    for text in [
        "",
        "2 ab 7 200..200 1 2 0",
        "1 xy 7 200..200 1 2 0",
        "1 ab 7 200..100 1 2 0",
        "1 ab 7 200 1 2 0",
        "1 ab 7 200..200 1 2 3",
    ] {
        assert!(read_ask(text).is_err(), "{text}");
    }
    assert_eq!(read_reply("1 12 50 200 3 99999999 50 1").unwrap().term, Span::from_secs(10), "no term is longer");
}
