//! `name`: the printed names of a binding's limits and caps.

use serde_json::{Value, json};

use super::{each_has_one_fault, policy};

fn named(name: impl Into<Value>) -> Value {
    json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "name": name.into() } })
}

#[test]
fn name_is_the_first_half_of_all_printed_names() {
    let policy = policy(json!({ "LIMIT_ORDERS": {
        "route": "/orders", "name": "Orders API", "per_ip": ["5/s", "9/min"], "per_key": "100/day", "global": "50/s",
        "in_flight": 20, "sockets": 5,
    } }));
    let binding = &policy.bindings[0];
    assert_eq!(binding.name, "orders", "logs and lookups know the binding by its own");
    let names: Vec<&str> = binding.limits.iter().map(|limit| limit.name.as_str()).collect();
    assert_eq!(names, ["Orders API/ip", "Orders API/ip-2", "Orders API/key", "Orders API/global"]);
    assert!(binding.limits.iter().all(|limit| limit.binding == "orders"));
    assert_eq!(binding.limits[2].header_item, r#""Orders API/key";q=100;w=86400"#);
    let caps: Vec<(&str, &str)> = policy.caps().map(|cap| (cap.name.as_str(), cap.actor.as_str())).collect();
    assert_eq!(caps, [("Orders API/in-flight", "orders/in-flight"), ("Orders API/sockets", "orders/sockets")]);
    assert!(policy.cap("orders/in-flight").is_some() && policy.cap("Orders API/in-flight").is_none());
}

#[test]
fn name_is_printable_ascii_of_bounded_length() {
    for name in ["a", "x", "Orders (v2) / EU; 'new', 100%", &"n".repeat(64)] {
        assert_eq!(policy(named(name)).bindings[0].limits[0].name, format!("{name}/ip"));
    }
    let expected = "expected a name such as \"Orders API\"";
    let table: &[(Value, &str)] = &[
        (named(""), "\"\": empty"),
        (named("a\"b"), "\"a\\\"b\": '\"' cannot stand in a header as it is"),
        (named("a\\b"), "\"a\\\\b\": '\\\\' cannot stand in a header as it is"),
        (named("Größe"), "\"Größe\": 'ö' cannot stand in a header as it is"),
        (named("a\nb"), "\"a\\nb\": '\\n' cannot stand in a header as it is"),
        (named(" a"), "\" a\": a space at one end"),
        (named(" "), "\" \": a space at one end"),
        (named(5), "5: not a text"),
    ];
    let told: Vec<(Value, String)> =
        table.iter().map(|(vars, problem)| (vars.clone(), format!("LIMIT_X.name: {problem}, {expected}"))).collect();
    each_has_one_fault(&told.iter().map(|(vars, problem)| (vars.clone(), problem.as_str())).collect::<Vec<_>>());
    each_has_one_fault(&[(named("n".repeat(65)), "LIMIT_X.name: 65 characters, expected at most 64")]);
}

#[test]
fn name_is_told_once() {
    let two = |first: Value, second: Value| {
        json!({ "LIMIT_A": { "route": "/a", "per_ip": "5/min", "name": first },
                "LIMIT_B": { "route": "/b", "per_ip": "5/min", "name": second } })
    };
    let problem = |place: &str, name: &str, other: &str| {
        format!("{place}.name: {name:?}: the limits of {other} have this name, expected another one")
    };
    each_has_one_fault(&[
        (two(json!("Same"), json!("Same")), &problem("LIMIT_B", "Same", "LIMIT_A")),
        // The own name of another binding, whether that is printed or not.
        (two(json!("b"), json!("Other")), &problem("LIMIT_A", "b", "LIMIT_B")),
        (
            json!({ "LIMIT_BASE": { "per_ip": "5/min" }, "LIMIT_B": { "route": "/b", "per_ip": "5/min", "name": "base" } }),
            &problem("LIMIT_B", "base", "LIMIT_BASE"),
        ),
    ]);
    assert_eq!(policy(two(json!("Same"), json!("same"))).bindings.len(), 2, "case counts");
    assert_eq!(policy(named("x")).bindings[0].limits[0].name, "x/ip", "its own name is no other's");
}
