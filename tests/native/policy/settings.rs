//! The vars that are not limits.

use penstock::identity::{Nets, Secret};
use penstock::limit::time::Span;
use penstock::policy::{Access, Cors, HeaderStyle, Misconfigured, Mode, Settings};
use serde_json::json;

use super::{each_value_is_refused, faults, policy, settings};

#[test]
fn a_missing_var_has_its_default() {
    let expected = Settings {
        mode: Some(Mode::Enforce),
        misconfigured: Misconfigured::Closed,
        origin: None,
        origin_secret: None,
        forwarded: true,
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
fn every_given_var_is_read() {
    let given = settings(json!({
        "MODE": "shadow", "MISCONFIGURED": "open", "ORIGIN": "https://origin.example.com/v2/", "HEADERS": "both", "TRACE": "header", "SECRET": "s", "FORWARDED": "none", "ORIGIN_SECRET": " abc+/=\n", "IPV6_PREFIX": 48,
        "DURABLE_AFTER": "0s", "DEADLINE": "1s", "RETENTION": "90d", "BUDGET": "90000/day", "CORS_ORIGINS": "*", "ALLOW": "203.0.113.7",
    }));
    let expected = Settings {
        mode: Some(Mode::Shadow),
        misconfigured: Misconfigured::Open,
        origin: Some("https://origin.example.com/v2".to_owned()),
        origin_secret: Secret::new("abc+/="),
        forwarded: false,
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
fn a_budget_is_a_number_of_calls_per_day() {
    for value in [json!(90_000), json!("90000"), json!("90000/day")] {
        assert_eq!(settings(json!({ "BUDGET": value })).budget, Some(90_000));
    }
    each_value_is_refused(
        "BUDGET",
        &[
            (json!(999), "999: expected a whole number from 1000 to 1000000000"),
            (json!("90000/h"), "\"90000/h\": expected a whole number from 1000 to 1000000000"),
            (json!("10 EUR"), "\"10 EUR\": expected a whole number from 1000 to 1000000000"),
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
    let unfit = "a space, or a character that cannot stand in a header, expected a text such as `openssl rand -base64 32` prints";
    each_value_is_refused(
        "ORIGIN_SECRET",
        &[
            (json!(4242), "not a text, expected a long random one"),
            (
                json!("\n"),
                "empty, expected a long random text such as `openssl rand -base64 32` prints, or no ORIGIN_SECRET at all",
            ),
            (json!("hunter 2"), unfit),
            (json!("hunter2\r\nX-Admin: 1"), unfit),
            (json!("hünter2"), unfit),
            (json!("hunter2\u{0}"), unfit),
        ],
    );
    assert!(!format!("{:?}", policy(json!({ "ORIGIN_SECRET": "hunter2" }))).contains("hunter2"));
    each_value_is_refused("SECRET", &[(json!(" \n"), "empty, expected a long random text, or no SECRET at all")]);
    assert!(!format!("{:?}", policy(json!({ "SECRET": "hunter2" }))).contains("hunter2"));
}

#[test]
fn cfg_04_a_key_source_that_could_never_be_found_is_refused() {
    let kinds = "a key source is `header:NAME`, `bearer`, `token`, `cookie:NAME` or `query:NAME`";
    let token = "letters, digits and any of !#$%&'*+-.^_`|~";
    each_value_is_refused(
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
            (json!("token:x"), &format!("\"token:x\": `token:x` is not a key source; {kinds}")),
            (json!("token, bearer, token"), "\"token, bearer, token\": `token` is there twice"),
            (json!("x-api-key"), &format!("\"x-api-key\": `x-api-key` is not a key source; {kinds}")),
            (json!(""), &format!("\"\": an empty item; {kinds}")),
            (json!("bearer,"), &format!("\"bearer,\": an empty item; {kinds}")),
            (json!("bearer, bearer"), "\"bearer, bearer\": `bearer` is there twice"),
            (json!("header:A, header:a"), "\"header:A, header:a\": `header:a` is there twice"),
        ],
    );
    assert_eq!(faults(json!({ "KEY": "header:, foo" })).len(), 2);
}
