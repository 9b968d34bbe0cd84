//! Requests, responses and `fetch`, by the functions of `fetch_api.js`. Each does in one call from
//! Rust to JavaScript the work that `web_sys` would do in one call per header.

use crate::gate::day_tokens::{self, DayTokens};
use crate::http::rate_headers::Header;
use crate::http::request_bounds::{RequestBounds, SentRequest};
use crate::runtime::promise::future_of;
use std::fmt;
use web_sys::{Request, Response};
use worker::js_sys::{Array, JsString, Promise, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};

mod js {
    use super::{Array, JsValue, Promise, Request, Response};
    use worker::wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(module = "/src/http/map_back.js")]
    extern "C" {
        #[wasm_bindgen(js_name = wayBack)]
        pub fn way_back(request: &Request, origin: &str, sent: &str) -> JsValue;
    }

    #[wasm_bindgen(module = "/src/http/fetch_api.js")]
    extern "C" {
        #[wasm_bindgen(js_name = headerValues)]
        pub fn header_values(request: &Request, names: &Array) -> String;
        #[wasm_bindgen(js_name = requestText)]
        pub fn request_text(request: &Request, names: &Array) -> String;
        #[wasm_bindgen(catch, js_name = makeResponse)]
        pub fn make_response(status: u16, text: &str, bytes: Option<&[u8]>) -> Result<Response, JsValue>;
        #[wasm_bindgen(catch)]
        pub fn finish(response: &Response, lines: &str, way: &JsValue) -> Result<Response, JsValue>;
        #[wasm_bindgen(catch)]
        pub fn send(request: &Request, text: &str, encoding: Option<&str>, bounds: &JsValue) -> Result<Array, JsValue>;
        pub fn forward(request: &Request, text: &str) -> JsValue;
        #[wasm_bindgen(js_name = isReachable)]
        pub fn is_reachable(url: &str) -> Promise;
        #[wasm_bindgen(js_name = tellsUnreached)]
        pub fn tells_unreached(response: &Response) -> bool;
    }
}

/// Stands for a header that the client did not send, or that the origin must not get. No header
/// value can contain it (RFC 9110 §5.5).
const ABSENT: &str = "\0";

/// The length of a body from which it is passed as bytes. As a string the runtime would convert it
/// to UTF-16 and back to UTF-8, which costs more the longer it is.
const LONG_BODY: usize = 1_024;

/// Names of headers, as Rust and as JavaScript need them.
#[derive(Debug)]
pub struct HeaderNames {
    names: Vec<String>,
    js_names: Array,
}

impl HeaderNames {
    /// Makes a list of names, which must be in lower case.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> HeaderNames {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let js_names = names.iter().map(|name| JsString::from(name.as_str())).collect();
        HeaderNames { names, js_names }
    }

    /// Returns the values of these headers in `request`, one line each. [`HeaderNames::find`] looks
    /// them up.
    pub fn values(&self, request: &Request) -> String {
        js::header_values(request, &self.js_names)
    }

    /// Returns the method of `request` in one line, its URL in another, and then the lines of
    /// [`HeaderNames::values`].
    pub fn request_text(&self, request: &Request) -> String {
        js::request_text(request, &self.js_names)
    }

    /// Looks up the header `name` in `values`. `None` when it is not one of these names;
    /// `Some(None)` when the client did not send it.
    pub fn find<'t>(&self, values: &'t str, name: &str) -> Option<Option<&'t str>> {
        let index = self.names.iter().position(|known| known == name)?;
        Some(values.split('\n').nth(index).filter(|value| *value != ABSENT))
    }
}

/// Makes a response.
///
/// # Errors
/// The runtime's, when it rejects the status or a header.
pub fn make_response(status: u16, body: Option<&[u8]>, headers: &[Header]) -> Result<Response, JsValue> {
    let mut text = lines(headers);
    let short = body.filter(|body| body.len() <= LONG_BODY).and_then(|body| core::str::from_utf8(body).ok());
    match short {
        Some(body) => {
            text.extend(["\0", body]);
            js::make_response(status, &text, None)
        }
        None => js::make_response(status, &text, body),
    }
}

