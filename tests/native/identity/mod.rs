//! Who is asking.
mod address;
mod digest;
mod key;
mod nets;

use penstock::identity::HeadersAndQuery;

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

impl HeadersAndQuery for Request<'_> {
    fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(sent, _)| *sent == name).map(|(_, value)| value.clone())
    }

    fn query(&self) -> Option<&str> {
        self.query
    }
}
