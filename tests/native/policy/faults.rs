use penstock::policy::Policy;
use serde_json::json;

use super::{each_has_one_fault, faults, policy, vars};

#[test]
fn cfg_01_a_misspelt_field_is_a_fault_with_its_place() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "limt": 5 } }),
            "LIMIT_X.limt: unknown field, expected route, per_ip, per_key, global, cost, mode, exempt, on_error, key, allow, block, message, docs, in_flight, sockets, wait, timeout, priority or warmup",
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
fn somebody_elses_vars_are_ignored() {
    let foreign = json!({ "DEV": "1", "KV": "x", "API_URL": {}, "REGION": 3, "BUCKET": "b", "BUCKETS": "b", "DB": [], "TOKEN": true });
    assert!(policy(foreign).bindings.is_empty());
}

#[test]
fn a_null_is_no_var_but_never_a_limit() {
    policy(json!({ "KEY": null, "ORIGIN": null, "SECRET": null, "ALLOW": null, "ORGIN": null, "DB": null }));
    each_has_one_fault(&[(
        json!({ "LIMIT_X": null }),
        "LIMIT_X: null: not a table, expected fields such as per_ip = \"5/min\"",
    )]);
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

#[test]
fn a_long_value_is_cut_in_messages() {
    let found = faults(json!({ "LIMIT_X": vec!["5/min"; 1000] }));
    assert!(found[0].len() < 200 && found[0].contains('…'), "{found:?}");
}

#[test]
fn gcr_02_zeros_and_what_is_no_rate_are_refused_with_their_place() {
    for rate in [
        "0/min",
        "5/0s",
        "5/min burst 0",
        "-5/min",
        "NaN/min",
        "5/minn",
        "5",
        "",
        "unlimited",
        "0/day",
        "5/day Mars/Base",
    ] {
        let found = faults(json!({ "LIMIT_LOGIN": { "route": "/login", "per_ip": ["5/min", rate] } }));
        assert_eq!(found.len(), 1, "{rate}");
        assert!(found[0].starts_with(&format!("LIMIT_LOGIN.per_ip[1]: {rate:?}: ")), "{found:?}");
    }
    each_has_one_fault(&[(
        json!({ "LIMIT_LOGIN": { "route": "/login", "per_ip": "5/minn" } }),
        "LIMIT_LOGIN.per_ip: \"5/minn\": unknown period \"minn\", expected s, min, h, day, or a count such as 30s",
    )]);
}

#[test]
fn gcr_03_a_cost_above_what_the_bucket_holds_is_refused() {
    let cost = |cost: u64| json!({ "LIMIT_X": { "route": "/x", "per_ip": "60/min burst 10", "cost": cost } });
    assert_eq!(policy(cost(10)).bindings[0].limits[0].cost, 10);
    each_has_one_fault(&[
        (
            cost(11),
            "LIMIT_X.cost: 11: above the burst of per_ip \"60/min burst 10\", so that no request could ever pass, expected at most 10",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "global": ["100/s", "3/day"], "cost": 4 } }),
            "LIMIT_X.cost: 4: above the day's count of global \"3/day\", so that no request could ever pass, expected at most 3",
        ),
    ]);
}

#[test]
fn a_cost_is_a_whole_number_from_one() {
    for (cost, shown) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(1.5), "1.5"),
        (json!("2"), "\"2\""),
        (json!(null), "null"),
        (json!(1e300), "1e+300"),
    ] {
        let found = faults(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "cost": cost } }));
        assert_eq!(found, [format!("LIMIT_X.cost: {shown}: expected a whole number, 1 or more")]);
    }
    assert_eq!(
        policy(json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "cost": 2.0 } })).bindings[0].limits[0].cost,
        2
    );
}

#[test]
fn a_choice_is_one_of_its_words() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "mode": "Shadow" } }),
            "LIMIT_X.mode: \"Shadow\": expected \"enforce\", \"shadow\" or \"off\"",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "per_ip": "5/min", "on_error": true } }),
            "LIMIT_X.on_error: true: expected \"local\", \"open\" or \"closed\"",
        ),
    ]);
}

