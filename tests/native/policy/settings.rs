use penstock::identity::{Nets, Secret};
use penstock::limit::time::Span;
use penstock::policy::{Access, Cors, HeaderStyle, Settings};
use serde_json::{Value, json};

use super::{faults, policy};

fn settings(vars: Value) -> Settings {
    policy(vars).settings
}

#[track_caller]
fn each_is_refused(name: &str, table: &[(Value, &str)]) {
    for (value, problem) in table {
        assert_eq!(faults(json!({ name: value })), [format!("{name}: {problem}")], "{value}");
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let expected = Settings {
        origin: None,
        headers: HeaderStyle::Draft11,
        cors: Cors::default(),
        access: Access::default(),
        trace: false,
        secret: None,
        ipv6_prefix: 64,
        durable_after: Span::from_secs(10),
        deadline: Span::from_millis(250),
        budget: None,
        retention_days: 35,
    };
    assert_eq!(settings(json!({})), expected);
}

#[test]
fn what_is_given_is_taken() {
    let given = settings(json!({
        "ORIGIN": "https://origin.example.com/v2/", "HEADERS": "both", "TRACE": "header", "SECRET": "s", "IPV6_PREFIX": 48,
        "DURABLE_AFTER": "0s", "DEADLINE": "1s", "RETENTION": "90d", "BUDGET": "90000/day", "CORS_ORIGINS": "*", "ALLOW": "203.0.113.7",
    }));
    let expected = Settings {
        origin: Some("https://origin.example.com/v2".to_owned()),
        headers: HeaderStyle::Both,
        cors: Cors::default(),
        access: Access { allow: Nets(vec!["203.0.113.7".parse().unwrap()]), block: Nets::default() },
        trace: true,
        secret: Secret::new("s"),
        ipv6_prefix: 48,
        durable_after: Span::ZERO,
        deadline: Span::from_secs(1),
        budget: Some(90_000),
        retention_days: 90,
    };
    assert_eq!(given, expected);
}

#[test]
fn a_number_may_be_a_text_as_the_dashboard_holds_it() {
    assert_eq!(settings(json!({ "IPV6_PREFIX": "128" })).ipv6_prefix, 128);
    assert_eq!(settings(json!({ "IPV6_PREFIX": 32.0 })).ipv6_prefix, 32);
    for (value, days) in [(json!(2), 2), (json!("400"), 400), (json!("35d"), 35)] {
        assert_eq!(settings(json!({ "RETENTION": value })).retention_days, days);
    }
}

#[test]
fn a_budget_is_so_many_calls_a_day() {
    for value in [json!(90_000), json!("90000"), json!("90000/day")] {
        assert_eq!(settings(json!({ "BUDGET": value })).budget, Some(90_000));
    }
    each_is_refused(
        "BUDGET",
        &[
            (json!(999), "999: expected a whole number from 1000 to 1000000000"),
            (json!("90000/h"), "\"90000/h\": expected a whole number from 1000 to 1000000000"),
            (json!("10 EUR"), "\"10 EUR\": expected a whole number from 1000 to 1000000000"),
        ],
    );
}

#[test]
fn numbers_have_bounds() {
    each_is_refused(
        "IPV6_PREFIX",
        &[
            (json!(31), "31: expected a whole number from 32 to 128"),
            (json!(129), "129: expected a whole number from 32 to 128"),
            (json!("64d"), "\"64d\": expected a whole number from 32 to 128"),
            (json!("+64"), "\"+64\": expected a whole number from 32 to 128"),
            (json!(true), "true: expected a whole number from 32 to 128"),
        ],
    );
    each_is_refused(
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
    each_is_refused(
        "DEADLINE",
        &[
            (json!(250), "250: not a text, expected a duration such as \"250ms\" or \"10s\""),
            (json!("250"), &format!("\"250\": {no_duration}")),
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
    each_is_refused("DURABLE_AFTER", &[(json!("11s"), "\"11s\": out of bounds, expected 0s to 10s")]);
}

#[test]
fn choices_are_spelt_exactly() {
    let styles = [
        ("draft-11", HeaderStyle::Draft11),
        ("legacy", HeaderStyle::Legacy),
        ("both", HeaderStyle::Both),
        ("none", HeaderStyle::None),
    ];
    for (name, style) in styles {
        assert_eq!(settings(json!({ "HEADERS": name })).headers, style);
    }
    assert!(!settings(json!({ "TRACE": "off" })).trace);
    each_is_refused(
        "HEADERS",
        &[(json!("draft-10"), "\"draft-10\": expected \"draft-11\", \"legacy\", \"both\" or \"none\"")],
    );
    each_is_refused("TRACE", &[(json!(true), "true: expected \"header\" or \"off\"")]);
}

#[test]
fn an_origin_is_a_bare_http_url() {
    for (text, origin) in [
        ("https://origin.example.com", "https://origin.example.com"),
        ("HTTPS://Origin.Example.com/", "https://origin.example.com"),
        ("http://127.0.0.1:9090", "http://127.0.0.1:9090"),
        ("http://[::1]:9090/a%20b//", "http://[::1]:9090/a%20b"),
        ("http://localhost/V2/", "http://localhost/V2"),
    ] {
        assert_eq!(settings(json!({ "ORIGIN": text })).origin.as_deref(), Some(origin));
    }
    let example = "expected one such as \"https://origin.example.com\"";
    each_is_refused(
        "ORIGIN",
        &[
            (json!(""), &format!("not a URL, {example}")),
            (json!("origin.example.com"), &format!("not a URL, {example}")),
            (json!("ftp://origin.example.com"), &format!("the scheme \"ftp\" is neither http nor https, {example}")),
            (
                json!("https://origin.example.com/?x"),
                &format!("a query or a fragment: they belong to each request, {example}"),
            ),
            (
                json!("https://origin.example.com#x"),
                &format!("a query or a fragment: they belong to each request, {example}"),
            ),
            (json!("https://"), &format!("the host \"\" cannot be read, {example}")),
            (json!("https://a b"), &format!("the host \"a b\" cannot be read, {example}")),
            (json!("https://a:0"), &format!("the host \"a:0\" cannot be read, {example}")),
            (json!("https://a:+80"), &format!("the host \"a:+80\" cannot be read, {example}")),
            (json!("https://a:99999"), &format!("the host \"a:99999\" cannot be read, {example}")),
            (json!("https://[::1"), &format!("the host \"[::1\" cannot be read, {example}")),
            (
                json!("https://a/b c"),
                "the path \"/b c\" cannot stand in a URL as it is: escape what is no letter or digit",
            ),
            (json!(["https://a"]), "not a text, expected a URL such as \"https://origin.example.com\""),
        ],
    );
}

#[test]
fn sec_01_no_message_repeats_a_secret() {
    let found = faults(json!({ "ORIGIN": "https://admin:hunter2@origin.example.com", "SECRET": 4242 }));
    assert_eq!(
        found,
        [
            "ORIGIN: a user name or a password before the host: they would be sent to nobody, expected one such as \"https://origin.example.com\"",
            "SECRET: not a text, expected a long random one",
        ]
    );
    each_is_refused("SECRET", &[(json!(" \n"), "empty, expected a long random text, or no SECRET at all")]);
    assert!(!format!("{:?}", policy(json!({ "SECRET": "hunter2" }))).contains("hunter2"));
}

#[test]
fn cfg_04_a_key_source_that_could_never_be_found_is_refused() {
    let kinds = "a key source is `header:NAME`, `bearer`, `cookie:NAME` or `query:NAME`";
    let token = "letters, digits and any of !#$%&'*+-.^_`|~";
    each_is_refused(
        "KEY",
        &[
            (json!("header:"), "\"header:\": `header:` names no header: write `header:NAME`"),
            (json!("cookie"), "\"cookie\": `cookie` names no cookie: write `cookie:NAME`"),
            (json!("header:x api"), &format!("\"header:x api\": `x api` is not the name of a header: {token}")),
            (
                json!("header: x-api-key"),
                &format!("\"header: x-api-key\": ` x-api-key` is not the name of a header: {token}"),
            ),
            (json!("query:a&b"), "\"query:a&b\": `a&b` is not the name of a query: no spaces, and none of &=+%#"),
            (json!("bearer:x"), &format!("\"bearer:x\": `bearer:x` is not a key source; {kinds}")),
            (json!("x-api-key"), &format!("\"x-api-key\": `x-api-key` is not a key source; {kinds}")),
            (json!(""), &format!("\"\": an empty item; {kinds}")),
            (json!("bearer,"), &format!("\"bearer,\": an empty item; {kinds}")),
            (json!("bearer, bearer"), "\"bearer, bearer\": `bearer` is there twice"),
            (json!("header:A, header:a"), "\"header:A, header:a\": `header:a` is there twice"),
        ],
    );
    assert_eq!(faults(json!({ "KEY": "header:, foo" })).len(), 2);
}
