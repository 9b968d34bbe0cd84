//! The key of a request, from each kind of source.

use penstock::identity::{Digester, KeySources, Subject};
use proptest::prelude::*;

use super::Request;

fn read(sources: &str, request: &Request<'_>) -> Option<Subject> {
    Some(KeySources::parse(sources).unwrap().read(request)?.subject(&Digester::new(None)))
}

fn header(value: &str) -> Option<Subject> {
    read("header:X-API-Key", &Request::with(&[("x-api-key", value)]))
}

fn bearer(value: &str) -> Option<Subject> {
    read("bearer", &Request::with(&[("authorization", value)]))
}

fn token(value: &str) -> Option<Subject> {
    read("token", &Request::with(&[("authorization", value)]))
}

fn cookie(value: &str) -> Option<Subject> {
    read("cookie:Session", &Request::with(&[("cookie", value)]))
}

fn query(query: &str) -> Option<Subject> {
    read("query:api_key", &Request { query: Some(query), ..Request::default() })
}

#[test]
fn key_03_a_request_without_a_key_has_no_subject() {
    for source in ["header:x-api-key", "bearer", "token", "cookie:Session", "query:api_key"] {
        assert_eq!(read(source, &Request::default()), None);
    }
}

#[test]
fn key_04_keys_with_different_invalid_utf8_are_two_callers() {
    assert_ne!(query("api_key=%FF"), query("api_key=%FE"));
}

#[test]
fn the_first_source_with_a_key_wins() {
    let sources = "header:x-api-key, bearer, query:k";
    let request = |key, token, query| Request {
        query: Some(query),
        ..Request::with(&[("x-api-key", key), ("authorization", token)])
    };
    assert_eq!(read(sources, &request("a", "Bearer b", "k=c")), header("a"));
    assert_eq!(read(sources, &request(" ", "Bearer b", "k=c")), header("b"));
    assert_eq!(read(sources, &request("", "Basic b", "k=c")), header("c"));
    assert_eq!(read(sources, &request("", "", "")), None);
}

#[test]
fn a_scheme_is_read_where_it_is_named_alone() {
    assert_eq!((bearer("Token abc"), token("Bearer abc")), (None, None));
    assert_eq!(token("Token abc"), bearer("Bearer abc"), "a key is one caller wherever it stands");
    let both = |value| read("bearer, token", &Request::with(&[("authorization", value)]));
    assert_eq!((both("token abc"), both("Bearer abc")), (bearer("Bearer abc"), bearer("Bearer abc")));
}

#[test]
fn key_05_long_keys_differ_to_the_last_byte() {
    let long = |byte: &str| header(&format!("{}{byte}{}", "k".repeat(8000), "z".repeat(191)));
    assert_ne!(long("a"), long("b"));
    assert_eq!(long("a").unwrap().to_string().len(), 32);
}

#[test]
fn sec_01_a_raw_key_prints_nothing_of_itself() {
    let key =
        KeySources::parse("bearer").unwrap().read(&Request::with(&[("authorization", "Bearer hunter2")])).unwrap();
    assert_eq!(format!("{key} {key:?}"), "REDACTED RawKey(REDACTED)");
}

#[test]
fn sources_print_as_they_are_read() {
    for text in ["header:x-api-key, bearer, token, cookie:Session, query:api_key", "bearer", "token"] {
        assert_eq!(KeySources::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(KeySources::parse("header:X-API-Key,bearer").unwrap().to_string(), "header:x-api-key, bearer");
}

proptest! {
    #[test]
    fn key_04_no_bytes_make_key_reading_panic(text in any::<String>(), high in "[\u{80}-\u{ff}]{1,40}") {
        for text in [&text, &high] {
            header(text);
            bearer(text);
            token(text);
            cookie(text);
            query(text);
        }
        prop_assert!(header(&high).is_some());
    }

    #[test]
    fn two_keys_are_two_callers(left in "[!-+\\--~]{1,20}", right in "[!-+\\--~]{1,20}") {
        prop_assert_eq!(left == right, header(&left) == header(&right));
    }

    #[test]
    fn any_text_parses_to_sources_or_to_a_problem(text in any::<String>()) {
        match KeySources::parse(&text) {
            Ok(sources) => prop_assert_eq!(KeySources::parse(&sources.to_string()), Ok(sources)),
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
