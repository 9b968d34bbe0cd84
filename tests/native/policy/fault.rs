//! Faults as they are printed.

use serde_json::json;

use super::faults;

#[test]
fn a_long_value_is_cut_in_messages() {
    let found = faults(json!({ "LIMIT_X": vec!["5/min"; 1000] }));
    assert!(found[0].len() < 200 && found[0].contains('…'), "{found:?}");
}
