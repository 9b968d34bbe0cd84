//! To the origin and back, untouched: neither body is read here, redirects go to the client, and WebSockets pass through.

use crate::http::incoming::Incoming;
use crate::http::js_request;
use crate::http::rate_headers::Header;
use std::borrow::Cow;
use web_sys::{AbortSignal, Request, Response, Url};
use worker::js_sys::Promise;
use worker::wasm_bindgen::JsValue;

/// Marks what this deployment has forwarded, so that it knows its own requests should they come back. One mark for each that a
/// request has passed, since it may come back by way of another.
pub const HOP: &str = "penstock-hop";

/// How an answer's body is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEncoding {
    /// As the runtime likes: it passes it on as it came, as long as nobody reads it.
    Untouched,
    /// As it came, even where it is piped on: the runtime would unpack it to do so, and pack it again.
    Raw,
}

/// Where a request goes on to, and the mark that it carries from here on.
#[derive(Debug)]
pub struct OriginRequest<'a> {
    url: Cow<'a, str>,
    hop: &'a str,
}

impl<'a> OriginRequest<'a> {
    /// On to `origin` (`https://host/prefix`), or to the request's own URL where there is none.
    ///
    /// # Errors
    /// None that is known; the runtime's, should it not read a path that it has read before.
    pub fn new(incoming: &Incoming<'a>, origin: Option<&str>, hop: &'a str) -> Result<OriginRequest<'a>, JsValue> {
        let target = &incoming.target;
        let url = match origin {
            Some(origin) if target.may_climb() => {
                // Under a host of its own: the one that was sent may be none.
                let resolved = Url::new(&format!("http://host{}", target.path_and_query))?;
                Cow::from([origin, &resolved.pathname(), &resolved.search()].concat())
            }
            Some(origin) => Cow::from([origin, target.path_and_query].concat()),
            None => Cow::from(incoming.url),
        };
        Ok(OriginRequest { url, hop })
    }

    /// Sends it on; what comes is a `Response`. `signal` ends it before its time.
    ///
    /// # Errors
    /// What the runtime throws when the origin cannot be reached.
    pub fn send(
        &self,
        request: &Request,
        body: BodyEncoding,
        signal: Option<&AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let encoding = match body {
            BodyEncoding::Untouched => None,
            BodyEncoding::Raw => Some("manual"),
        };
        js_request::fetch(request, &self.url, (HOP, self.hop), encoding, signal)
    }

    /// Sends it on where nothing has to be done when the answer comes but to give it `headers` besides its own, so that it need not
    /// come by here again; see [`js_request::fetch_with`].
    pub fn pass(&self, request: &Request, headers: &[Header]) -> JsValue {
        js_request::fetch_with(request, &self.url, (HOP, self.hop), headers)
    }
}

/// The same answer with `headers` besides its own. A switch of protocols (101) is left alone, and so is a status past 599 (some
/// origins say 999): the runtime passes them on, but lets nobody make another like them.
///
/// # Errors
/// None that is known; the runtime's, should it not take a header.
pub fn with_headers(response: &Response, headers: &[Header]) -> Result<Response, JsValue> {
    js_request::with(response, headers)
}
