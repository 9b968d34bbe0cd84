//! The parts of a request's URL, byte for byte as the runtime gives them.

use std::net::Ipv4Addr;

/// A request's URL, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Host and port: `api.example.com:8443`.
    pub authority: &'a str,
    /// Path and query: `/v1/items?page=2`.
    pub path_and_query: &'a str,
}

impl<'a> Target<'a> {
    /// Takes an absolute URL apart. The runtime has parsed it before, so every one has these parts; what is missing
    /// all the same is read as empty.
    pub fn of(url: &'a str) -> Target<'a> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (authority, path_and_query) =
            rest.find(['/', '?', '#']).and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let path_and_query = path_and_query.split_once('#').map_or(path_and_query, |(before, _)| before);
        Target { authority, path_and_query }
    }

    /// Whether the host of `url` is spelt as everyone reads it. URL parsers decode `%61dmin.example`, take full-width letters for plain ones
    /// and `0x7f.1` for `127.0.0.1`, and a backslash for a slash; a target that is `*` alone stands right behind the host.
    pub fn is_plain(url: &str) -> bool {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let name = authority.split_once(':').map_or(authority, |(name, _)| name);
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_number =
            name.rsplit('.').next().is_some_and(|last| last.starts_with(|first: char| first.is_ascii_digit()));
        let good = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        !name.is_empty() && authority.bytes().all(good) && (!is_number || name.parse::<Ipv4Addr>().is_ok())
    }

    /// Whether the path may have dot segments, in any of the spellings that a URL parser knows. Behind a prefix they
    /// must be resolved first, or they would lead out of it.
    pub fn may_climb(&self) -> bool {
        let path = self.path();
        path.contains('\\') || path.contains("/.") || path.contains("%2e") || path.contains("%2E")
    }

    /// The path alone: `/v1/items`.
    pub fn path(&self) -> &'a str {
        self.path_and_query.split_once('?').map_or(self.path_and_query, |(path, _)| path)
    }

    /// The query, without its question mark, if there is one.
    pub fn query(&self) -> Option<&'a str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }
}
