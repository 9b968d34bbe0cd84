//! Tables and the lists in them, as objects and as JSON texts.

use std::collections::BTreeMap;

use penstock::policy::Policy;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::strategies::{any_field, any_value};
use super::{each_has_one_fault, policy};

#[test]
fn a_json_text_reads_as_the_table_would() {
    let table = json!({ "route": ["/x", "/y"], "per_ip": "5/min", "cost": 2 });
    let read = |value| format!("{:?}", policy(json!({ "LIMIT_X": value })).bindings);
    assert_eq!(read(json!(table.to_string())), read(table));
}

#[test]
fn a_fault_in_a_json_text_names_its_line_and_column() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": "{\"route\": \"/x\", per_ip: 1}" }),
            "LIMIT_X: \"{\\\"route\\\": \\\"/x\\\", per_ip: 1}\": not the JSON text of a table: key must be a string at line 1 column 17",
        ),
        (
            json!({ "LIMIT_X": "{\"route\": \"/x\",\n\"per_ip\": \"5/min\",\n\"per_ip\": \"500/min\"}" }),
            "LIMIT_X: \"{\\\"route\\\": \\\"/x\\\",\\n\\\"per_ip\\\": \\\"5/min\\\",\\n\\\"per_ip\\\": \\\"…: not the JSON text of a table: the field `per_ip` is there twice at line 3 column 20",
        ),
        (
            json!({ "LIMIT_X": "5/min" }),
            "LIMIT_X: \"5/min\": not the JSON text of a table: invalid type: integer `5`, expected an object at line 1 column 1",
        ),
        (
            json!({ "LIMIT_X": "" }),
            "LIMIT_X: \"\": not the JSON text of a table: EOF while parsing a value at line 1 column 0",
        ),
    ]);
}

#[test]
fn a_wrong_type_is_a_fault() {
    each_has_one_fault(&[
        (json!({ "LIMIT_X": 5 }), "LIMIT_X: 5: not a table, expected fields such as per_ip = \"5/min\""),
        (
            json!({ "LIMIT_X": ["5/min"] }),
            "LIMIT_X: [\"5/min\"]: not a table, expected fields such as per_ip = \"5/min\"",
        ),
        (
            json!({ "LIMIT_X": { "route": 7, "per_ip": "5/min" } }),
            "LIMIT_X.route: 7: not a text, expected a pattern such as \"POST /login\", or a list of them",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": 5 } }),
            "LIMIT_X.per_ip: 5: not a text, expected a rate such as \"5/min\", or a list of them",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": null } }),
            "LIMIT_X.per_ip: null: not a text, expected a rate such as \"5/min\", or a list of them",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": ["5/min", ["6/min"]] } }),
            "LIMIT_X.per_ip[1]: [\"6/min\"]: not a text, expected a rate such as \"5/min\", or a list of them",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": [] } }),
            "LIMIT_X.per_ip: []: an empty list, expected a rate such as \"5/min\", or a list of them",
        ),
        (
            json!({ "LIMIT_X": { "route": [], "per_ip": "5/min" } }),
            "LIMIT_X.route: []: an empty list, expected a pattern such as \"POST /login\", or a list of them",
        ),
        (json!({ "LIMIT_X": { "route": "/x", "exempt": "true" } }), "LIMIT_X.exempt: \"true\": expected true or false"),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "key": 5, "mode": "shadow" } }),
            "LIMIT_X.key: 5: not a text, expected key sources such as \"header:x-api-key, bearer\"",
        ),
    ]);
}

proptest! {
    #[test]
    fn a_table_reads_the_same_as_its_json_text(fields in prop::collection::btree_map(any_field(), any_value(), 0..6)) {
        let value = Value::Object(fields.into_iter().collect());
        let read = |value: Value| Policy::read(&BTreeMap::from([("LIMIT_A".to_owned(), value)]));
        let (table, text) = (read(value.clone()), read(Value::from(value.to_string())));
        match (table, text) {
            (Ok(table), Ok(text)) => prop_assert_eq!(format!("{table:?}"), format!("{text:?}")),
            (table, text) => prop_assert_eq!(table.err(), text.err()),
        }
    }
}
