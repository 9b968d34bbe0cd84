//! The choices of a limit.

use serde_json::json;

use super::each_has_one_fault;

#[test]
fn a_choice_is_one_of_its_words() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "mode": "Shadow" } }),
            "LIMIT_X.mode: \"Shadow\": expected \"enforce\", \"shadow\" or \"off\"; did you mean \"shadow\"?",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "on_error": true } }),
            "LIMIT_X.on_error: true: expected \"local\", \"open\" or \"closed\"",
        ),
    ]);
}
