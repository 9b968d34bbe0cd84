//! The parts of a request's URL, byte for byte as the runtime gives them.

use std::net::Ipv4Addr;

/// The parts of a request's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Host and port: `api.example.com:8443`.
    pub authority: &'a str,
    /// Path and query: `/v1/items?page=2`.
    pub path_and_query: &'a str,
}

impl<'a> Target<'a> {
    /// Splits an absolute URL. The runtime has parsed it before, so it has an authority and a path;
    /// a part that is missing all the same becomes empty. Credentials and the fragment are left
    /// out.
    pub fn parse(url: &'a str) -> Target<'a> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (authority, path_and_query) =
            rest.find(['/', '?', '#']).and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let path_and_query = path_and_query.split_once('#').map_or(path_and_query, |(before, _)| before);
        Target { authority, path_and_query }
    }

    /// Returns whether all parsers read the host of `url` alike. Some hosts have another spelling:
    /// URL parsers decode `%61dmin.example`, turn full-width letters into plain ones and `0x7f.1`
    /// into `127.0.0.1`, and read a backslash as a slash. In `OPTIONS *` the `*` directly follows
    /// the host.
    pub fn has_plain_host(url: &str) -> bool {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.split_once(':').map_or(authority, |(host, _)| host);
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_number =
            host.rsplit('.').next().is_some_and(|last| last.starts_with(|first: char| first.is_ascii_digit()));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        !host.is_empty() && authority.bytes().all(is_plain) && (!is_number || host.parse::<Ipv4Addr>().is_ok())
    }

    /// Returns whether the path may contain dot segments (`..`), in any spelling that a URL parser
    /// knows. Behind the prefix of an origin they must be resolved first, or they would lead out of
    /// it.
    pub fn may_have_dot_segments(&self) -> bool {
        let path = self.path();
        path.contains('\\') || path.contains("/.") || path.contains("%2e") || path.contains("%2E")
    }

    /// The path alone: `/v1/items`.
    pub fn path(&self) -> &'a str {
        self.path_and_query.split_once('?').map_or(self.path_and_query, |(path, _)| path)
    }

    /// The query without its question mark; `None` when the URL has no question mark.
    pub fn query(&self) -> Option<&'a str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }
}
