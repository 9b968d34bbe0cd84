//! To the origin and back, untouched: neither body is read here, redirects go to the client, and WebSockets pass through.

use super::rate_headers::Header;
use super::target::Target;
use web_sys::{Request, RequestInit, Response, ResponseInit, Url, WorkerGlobalScope};
use worker::js_sys::global;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;

/// Marks what this deployment has forwarded, so that it knows its own requests should they come back.
pub const HOP: &str = "penstock-hop";

/// Sends the request to `origin` (`https://host/prefix`), or on to its own URL where there is none.
///
/// # Errors
/// What the runtime throws when the origin cannot be reached.
pub async fn forward(
    request: &Request,
    target: &Target<'_>,
    origin: Option<&str>,
    hop: &str,
) -> Result<Response, JsValue> {
    let url = match origin {
        Some(origin) if target.may_climb() => {
            // Under a host of its own: the one that was sent may be none.
            let resolved = Url::new(&format!("http://host{}", target.path_and_query))?;
            format!("{origin}{}{}", resolved.pathname(), resolved.search())
        }
        Some(origin) => format!("{origin}{}", target.path_and_query),
        None => request.url(),
    };
    // A Request serves as the init of another, and brings all it has: method, headers, body stream, redirect mode, signal.
    let init: &RequestInit = request.unchecked_ref();
    let outgoing = Request::new_with_str_and_init(&url, init)?;
    outgoing.headers().set(HOP, hop)?;
    let scope: WorkerGlobalScope = global().unchecked_into();
    JsFuture::from(scope.fetch_with_request(&outgoing)).await?.dyn_into()
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
    let init: &ResponseInit = response.unchecked_ref();
    let copy = Response::new_with_opt_readable_stream_and_init(response.body().as_ref(), init)?;
    for (name, value) in headers {
        copy.headers().set(name, value)?;
    }
    Ok(copy)
}
