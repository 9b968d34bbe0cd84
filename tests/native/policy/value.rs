//! Numbers, choices and durations.

use penstock::limit::time::Span;
use penstock::policy::HeaderStyle;
use serde_json::{Value, json};

use super::{each_value_is_refused, faults, policy, settings};

#[test]
fn a_number_may_be_a_text() {
    assert_eq!(settings(json!({ "IPV6_PREFIX": "128" })).ipv6_prefix, 128);
    assert_eq!(settings(json!({ "IPV6_PREFIX": 32.0 })).ipv6_prefix, 32);
    for (value, days) in [(json!(2), 2), (json!("400"), 400), (json!("35d"), 35)] {
        assert_eq!(settings(json!({ "RETENTION": value })).retention_days, days);
    }
}

#[test]
fn numbers_have_bounds() {
    each_value_is_refused(
        "IPV6_PREFIX",
        &[
            (json!(31), "31: expected a whole number from 32 to 128"),
            (json!(129), "129: expected a whole number from 32 to 128"),
            (json!("64d"), "\"64d\": expected a whole number from 32 to 128"),
            (json!("+64"), "\"+64\": expected a whole number from 32 to 128"),
            (json!(true), "true: expected a whole number from 32 to 128"),
        ],
    );
    each_value_is_refused(
        "RETENTION",
        &[
            (json!(1), "1: expected a whole number from 2 to 400"),
            (json!("401d"), "\"401d\": expected a whole number from 2 to 400"),
            (json!("5 weeks"), "\"5 weeks\": expected a whole number from 2 to 400"),
        ],
    );
}

#[test]
fn durations_have_units_and_bounds() {
    for (text, span) in
        [("10ms", Span::from_millis(10)), ("250ms", Span::from_millis(250)), ("10s", Span::from_secs(10))]
    {
        assert_eq!(settings(json!({ "DEADLINE": text })).deadline, span);
    }
    let no_duration = "not a duration, expected a whole number with ms, s, min or h, such as \"250ms\"";
    each_value_is_refused(
        "DEADLINE",
        &[
            (json!(250), "250: a duration needs its unit, such as \"250s\" or \"250ms\""),
            (json!("250"), "\"250\": a duration needs its unit, such as \"250s\" or \"250ms\""),
            (json!(0.5), "0.5: not a text, expected a duration such as \"250ms\" or \"10s\""),
            (json!("1.5s"), &format!("\"1.5s\": {no_duration}")),
            (json!("-1s"), &format!("\"-1s\": {no_duration}")),
            (json!("1 s"), &format!("\"1 s\": {no_duration}")),
            (json!("9ms"), "\"9ms\": out of bounds, expected 10ms to 10s"),
            (json!("5min"), "\"5min\": out of bounds, expected 10ms to 10s"),
            (json!("1h"), "\"1h\": out of bounds, expected 10ms to 10s"),
            (json!("s"), "\"s\": out of bounds, expected 10ms to 10s"),
            (json!("99999999999999999999s"), "\"99999999999999999999s\": out of bounds, expected 10ms to 10s"),
        ],
    );
    each_value_is_refused("DURABLE_AFTER", &[(json!("11s"), "\"11s\": out of bounds, expected 0s to 10s")]);
}

#[test]
fn choices_are_spelt_exactly() {
    let styles = [
        ("draft-11", HeaderStyle::Draft11),
        ("draft-7", HeaderStyle::Draft7),
        ("draft-6", HeaderStyle::Draft6),
        ("legacy", HeaderStyle::Legacy),
        ("legacy-epoch", HeaderStyle::LegacyEpoch),
        ("both", HeaderStyle::Both),
        ("none", HeaderStyle::None),
    ];
    for (name, style) in styles {
        assert_eq!(settings(json!({ "HEADERS": name })).headers, style);
    }
    assert!(!settings(json!({ "TRACE": "off" })).trace);
    let known = "expected \"draft-11\", \"draft-7\", \"draft-6\", \"legacy\", \"legacy-epoch\", \"both\" or \"none\"";
    let unknown = |text: &str, meant: &str| (json!(text), format!("\"{text}\": {known}{meant}"));
    let refused = [
        unknown("draft-8", "; did you mean \"draft-7\"?"),
        unknown("draft7", "; did you mean \"draft-7\"?"),
        unknown("draft-06", "; did you mean \"draft-6\"?"),
        unknown("Draft_11", "; did you mean \"draft-11\"?"),
        unknown("Legacy", "; did you mean \"legacy\"?"),
        unknown("legacy-epoc", "; did you mean \"legacy-epoch\"?"),
        unknown("non", "; did you mean \"none\"?"),
        unknown("x-ratelimit", ""),
        unknown("", ""),
    ];
    let refused: Vec<(Value, &str)> =
        refused.iter().map(|(value, problem)| (value.clone(), problem.as_str())).collect();
    each_value_is_refused("HEADERS", &refused);
    each_value_is_refused("TRACE", &[(json!(true), "true: expected \"header\" or \"off\"")]);
}

#[test]
fn a_cost_is_a_whole_number_from_one() {
    for (cost, shown) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(1.5), "1.5"),
        (json!("+2"), "\"+2\""),
        (json!(null), "null"),
        (json!(1e300), "1e+300"),
    ] {
        let found = faults(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "cost": cost } }));
        assert_eq!(found, [format!("LIMIT_X.cost: {shown}: expected a whole number, 1 or more")]);
    }
    for cost in [json!(2), json!(2.0), json!("2")] {
        let vars = json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "cost": cost } });
        assert_eq!(policy(vars).bindings[0].limits[0].cost, 2);
    }
}

#[test]
fn a_number_may_stand_wherever_its_text_may() {
    let with = |number: fn(u64) -> Value| {
        policy(json!({
            "IPV6_PREFIX": number(48), "BUDGET": number(90_000), "RETENTION": number(90),
            "LIMIT_X": { "route": "/x", "global": "5/min", "cost": number(2), "in_flight": number(50), "sockets": number(5) },
        }))
    };
    let (numbers, texts) = (with(Value::from), with(|number| number.to_string().into()));
    assert_eq!(numbers.settings, texts.settings);
    assert_eq!(numbers.bindings[0].capacity, texts.bindings[0].capacity);
    assert_eq!(numbers.bindings[0].limits[0].cost, texts.bindings[0].limits[0].cost);
}
