//! CORS headers on refusals (Fetch standard, "CORS protocol"), so that a web page of another origin
//! can read them. The origin's own answers say for themselves which pages may read them.

use crate::http::negotiate::Recipient;
use crate::http::rate_headers::{Header, refusal_header_names};
use crate::log::request_id;
use crate::policy::{Cors, HeaderStyle, Readable};

/// Returns the CORS headers of an answer to `recipient`. Empty when the request has no `Origin`, or
/// when `cors` does not let that origin read refusals.
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
    let mut names = refusal_header_names(style, recipient.format);
    names.push(if recipient.request_id.is_ray() { "CF-Ray" } else { request_id::HEADER });
    headers.push(("Access-Control-Expose-Headers", names.join(", ")));
    headers
}
