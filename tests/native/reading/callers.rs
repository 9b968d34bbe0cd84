//! Addresses and keys.

use penstock::identity::{Address, Digester, HeadersAndQuery, KeySources, Subject};

/// The key sources for the tables of keys.
pub(super) const KEY: &str = "header:x-api-key, bearer, token, cookie:Session, query:api_key";

mod addresses {
    super::super::tables! { addresses, super::an_address_is_read:
        ip_01_an_ipv4_address_is_read_from_cf_connecting_ip_alone = "ipv4",
        ip_04_ip_05_an_ipv6_address_is_its_64_in_any_spelling = "ipv6",
        ip_05_an_embedded_ipv4_address_is_that_address = "transition",
        pseudo_ipv4_gives_way_to_the_real_ipv6_address = "pseudo",
        ip_09_an_unreadable_address_is_unknown = "unreadable",
    }
}

mod keys {
    super::super::tables! { keys, super::a_key_is_read:
        key_03_key_07_a_header_has_one_key = "header",
        key_03_a_bearer_token_is_a_key_and_no_other_scheme_is = "bearer",
        key_03_a_token_is_a_key = "token",
        key_03_a_cookie_is_a_key = "cookie",
        key_03_a_query_is_decoded_once = "query",
    }
}

/// A request as lines: `Name: value`, and `?query`.
struct Lines<'a>(Vec<&'a str>);

impl HeadersAndQuery for Lines<'_> {
    fn header(&self, name: &str) -> Option<String> {
        let named = |line: &&&str| line.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        // The runtime removes padding, and joins several lines of a header.
        let value = |line: &&str| line.split_once(':').unwrap().1.trim_matches([' ', '\t']).to_owned();
        let values: Vec<String> = self.0.iter().filter(named).map(value).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    fn query(&self) -> Option<&str> {
        self.0.iter().find_map(|line| line.strip_prefix('?'))
    }
}

fn subject(request: &Lines<'_>) -> Subject {
    Address::read(request, 64).subject(&Digester::new(None))
}

/// Expects the address `sent` to be the caller `read`. `besides` is another header of the request.
fn an_address_is_read(sent: &str, read: Option<&str>, besides: Option<&str>) {
    let line = format!("CF-Connecting-IP: {sent}");
    let request = Lines([Some(line.as_str()), besides].into_iter().flatten().collect());
    match read {
        Some(read) => {
            assert_eq!(subject(&request), subject(&Lines(vec![&format!("CF-Connecting-IP: {read}")])), "{sent:?}")
        }
        None => assert_eq!(subject(&request), subject(&Lines(vec![])), "{sent:?}"),
    }
    assert_eq!(Address::read(&request, 64).is_unknown(), read.is_none(), "{sent:?}");
}

/// Expects the key in the request `sent` to be `read`.
fn a_key_is_read(sent: &str, read: Option<&str>, _: Option<&str>) {
    let key = |sources: &str, lines: Vec<&str>| {
        Some(KeySources::parse(sources).unwrap().read(&Lines(lines))?.subject(&Digester::new(None)))
    };
    let plainly = read.map(|read| key("header:plain", vec![&format!("Plain: {read}")]).unwrap());
    assert_eq!(key(KEY, sent.lines().collect()), plainly, "{sent:?}");
}
