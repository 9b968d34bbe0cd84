//! Known, misspelt and foreign names.

use serde_json::json;

use super::{each_has_one_fault, faults, policy};

#[test]
fn cfg_01_a_misspelt_field_is_a_fault_with_its_location() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "limt": 5 } }),
            "LIMIT_X.limt: unknown field, expected route, per_ip, per_key, global, cost, mode, exempt, on_error, key, allow, block, message, docs, support, name, in_flight, sockets, wait, timeout, upload, socket_idle, priority or warmup",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "global": "5/min", "Per_ip": "5/min" } }),
            "LIMIT_X.Per_ip: unknown field; did you mean `per_ip`?",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "global": "5/min", "per-ip": "5/min" } }),
            "LIMIT_X.per-ip: unknown field; did you mean `per_ip`?",
        ),
        (
            json!({ "LIMIT_X": { "rotue": "/x", "route": "/x", "global": "5/min" } }),
            "LIMIT_X.rotue: unknown field; did you mean `route`?",
        ),
    ]);
}

#[test]
fn cfg_01_a_misspelt_var_is_a_fault() {
    let limit = "reads like a limit, but a limit's name starts with `LIMIT_`, such as `LIMIT_LOGIN`";
    for name in ["LIMIT", "LIMITS", "LIMITLOGIN", "LIMIT-LOGIN", "limit_login", "Limit_Login", "LIMITS_X", "LIMT_X"] {
        assert_eq!(faults(json!({ name: { "route": "/", "per_ip": "5/min" } })), [format!("{name}: {limit}")]);
    }
    for (name, meant) in [
        ("ORGIN", "ORIGIN"),
        ("ORIGINS", "ORIGIN"),
        ("KEYS", "KEY"),
        ("key", "KEY"),
        ("HEADER", "HEADERS"),
        ("SERCET", "SECRET"),
        ("IPV6-PREFIX", "IPV6_PREFIX"),
        ("DURABLE_AFTR", "DURABLE_AFTER"),
        ("TRAEC", "TRACE"),
        ("ALOW", "ALLOW"),
        ("CORS_ORIGIN", "CORS_ORIGINS"),
    ] {
        assert_eq!(faults(json!({ name: "x" })), [format!("{name}: unknown var; did you mean `{meant}`?")]);
    }
}

#[test]
fn vars_of_other_programs_are_ignored() {
    let foreign = json!({ "DEV": "1", "KV": "x", "API_URL": {}, "REGION": 3, "BUCKET": "b", "BUCKETS": "b", "DB": [], "TOKEN": true });
    assert!(policy(foreign).bindings.is_empty());
}

/// The names of all fields, from the message that lists them.
fn field_names() -> Vec<String> {
    let unknown = faults(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "limt": 5 } }));
    let (_, names) = unknown[0].split_once("expected ").unwrap();
    names.replace(" or ", ", ").split(", ").map(str::to_owned).collect()
}

/// Whether a table of docs/configuration.md has a row for `name`.
fn documented(name: &str) -> bool {
    let page = include_str!("../../../docs/configuration.md");
    page.lines().filter(|line| line.starts_with("| `")).any(|row| {
        let names = row.split('|').nth(1).unwrap();
        names.split(", ").any(|found| found.trim().trim_matches('`') == name)
    })
}

#[test]
fn every_field_is_read_and_documented() {
    let names = field_names();
    assert!(names.len() >= 19, "{names:?}");
    for name in names {
        let mut fields = json!({ "route": "/x", "global": "5/s", "in_flight": 5 });
        fields[&name] = json!({});
        let found = faults(json!({ "LIMIT_X": fields }));
        assert!(found.len() == 1 && found[0].starts_with(&format!("LIMIT_X.{name}: ")), "{name}: {found:?}");
        assert!(documented(&name), "docs/configuration.md has no row for {name}");
    }
}

#[test]
fn every_documented_var_is_read() {
    let page = include_str!("../../../docs/configuration.md");
    let (_, section) = page.split_once("## Vars for the whole deployment").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows.flat_map(|row| row.split('|').next().unwrap().split(", ")).collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names.iter().map(|name| name.trim().trim_matches('`')) {
        let found = faults(json!({ name: {} }));
        assert!(found.len() == 1 && found[0].starts_with(&format!("{name}: ")), "{name}: {found:?}");
    }
}
