//! The text of questions and answers about rates and quotas. Old and new code talk to each other
//! during a deploy, so these texts may gain fields, and must not change.

use crate::support::{ask, quota, rate};
use penstock::limit::lease::Wish;
use penstock::limit::time::Span;
use penstock::protocol::rates::{Demand, Enforcement, Grant, Outcome, Reply, UnusedTokens, bucket_id};
use penstock::protocol::rates_wire::{read_ask, read_reply, write_ask, write_reply};
use proptest::prelude::*;

const ASK: &str = concat!(
    r#"{"v":1,"intent":"take","subject":"07070707070707070707070707070707","#,
    r#""demands":[{"limit":"login/ip","counter":"login/ip counted","cost":1,"each":2,"wish":30,"waiting":4,"owed":2,"rate":{"interval":12000000000,"burst":5}},"#,
    r#"{"limit":"api/key","counter":"api/key counted","cost":0,"back":{"tokens":3,"until":1795996800},"shadow":true,"quota":{"count":100,"zone":"Asia/Shanghai"}}],"#,
    r#""durable_after":10000000000,"patience":200000000}"#,
);

const REPLY: &str = concat!(
    r#"{"v":1,"outcomes":[{"met":{"left":4,"more":12000000000,"slot":0}},"#,
    r#"{"met":{"left":4,"more":12000000000,"slot":7,"until":1795996800}},{"refused":{"left":0,"wait":5}},"#,
    r#"{"refused":{"left":0,"wait":5,"until":1795996800}},{"full":{"wait":1000000000}},"unknown"],"grants":[null,{"count":30,"first":8},null,null,null,null],"horizon":250000000,"d1":1,"rows":2}"#,
);

#[test]
fn question_is_written_in_the_pinned_text() {
    let shadow = Demand { enforcement: Enforcement::Shadow, ..quota("api/key", 100, "Asia/Shanghai") };
    let rate = Demand {
        per_request: 2,
        wish: Wish { ahead: 30, waiting: 4 },
        unreported: 2,
        ..rate("login/ip", Span::from_secs(12), 5)
    };
    let shadow = Demand { cost: 0, unused: Some(UnusedTokens { tokens: 3, until: 1_795_996_800 }), ..shadow };
    let ask = ask(7, vec![rate, shadow]);
    assert_eq!(write_ask(&ask), ASK);
    assert_eq!(read_ask(ASK), Ok(ask));
}

/// An earlier version knows no counter. It skips the field, and sends none.
#[test]
fn cfg_10_question_without_a_counter_is_about_the_printed_name() {
    let older = ASK.replace(r#""counter":"login/ip counted","#, "").replace(r#""counter":"api/key counted","#, "");
    let ask = read_ask(&older).unwrap();
    assert!(ask.demands.iter().all(|demand| demand.counter.is_none() && demand.known_counter().is_none()));
    assert_eq!(ask.demands[0].bucket(ask.subject), bucket_id("login/ip", ask.subject));
    assert_eq!(write_ask(&ask), older);
}

#[test]
fn warmup_travels_in_a_field_that_older_readers_skip() {
    let slow = Demand { warmup: Span::from_secs(30), ..rate("base/global", Span::from_millis(10), 100) };
    let ask = ask(7, vec![slow]);
    let text = write_ask(&ask);
    assert!(text.contains(r#""cost":1,"warmup":30000000000,"rate""#), "{text}");
    assert_eq!(read_ask(&text), Ok(ask));
}

#[test]
fn answer_is_written_in_the_pinned_text() {
    let refused = |until| Outcome::Refused { left: 0, wait: Span::from_nanos(5), until };
    let outcomes = vec![
        Outcome::Met { left: 4, more: Span::from_secs(12), slot: Span::ZERO, until: None },
        Outcome::Met { left: 4, more: Span::from_secs(12), slot: Span::from_nanos(7), until: Some(1_795_996_800) },
        refused(None),
        refused(Some(1_795_996_800)),
        Outcome::Full { wait: Span::from_secs(1) },
        Outcome::Unknown,
    ];
    let grant = Grant { count: 30, first: Span::from_nanos(8) };
    let grants = vec![None, Some(grant), None, None, None, None];
    let reply = Reply { outcomes, grants, parts: vec![], horizon: Span::from_millis(250), d1: 1, rows: 2 };
    assert_eq!(write_reply(&reply), REPLY);
    assert_eq!(read_reply(REPLY, 6), Ok(reply));
}

#[test]
fn other_version_or_impossible_value_is_refused() {
    let newer = |text: &str| text.replacen(r#""v":1"#, r#""v":2"#, 1);
    assert_eq!(read_ask(&newer(ASK)), Err("version 2, expected 1".into()));
    assert_eq!(read_reply(&newer(REPLY), 6), Err("version 2, expected 1".into()));
    assert_eq!(read_reply(REPLY, 4), Err("6 outcomes for 4 demands".into()));
    assert_eq!(read_reply(REPLY, 1), Err("6 outcomes for 1 demand".into()), "wrd_10");
    for (good, bad) in [(r#""burst":5"#, r#""burst":0"#), ("Asia/Shanghai", "Asia/Nowhere"), ("0707", "zzzz")] {
        assert!(read_ask(&ASK.replacen(good, bad, 1)).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in ".{0,200}", cut in 0..ASK.len(), byte in "[ -~]") {
        for text in [text, format!("{}{byte}{}", &ASK[..cut], &ASK[cut..]), ASK[..cut].to_string()] {
            let _ = read_ask(&text);
            let _ = read_reply(&text, 1);
        }
    }
}

#[test]
fn unknown_fields_are_skipped_and_missing_ones_have_defaults() {
    let more = |text: &str| text.replacen(r#"{"v":1,"#, r#"{"v":1,"later":{"a":[1,2]},"#, 1);
    assert_eq!(read_ask(&more(ASK)), read_ask(ASK));
    assert_eq!(read_reply(&more(REPLY), 6), read_reply(REPLY, 6));
    let older = ASK.replacen(r#","waiting":4"#, "", 1);
    let wish = read_ask(&older).unwrap().demands[0].wish;
    assert_eq!(wish, Wish { ahead: 30, waiting: 0 }, "an older isolate sends no number of waiting requests");
}
