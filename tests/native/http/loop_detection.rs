//! Recognising requests that this deployment has forwarded before.

use penstock::http::loop_detection::contains;

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
