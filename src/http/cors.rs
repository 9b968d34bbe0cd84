//! What lets a web page of another origin read a refusal (the Fetch standard's CORS protocol). The origin's own answers
//! say themselves who may read them.

use super::answer::{Asker, telling_headers};
use super::rate_headers::Header;
use crate::policy::{Cors, HeaderStyle, Readable};

/// The header fields for a page of `asker`'s origin; none where no page of another origin asks.
pub fn cors_headers(cors: &Cors, style: HeaderStyle, asker: &Asker) -> Vec<Header> {
    let Some(origin) = &asker.origin else { return Vec::new() };
    let mut headers = match cors.readable(origin) {
        Readable::No => return Vec::new(),
        Readable::Anonymously => vec![("Access-Control-Allow-Origin", "*".to_owned())],
        Readable::WithCredentials(origin) => vec![
            ("Access-Control-Allow-Origin", origin.to_owned()),
            ("Access-Control-Allow-Credentials", "true".to_owned()),
        ],
    };
    headers.push(("Access-Control-Expose-Headers", telling_headers(style, asker.reader).join(", ")));
    headers
}

/// Whether a request is a preflight: what a browser sends by itself, without credentials, before a page's own request.
pub fn is_preflight(method: &str, header: impl Fn(&str) -> Option<String>) -> bool {
    let given = |name| header(name).is_some_and(|value| !value.trim().is_empty());
    method == "OPTIONS" && given("origin") && given("access-control-request-method")
}
