//! Answers about permits that no actor can have given.

use super::permits_wire::{answer, question};
use penstock::protocol::permits::{PermitAsk, PermitReply};
use penstock::protocol::permits_wire::read_reply;

#[test]
fn answer_that_lends_more_than_wanted_or_than_the_cap_is_impossible() {
    let question = PermitAsk { keeps: 12, wants: 300, ..question() };
    for (permits, possible) in [(0, true), (12, true), (200, true), (201, false), (u64::MAX, false)] {
        assert_eq!(PermitReply { permits, free: 0, ..answer() }.is_possible(&question), possible, "{permits}");
    }
    let few = PermitAsk { wants: 13, ..question };
    assert!(!PermitReply { permits: 14, ..answer() }.is_possible(&few));
    // The cap became smaller, and the isolate keeps its permits.
    let kept = PermitAsk { keeps: 250, ..question };
    assert!(PermitReply { permits: 250, free: 0, ..answer() }.is_possible(&kept));
}

#[test]
fn answer_with_a_number_out_of_its_bounds_is_impossible() {
    let question = PermitAsk { wants: 300, ..question() };
    for text in [
        "1 0 0 200 0 10000 50 1",
        "1 12 50 201 3 10000 50 1",
        "1 12 50 199 3 10000 50 1",
        "1 12 50 200 189 10000 50 1",
        "1 12 50 200 3 0 50 1",
        "1 12 50 200 3 10000 1001 1",
        "1 12 50 200 3 10000 50 4294967295",
    ] {
        assert!(!read_reply(text).unwrap().is_possible(&question), "{text}");
    }
    assert!(read_reply("1 12 50 200 188 10000 1000 20001").unwrap().is_possible(&question));
}
