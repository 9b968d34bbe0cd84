//! The part of a request that tells callers apart.

/// The headers and the query of a request. [`Address::read`] and [`KeySources::read`] ask for the
/// names that they state, and for nothing else.
///
/// [`Address::read`]: crate::identity::Address::read
/// [`KeySources::read`]: crate::identity::KeySources::read
pub trait HeadersAndQuery {
    /// The value of the header `name`, which is given in lower case. A header that was sent several
    /// times is joined with `, `, as `Headers.get` does. `None`: the header was not sent.
    fn header(&self, name: &str) -> Option<String>;

    /// The URL's query as sent, without its `?`. `None`: the URL has no query.
    fn query(&self) -> Option<&str>;
}