/// Returns the origin's `response` to `request`, which was sent as `outgoing` says, with `headers`
/// in addition to its own, and with the places that it names where the client finds them. A switch
/// of protocols (101) and a status above 599 (some origins send 999) stay as they are: the runtime
/// passes them on, but does not let a script make such a response.
///
/// # Errors
/// The runtime's, when it rejects a header.
pub fn finish(
    request: &Request,
    outgoing: &Outgoing,
    response: &Response,
    headers: &[Header],
) -> Result<Response, JsValue> {
    let way = js::way_back(request, outgoing.line(1), outgoing.url());
    js::finish(response, &lines(headers), &way)
}

/// Sends `request` as `outgoing` says, and finishes the response with `headers` as [`finish`] does,
/// all in JavaScript. The module is not called again, so the exchange goes on even when this
/// instance fails. `day_tokens` go along, and come back if the request does not reach the origin.
///
/// The result is an object for `entry.js`, which returns the response to the client, or asks the
/// module for an answer when the origin cannot be reached.
pub fn forward(request: &Request, outgoing: Outgoing, day_tokens: &[DayTokens], headers: &[Header]) -> JsValue {
    let Outgoing(mut text) = outgoing;
    text.push('\n');
    day_tokens::write(day_tokens, &mut text);
    text.push('\n');
    add_lines(&mut text, headers);
    js::forward(request, &text)
}

/// The URL of a request for the origin, and its headers that are not as the client sent them: a
/// line for the URL, a line for the `ORIGIN` that it is at (blank where there is none), then a line
/// for each header's name and a line for its value. `Debug` prints nothing of it, since a header
/// may hold a secret.
pub struct Outgoing(String);

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outgoing(REDACTED)")
    }
}

impl Outgoing {
    /// Makes a request for the URL that stands in `parts`, which is at `origin`.
    pub fn to(parts: &[&str], origin: Option<&str>) -> Outgoing {
        let mut text = String::with_capacity(512);
        text.extend(parts.iter().copied().chain(["\n", origin.unwrap_or_default(), "\n"]));
        Outgoing(text)
    }

    /// Sets the header `name`, whatever the client sent. `None` removes it.
    pub fn set(&mut self, name: &str, value: Option<&str>) {
        for part in [name, "\n", value.unwrap_or(ABSENT), "\n"] {
            self.0.push_str(part);
        }
    }

    /// The URL.
    pub fn url(&self) -> &str {
        self.line(0)
    }

    fn line(&self, number: usize) -> &str {
        self.0.split('\n').nth(number).unwrap_or_default()
    }
}

/// A request's end without an answer of the origin, as the promise of [`forward`] tells it.
#[derive(Debug, Default)]
pub struct Unreached {
    /// The quota tokens to take back; none where the origin may have had the request.
    pub day_tokens: Vec<DayTokens>,
    /// Cloudflare's answer in place of the origin's; `None` where there is none.
    pub answer: Option<Response>,
}

impl Unreached {
    /// Reads the value with which the promise of [`forward`] was rejected.
    pub fn read(thrown: &JsValue) -> Unreached {
        let member = |name: &str| Reflect::get(thrown, &name.into()).unwrap_or_default();
        let day_tokens = member("dayTokens").as_string().map(|line| day_tokens::read(&line));
        Unreached { day_tokens: day_tokens.unwrap_or_default(), answer: member("answer").dyn_into().ok() }
    }
}

/// Whether the origin of `url` accepts a connection now.
pub async fn is_reachable(url: &str) -> bool {
    future_of(js::is_reachable(url)).await.is_ok_and(|reachable| reachable.is_truthy())
}

/// Whether `response` is Cloudflare's own word that it could not reach the origin.
pub fn tells_unreached(response: &Response) -> bool {
    js::tells_unreached(response)
}

/// Sends `request` as `outgoing` says. `encoding` is the runtime's option `encodeResponseBody`.
/// `bounds` can end the request.
///
/// # Errors
/// The runtime's, when it cannot even begin to send.
pub fn send(
    request: &Request,
    outgoing: &Outgoing,
    encoding: Option<&str>,
    bounds: &RequestBounds<'_>,
) -> Result<SentRequest, JsValue> {
    let text = [&outgoing.0, "\n"].concat();
    js::send(request, &text, encoding, &bounds.to_js()).and_then(|sent| SentRequest::of(&sent))
}

/// Writes each header as a line for its name and a line for its value.
fn lines(headers: &[Header]) -> String {
    let mut text = String::new();
    add_lines(&mut text, headers);
    text
}

fn add_lines(text: &mut String, headers: &[Header]) {
    for (name, value) in headers {
        for part in [*name, "\n", value.as_str(), "\n"] {
            text.push_str(part);
        }
    }
}
