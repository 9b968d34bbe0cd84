//! To the origin and back, untouched: neither body is read here, redirects go to the client, and WebSockets pass through.

use super::arrived::Arrived;
use super::glue;
use super::rate_headers::Header;
use std::borrow::Cow;
use web_sys::{AbortSignal, Response, Url};
use worker::js_sys::Promise;
use worker::wasm_bindgen::JsValue;

/// Marks what this deployment has forwarded, so that it knows its own requests should they come back. One mark for each that a
/// request has passed, since it may come back by way of another.
pub const HOP: &str = "penstock-hop";

/// How an answer's body is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// As the runtime likes: it passes it on as it came, as long as nobody reads it.
    Untouched,
    /// As it came, even where it is piped on: the runtime would unpack it to do so, and pack it again.
    Raw,
}

/// Sends the request to `origin` (`https://host/prefix`), or on to its own URL where there is none; what comes is a `Response`.
///
/// # Errors
/// What the runtime throws when the origin cannot be reached.
pub fn forward(
    arrived: &Arrived<'_>,
    origin: Option<&str>,
    hop: &str,
    body: Body,
    signal: Option<&AbortSignal>,
) -> Result<Promise, JsValue> {
    let Arrived { request, target, .. } = arrived;
    let url = match origin {
        Some(origin) if target.may_climb() => {
            // Under a host of its own: the one that was sent may be none.
            let resolved = Url::new(&format!("http://host{}", target.path_and_query))?;
            Cow::from(format!("{origin}{}{}", resolved.pathname(), resolved.search()))
        }
        Some(origin) => Cow::from(format!("{origin}{}", target.path_and_query)),
        None => Cow::from(arrived.url),
    };
    let encoding = match body {
        Body::Untouched => None,
        Body::Raw => Some("manual"),
    };
    glue::fetch(request, &url, (HOP, hop), encoding, signal)
}

/// The same answer with `headers` besides its own. A switch of protocols (101) is left alone, and so is a status past 599 (some
/// origins say 999): the runtime passes them on, but lets nobody make another like them.
///
/// # Errors
/// None that is known; the runtime's, should it not take a header.
pub fn with_headers(response: Response, headers: &[Header]) -> Result<Response, JsValue> {
    if headers.is_empty() || !(200..=599).contains(&response.status()) {
        return Ok(response);
    }
    glue::with(&response, headers)
}
