//! The form of questions and answers about slots: old and new code talk to each other during a deploy.

use penstock::limit::time::Span;
use penstock::policy::Size;
use penstock::protocol::permits::{OriginSample, PermitAsk, PermitReply, Reserve};
use penstock::protocol::permits_wire::{read_ask, read_reply, write_ask, write_reply};

fn asked() -> PermitAsk {
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

fn answered() -> PermitReply {
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
fn the_formats_are_unchanged() {
    let auto = PermitAsk {
        size: Size::Auto { least: 10, most: 1000 },
        reserve: Reserve::Nothing,
        sample: Some(OriginSample { ended: 9, sum_ms: 900, min_ms: 80, errors: 1, peak: 12 }),
        ..asked()
    };
    for (question, text) in [
        (asked(), "1 00000000000000ab 7 200..200 12 20 5"),
        (auto, "1 00000000000000ab 7 auto:10..1000 12 20 0 9 900 80 1 12"),
        (PermitAsk { reserve: Reserve::Tenth, ..asked() }, "1 00000000000000ab 7 200..200 12 20 10"),
    ] {
        assert_eq!(write_ask(&question), text);
        assert_eq!(read_ask(text), Ok(question));
    }
    assert_eq!(write_reply(&answered()), "1 12 50 200 3 10000 50 1");
    assert_eq!(read_reply("1 12 50 200 3 10000 50 1"), Ok(answered()));
}

#[test]
fn words_of_a_later_version_are_passed_over() {
    assert_eq!(read_ask("1 00000000000000ab 7 200..200 12 20 5 words of later"), Ok(asked()));
    assert_eq!(read_reply("1 12 50 200 3 10000 50 1 and more"), Ok(answered()));
}

#[test]
fn nonsense_is_refused() {
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

#[test]
fn an_answer_that_lends_too_much_is_not_possible() {
    let asked = PermitAsk { keeps: 12, wants: 300, ..asked() };
    for (slots, possible) in [(0, true), (12, true), (200, true), (201, false), (u64::MAX, false)] {
        assert_eq!(PermitReply { permits: slots, free: 0, ..answered() }.is_possible(&asked), possible, "{slots}");
    }
    let few = PermitAsk { wants: 13, ..asked };
    assert!(!PermitReply { permits: 14, ..answered() }.is_possible(&few));
    // The cap was made smaller: what is kept stays.
    let kept = PermitAsk { keeps: 250, ..asked };
    assert!(PermitReply { permits: 250, free: 0, ..answered() }.is_possible(&kept));
}

#[test]
fn an_answer_that_no_actor_gives_is_not_possible() {
    let asked = PermitAsk { wants: 300, ..asked() };
    for text in [
        "1 0 0 200 0 10000 50 1",
        "1 12 50 201 3 10000 50 1",
        "1 12 50 199 3 10000 50 1",
        "1 12 50 200 189 10000 50 1",
        "1 12 50 200 3 0 50 1",
        "1 12 50 200 3 10000 1001 1",
        "1 12 50 200 3 10000 50 4294967295",
    ] {
        assert!(!read_reply(text).unwrap().is_possible(&asked), "{text}");
    }
    assert!(read_reply("1 12 50 200 188 10000 1000 20001").unwrap().is_possible(&asked));
}
