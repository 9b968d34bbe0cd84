//! Forwarding to the origin. Both bodies are streams that pass through unread, redirects go to the
//! client, and WebSockets pass through.

use crate::gate::day_tokens::DayTokens;
use crate::http::fetch_api::{self, Outgoing};
use crate::http::forwarded;
use crate::http::incoming::Incoming;
use crate::http::loop_detection;
use crate::http::rate_headers::Header;
use crate::http::request_bounds::{RequestBounds, SentRequest};
use crate::identity::{Address, HeadersAndQuery, Secret};
use crate::policy::Settings;
use web_sys::{Request, Response, Url};
use worker::wasm_bindgen::JsValue;

/// The request header that carries `ORIGIN_SECRET`. The origin gets it from Penstock alone.
const SECRET_HEADER: &str = "Penstock-Origin-Secret";

/// The treatment of a compressed body of the origin's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEncoding {
    /// Left to the runtime, which passes the body on as it came as long as no script reads it.
    Untouched,
    /// As it came, even when a pipe reads it. Otherwise the runtime would decompress it for the
    /// pipe and compress it again afterwards.
    Raw,
}

/// A request for the origin: its URL there, and the headers that are not the client's own.
#[derive(Debug)]
pub struct OriginRequest {
    outgoing: Outgoing,
}

impl OriginRequest {
    /// Makes the request for the origin of `settings`. Without an `ORIGIN` it goes to its own URL.
    /// The client is at `address`, and `own_mark` is the mark of this deployment.
    ///
    /// # Errors
    /// The runtime's, when it does not parse a path that it has parsed before. No such path is
    /// known.
    pub fn new(
        incoming: &Incoming<'_>,
        address: &Address,
        settings: &Settings,
        own_mark: &str,
    ) -> Result<OriginRequest, JsValue> {
        let mut outgoing = to_origin(incoming, settings.origin.as_deref())?;
        let received = incoming.header(loop_detection::HEADER);
        let marks = received.map(|received| loop_detection::passed_on(&received, own_mark));
        outgoing.set(loop_detection::HEADER, Some(marks.as_deref().unwrap_or(own_mark)));
        let secret = settings.origin.as_ref().and(settings.origin_secret.as_ref());
        outgoing.set(SECRET_HEADER, secret.map(Secret::reveal));
        if settings.origin.is_some() && settings.forwarded {
            forwarded::set(&mut outgoing, incoming.url, &incoming.target, address);
        }
        Ok(OriginRequest { outgoing })
    }

    /// Sends `request` within `bounds`.
    ///
    /// # Errors
    /// The runtime's, when the origin cannot be reached.
    pub fn send(
        &self,
        request: &Request,
        body: BodyEncoding,
        bounds: &RequestBounds<'_>,
    ) -> Result<SentRequest, JsValue> {
        let encoding = match body {
            BodyEncoding::Untouched => None,
            BodyEncoding::Raw => Some("manual"),
        };
        fetch_api::send(request, &self.outgoing, encoding, bounds)
    }

    /// Sends `request`, and finishes its response with `headers`, without another call of the
    /// module. For a request that needs nothing else when its response comes; see
    /// [`fetch_api::forward`].
    pub fn forward(self, request: &Request, day_tokens: &[DayTokens], headers: &[Header]) -> JsValue {
        fetch_api::forward(request, self.outgoing, day_tokens, headers)
    }

    /// Returns the `response` to `request` with `headers` in addition to its own, and with the
    /// places at the origin that it names as the client finds them; see [`fetch_api::finish`].
    ///
    /// # Errors
    /// The runtime's, when it rejects a header. No such header is known.
    pub fn finish(&self, request: &Request, response: &Response, headers: &[Header]) -> Result<Response, JsValue> {
        fetch_api::finish(request, &self.outgoing, response, headers)
    }

    /// Whether the request may have reached the origin, although its answer did not come: the
    /// origin accepts connections.
    pub async fn may_have_arrived(&self) -> bool {
        fetch_api::is_reachable(self.outgoing.url()).await
    }
}

/// The request's URL at `origin` (`https://host/prefix`), or its own.
fn to_origin(incoming: &Incoming<'_>, origin: Option<&str>) -> Result<Outgoing, JsValue> {
    let target = &incoming.target;
    Ok(match origin {
        Some(origin) if target.may_have_dot_segments() => {
            // Resolved behind a made-up host, since the client's own may not be a valid one.
            let resolved = Url::new(&format!("http://host{}", target.path_and_query))?;
            Outgoing::to(&[origin, &resolved.pathname(), &resolved.search()], Some(origin))
        }
        Some(origin) => Outgoing::to(&[origin, target.path_and_query], Some(origin)),
        None => Outgoing::to(&[incoming.url], None),
    })
}
