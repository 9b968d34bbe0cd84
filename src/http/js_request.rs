//! The few lines of JavaScript beside this file, as Rust calls them. Each does in one call what would be one for every header.

use crate::http::rate_headers::Header;
use web_sys::{AbortSignal, Request, Response};
use worker::js_sys::{Array, JsString, Promise};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;

/// Stands for a header that was not sent; no value can hold it (RFC 9110 §5.5).
const ABSENT: &str = "\0";

#[wasm_bindgen(module = "/src/http/js_request.js")]
extern "C" {
    fn fields(request: &Request, names: &Array) -> String;
    fn shown(request: &Request, names: &Array) -> String;
    #[wasm_bindgen(catch)]
    fn made(status: u16, text: &str, bytes: Option<&[u8]>) -> Result<Response, JsValue>;
    #[wasm_bindgen(catch)]
    fn dressed(response: &Response, lines: &str) -> Result<Response, JsValue>;
    #[wasm_bindgen(catch)]
    fn send(
        request: &Request,
        url: &str,
        name: &str,
        value: &str,
        encoding: Option<&str>,
        signal: Option<&AbortSignal>,
    ) -> Result<Promise, JsValue>;
    fn pass(request: &Request, lines: &str) -> JsValue;
}

/// Names of headers, in both languages.
#[derive(Debug)]
pub struct Names {
    names: Vec<String>,
    array: Array,
}

impl Names {
    /// Some names, in lower case.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let array = names.iter().map(|name| JsString::from(name.as_str())).collect();
        Names { names, array }
    }

    /// The values of these headers, in their order, as [`Names::find`] reads them.
    pub fn fields(&self, request: &Request) -> String {
        fields(request, &self.array)
    }

    /// A line for the method, one for the URL, and then as [`Names::fields`].
    pub fn shown(&self, request: &Request) -> String {
        shown(request, &self.array)
    }

    /// The value of the header `name`, if it is one of these: what was sent, or `None` inside where it was not.
    pub fn find<'t>(&self, text: &'t str, name: &str) -> Option<Option<&'t str>> {
        let place = self.names.iter().position(|known| known == name)?;
        Some(text.split('\n').nth(place).filter(|value| *value != ABSENT))
    }
}

/// A response of ours.
///
/// # Errors
/// The runtime's, should it not take a status or a header.
pub fn respond(status: u16, body: Option<&str>, headers: &[Header]) -> Result<Response, JsValue> {
    let mut text = lines(headers);
    match body {
        // A page is cheaper as bytes: as text the runtime would make it UTF-16, and UTF-8 again.
        Some(body) if body.len() > 1_024 => made(status, &text, Some(body.as_bytes())),
        Some(body) => {
            text.extend(["\0", body]);
            made(status, &text, None)
        }
        None => made(status, &text, None),
    }
}

/// A copy of `response` with `headers` besides its own.
///
/// # Errors
/// The runtime's, should it not take a header.
pub fn with(response: &Response, headers: &[Header]) -> Result<Response, JsValue> {
    dressed(response, &lines(headers))
}

/// Sends `request` to `url` with one header line more, and dresses the answer as [`with`] does, all without another call of ours. What comes
/// is for `entry.js` alone; where there is no answer, it asks for one.
pub fn fetch_with(request: &Request, url: &str, (name, value): (&str, &str), headers: &[Header]) -> JsValue {
    let mut text = String::with_capacity(256);
    for part in [url, "\n", name, "\n", value, "\n"] {
        text.push_str(part);
    }
    add_lines(&mut text, headers);
    pass(request, &text)
}

/// Sends `request` to `url`, with one header line more. `encoding` is the runtime's `encodeResponseBody`; `signal` ends it before its time.
///
/// # Errors
/// The runtime's, where it cannot even be tried.
pub fn fetch(
    request: &Request,
    url: &str,
    (name, value): (&str, &str),
    encoding: Option<&str>,
    signal: Option<&AbortSignal>,
) -> Result<Promise, JsValue> {
    send(request, url, name, value, encoding, signal)
}

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
