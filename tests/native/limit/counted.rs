//! Counts with their nouns.

use penstock::limit::counted::counted;

#[test]
fn wrd_10_one_is_singular_and_every_other_number_plural() {
    let said = [0_u64, 1, 2, 11, 101, u64::MAX].map(|count| counted(count, "open WebSocket"));
    let plural = ["0 open WebSockets", "1 open WebSocket", "2 open WebSockets", "11 open WebSockets"];
    assert_eq!(said[..4], plural);
    assert_eq!(said[4..], ["101 open WebSockets", "18446744073709551615 open WebSockets"]);
    assert_eq!((counted(1_usize, "fault"), counted(2_usize, "fault")), ("1 fault".into(), "2 faults".into()));
}
