//! What lets a web page of another origin read a refusal (the Fetch standard's CORS protocol). The origin's own answers
//! say themselves who may read them.

use crate::http::answer::{Recipient, refusal_header_names};
use crate::http::rate_headers::Header;
use crate::identity::key::is_token;
use crate::policy::{Cors, HeaderStyle, Readable};

/// The header fields for a page of `recipient`'s origin; none where no page of another origin asks.
pub fn cors_headers(cors: &Cors, style: HeaderStyle, recipient: &Recipient) -> Vec<Header> {
    let Some(origin) = &recipient.origin else { return Vec::new() };
    let mut headers = match cors.readable(origin) {
        Readable::No => return Vec::new(),
        Readable::Anonymously => vec![("Access-Control-Allow-Origin", "*".to_owned())],
        Readable::WithCredentials(origin) => vec![
            ("Access-Control-Allow-Origin", origin.to_owned()),
            ("Access-Control-Allow-Credentials", "true".to_owned()),
        ],
    };
    headers.push(("Access-Control-Expose-Headers", refusal_header_names(style, recipient.reader).join(", ")));
    headers
}

/// What no browser puts into a preflight (Fetch, "CORS-preflight fetch": no body, no credentials, none of the page's own headers), and what
/// would make more of it than a question: a body, a caller, another protocol, or another method for an origin that obeys such a header.
const MORE: &[&str] = &[
    "transfer-encoding",
    "authorization",
    "cookie",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// Whether a request is a preflight: what a browser sends by itself, without credentials, before a page's own request.
pub fn is_preflight(method: &str, header: impl Fn(&str) -> Option<String>) -> bool {
    let given = |name: &str| header(name).is_some_and(|value| !value.trim().is_empty());
    let asks = || {
        header("access-control-request-method").is_some_and(|asked| !asked.is_empty() && asked.bytes().all(is_token))
    };
    let empty = || header("content-length").is_none_or(|length| length == "0");
    method == "OPTIONS" && given("origin") && asks() && empty() && !MORE.iter().any(|name| given(name))
}
