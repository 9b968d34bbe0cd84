//! Recognises CORS preflights: the `OPTIONS` requests that a browser sends by itself before a
//! page's own request (Fetch standard, "CORS-preflight fetch").

use crate::identity::key::is_token;

/// Headers that no browser puts into a preflight: it has no body, no credentials and no headers of
/// the page. With one of them the request is more than a question: it has a body, names a caller,
/// asks for another protocol, or asks for another method at an origin that obeys such a header.
const NEVER_IN_A_PREFLIGHT: &[&str] = &[
    "transfer-encoding",
    "authorization",
    "cookie",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// Returns whether a request is a preflight. `header` gets names in lower case.
pub fn is_preflight(method: &str, header: impl Fn(&str) -> Option<String>) -> bool {
    let is_present = |name: &str| header(name).is_some_and(|value| !value.trim().is_empty());
    let names_a_method = || {
        header("access-control-request-method").is_some_and(|asked| !asked.is_empty() && asked.bytes().all(is_token))
    };
    let has_no_body = || header("content-length").is_none_or(|length| length == "0");
    method == "OPTIONS"
        && is_present("origin")
        && names_a_method()
        && has_no_body()
        && !NEVER_IN_A_PREFLIGHT.iter().any(|name| is_present(name))
}
