//! The parts of a request's URL, byte for byte as the runtime gives them.

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
