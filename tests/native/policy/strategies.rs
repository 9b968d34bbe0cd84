//! Arbitrary values, names and paths for property tests.

use proptest::prelude::*;
use serde_json::Value;

/// A value of any shape. About half of the leaves are values that a configuration may have.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
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

/// The name of a field, known or not.
pub(super) fn any_field() -> impl Strategy<Value = String> {
    prop_oneof!["(route|per_ip|per_key|global|cost|mode|exempt|on_error|key|message)", ".{0,8}"]
}

/// The name of a var, known or not.
pub(super) fn any_var() -> impl Strategy<Value = String> {
    prop_oneof![
        "LIMIT_(BASE|A|B|C|)",
        "(ORIGIN|KEY|HEADERS|TRACE|SECRET|IPV6_PREFIX|DURABLE_AFTER|DEADLINE|RETENTION|ALLOW)",
        ".{0,12}",
    ]
}

/// A path, half of the time made of pieces that path readers are known to get wrong.
pub(super) fn any_path() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "(/|//|\\.|\\.\\.|%2e|%2F|%25|%|[0-9a-fA-F]|%6|\\\\|a|:|\\*|\\?|é){0,24}"]
}
