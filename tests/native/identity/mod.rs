//! The caller of a request: its address, its key, and the digests of both.

mod address;
mod digest;
mod embedded_ipv4;
mod key;
mod networks;

use penstock::identity::{Address, HeadersAndQuery, Nets};

/// A request with these headers (names in lower case) and this query.
#[derive(Clone, Default)]
struct Request<'a> {
    headers: Vec<(&'a str, String)>,
    query: Option<&'a str>,
}

impl<'a> Request<'a> {
    fn with(headers: &[(&'a str, &str)]) -> Request<'a> {
        Request { headers: headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(), query: None }
    }
}

/// Whether a request from `ip` comes from the network `net`.
fn is_in(ip: &str, net: &str) -> bool {
    let nets = Nets(vec![net.parse().unwrap()]);
    Address::read(&Request::with(&[("cf-connecting-ip", ip)]), 64).is_in(&nets)
}

impl HeadersAndQuery for Request<'_> {
    fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(sent, _)| *sent == name).map(|(_, value)| value.clone())
    }

    fn query(&self) -> Option<&str> {
        self.query
    }
}
