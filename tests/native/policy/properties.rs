use std::collections::BTreeMap;

use penstock::policy::Policy;
use penstock::policy::path::Path;
use penstock::policy::route::Pattern;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::policy;

/// Names and values, half of them such as a configuration has.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|quarters| Value::from(f64::from(quarters) / 4.0)),
        ".{0,20}".prop_map(Value::from),
        "[0-9]{1,3}/(s|min|day|30d)( burst [0-9]{1,3})?".prop_map(Value::from),
        "(GET |POST,PUT )?([a-z*.]{0,8})/[a-z:*./%]{0,12}".prop_map(Value::from),
        "\\{\"route\": ?\"/[a-z]\".{0,20}".prop_map(Value::from),
        "(header|bearer|cookie|query):?[a-z ,]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_field(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_field() -> impl Strategy<Value = String> {
    prop_oneof!["(route|per_ip|per_key|global|cost|mode|exempt|on_error|key|message)", ".{0,8}"]
}

fn any_var() -> impl Strategy<Value = String> {
    prop_oneof![
        "LIMIT_(BASE|A|B|C|)",
        "(ORIGIN|KEY|HEADERS|TRACE|SECRET|IPV6_PREFIX|DURABLE_AFTER|DEADLINE|RETENTION|ALLOW)",
        ".{0,12}",
    ]
}

/// A path made of the pieces that give readers trouble.
fn any_path() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "(/|//|\\.|\\.\\.|%2e|%2F|%25|%|[0-9a-fA-F]|%6|\\\\|a|:|\\*|\\?|é){0,24}"]
}

proptest! {
    #[test]
    fn cf_04_reading_never_panics(vars in prop::collection::btree_map(any_var(), any_value(), 0..6)) {
        if let Err(faults) = Policy::read(&vars) {
            prop_assert!(!faults.is_empty());
        }
    }

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

    #[test]
    fn cf_04_routing_never_panics(method in any::<String>(), host in any::<String>(), bytes in any::<Vec<u8>>()) {
        let policy = policy(json!({
            "LIMIT_A": { "route": ["/a/:b/*", "*.example.com/x", "GET /"], "per_ip": "5/min" },
            "LIMIT_B": { "route": "/*", "per_ip": "5/min" },
        }));
        prop_assert!(policy.route(&method, &host, &String::from_utf8_lossy(&bytes)).is_some());
    }

    #[test]
    fn reading_a_path_is_idempotent_and_canonical(sent in any_path()) {
        let read = Path::read(&sent);
        let text = read.as_str();
        prop_assert_eq!(&Path::read(text), &read);
        prop_assert!(text.starts_with('/') && !text.contains("//") && (text == "/" || !text.ends_with('/')));
        prop_assert!(text.split('/').all(|segment| segment != "." && segment != ".."));
        prop_assert!(text.is_ascii());
    }

    #[test]
    fn what_a_pattern_prints_reads_back_as_itself(text in "(GET |POST,GET )?(\\*\\.)?([a-z]{1,3}\\.[a-z]{2})?/(a|b|:x|%2F|%61|/|\\.\\.|é){0,6}(/\\*)?") {
        if let Ok(pattern) = Pattern::parse(&text) {
            prop_assert_eq!(Pattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn a_path_is_matched_by_the_pattern_that_spells_it(path in any_path()) {
        // In a pattern these two mean something else than themselves.
        let path = path.replace(['*', ':'], "x");
        let read = Path::read(&path);
        let policy = policy(json!({ "LIMIT_A": { "route": read.as_str(), "per_ip": "5/min" } }));
        prop_assert!(policy.route("GET", "h", &path).is_some());
    }
}