#[test]
fn cfg_03_the_same_route_twice_is_refused_however_it_is_spelt() {
    let two = |first: &str, second: &str| json!({ "LIMIT_A": { "route": first, "per_ip": "5/min" }, "LIMIT_B": { "route": ["/b", second], "per_ip": "6/min" } });
    for (first, second) in [
        ("/login", "/login"),
        ("/login", "//login/"),
        ("/login", "/%6cogin"),
        ("/a%2fb", "/a%2Fb"),
        ("/x/../login", "/./login"),
        ("/users/:id", "/users/:name"),
        ("/api/*", "/api/*/"),
        ("API.example.com/x", "api.example.com./x"),
        ("GET,POST /x", "POST,GET /x"),
        ("GET,HEAD /x", "GET /x"),
        ("GET,POST /x", "POST /x"),
        ("/", "//"),
    ] {
        let fault = format!("LIMIT_B.route[1]: {second:?}: the same route as {first:?} in LIMIT_A.route");
        assert_eq!(faults(two(first, second)), [fault]);
    }
    for (first, second) in [
        ("/login", "POST /login"),
        ("/login", "/LOGIN"),
        ("GET /x", "POST /x"),
        ("a.example/x", "/x"),
        ("*.example.com/x", "example.com/x"),
        ("/x", "/x/*"),
        ("/:a", "/*"),
    ] {
        assert_eq!(policy(two(first, second)).bindings.len(), 2);
    }
    each_has_one_fault(&[(
        json!({ "LIMIT_A": { "route": ["/a", "/b", "/a/"], "exempt": true } }),
        "LIMIT_A.route[2]: \"/a/\": the same route as \"/a\" in LIMIT_A.route[0]",
    )]);
}

#[test]
fn a_route_is_for_all_bindings_but_base() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "per_ip": "5/min" } }),
            "LIMIT_X.route: missing, expected a pattern such as \"POST /login\"; only LIMIT_BASE is met by every request",
        ),
        (
            json!({ "LIMIT_BASE": { "route": "/*", "per_ip": "5/min" } }),
            "LIMIT_BASE.route: \"/*\": LIMIT_BASE is met by every request and has no route; a limit for some of them needs another name",
        ),
    ]);
}

#[test]
fn a_limit_has_a_name() {
    let limit = json!({ "route": "/x", "per_ip": "5/min" });
    each_has_one_fault(&[
        (json!({ "LIMIT_": limit }), "LIMIT_: a limit without a name, expected LIMIT_<NAME>, such as LIMIT_LOGIN"),
        (
            json!({ "LIMIT_A-B": limit }),
            "LIMIT_A-B: \"A-B\" is no name for a limit, expected upper-case letters, digits and underscores, such as LIMIT_LOGIN",
        ),
    ]);
    assert_eq!(
        faults(
            json!({ "LIMIT_API": { "route": "/x", "per_ip": "5/min" }, "LIMIT_api": { "route": "/y", "per_ip": "5/min" } })
        ),
        [
            "LIMIT_api: \"api\" is no name for a limit, expected upper-case letters, digits and underscores, such as LIMIT_LOGIN",
            "LIMIT_api: its limits would have the same names as those of LIMIT_API",
        ]
    );
}

#[test]
fn cfg_04_a_rule_that_does_nothing_is_refused() {
    each_has_one_fault(&[
        (
            json!({ "LIMIT_X": { "route": "/x" } }),
            "LIMIT_X: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_BASE": {} }),
            "LIMIT_BASE: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "exempt": false } }),
            "LIMIT_X: limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, allow and block, or exempt = true",
        ),
        (
            json!({ "LIMIT_X": { "route": "/x", "exempt": true, "per_ip": "5/min", "global": "5/s" } }),
            "LIMIT_X.exempt: an exempt route meets no limit, so per_ip and global would mean nothing: remove one or the other",
        ),
        (
            json!({ "LIMIT_BASE": { "exempt": true } }),
            "LIMIT_BASE.exempt: LIMIT_BASE cannot be exempt from itself: leave it out to have no base limits",
        ),
    ]);
    // Once is enough: what is said of KEY is not said again of each limit that counts by it.
    each_has_one_fault(&[(
        json!({ "KEY": "header:", "LIMIT_X": { "route": "/x", "per_key": "5/min" } }),
        "KEY: \"header:\": `header:` names no header: write `header:NAME`",
    )]);
}

#[test]
fn a_json_text_says_where_it_breaks_off() {
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
fn all_faults_are_reported_at_once() {
    let found = faults(json!({
        "KEY": "header:, foo",
        "TRACE": "yes",
        "BUDGET": "10 EUR",
        "ORGIN": "https://origin.example.com",
        "LIMIT_API": { "route": ["/v1/*", "^/api"], "per_key": "100/s burst 200", "cost": 0, "limt": 5 },
        "LIMIT_LOGIN": { "per_ip": "5/minn", "mode": "on" },
        "LIMIT_OTHER": { "route": "//v1/*", "exempt": true },
    }));
    let places: Vec<&str> = found.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "BUDGET",
            "TRACE",
            "KEY",
            "KEY",
            "LIMIT_API.limt",
            "LIMIT_API.route[1]",
            "LIMIT_API.cost",
            "LIMIT_LOGIN.route",
            "LIMIT_LOGIN.per_ip",
            "LIMIT_LOGIN.mode",
            "ORGIN",
            "LIMIT_OTHER.route",
        ]
    );
}

#[test]
fn a_broken_configuration_gives_no_policy_at_all() {
    let json = json!({ "LIMIT_BASE": { "per_ip": "5/min" }, "LIMIT_X": { "route": "/x", "per_ip": "5/mn" } });
    assert!(Policy::read(&vars(json)).is_err());
}
