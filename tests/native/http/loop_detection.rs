//! Recognising requests that this deployment has forwarded before.

use penstock::http::loop_detection::{contains, passed_on};

#[test]
fn own_mark_is_found_alone_and_among_others() {
    for marks in ["abc", "abc,def", "def, abc", "def,abc ,ghi"] {
        assert!(contains(marks, "abc"), "{marks:?}");
    }
}

#[test]
fn marks_of_other_deployments_are_not_taken_for_its_own() {
    for marks in ["", "def", "abcd", "xabc, def", "ab c", "ABC"] {
        assert!(!contains(marks, "abc"), "{marks:?}");
    }
}

#[test]
fn prx_12_only_marks_are_passed_on() {
    let (one, other) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let own = "00000000000000000000000000000001";
    for (received, expected) in [
        ("", own.to_owned()),
        ("mine", own.to_owned()),
        (", ,", own.to_owned()),
        (&format!("{one}0"), own.to_owned()),
        (&one.to_ascii_uppercase(), own.to_owned()),
        (&format!("{one} {other}"), own.to_owned()),
        (one, format!("{one}, {own}")),
        (&format!("mine,{one} ,x,\t{other}, café"), format!("{one}, {other}, {own}")),
    ] {
        assert_eq!(passed_on(received, own), expected, "{received:?}");
    }
}

#[test]
fn prx_12_a_long_list_keeps_its_newest_marks() {
    let marks: Vec<String> = (0..100).map(|number| format!("{number:032x}")).collect();
    let kept = passed_on(&marks.join(","), "own");
    let kept: Vec<&str> = kept.split(", ").collect();
    let newest: Vec<&str> = marks[85..].iter().map(String::as_str).chain(["own"]).collect();
    assert_eq!(kept, newest);
}
