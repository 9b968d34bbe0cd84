//! Passes on the messages of a WebSocket where Penstock has to know when it ends.

use crate::limit::time::Span;
use web_sys::{AbortController, Response};
use worker::js_sys::{Array, Object, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::Context;

#[wasm_bindgen(module = "/src/http/socket_relay.js")]
extern "C" {
    /// Returns the origin's WebSocket when `response` switches protocols (101), or else `None`.
    pub fn socket(response: &Response) -> Option<Object>;
    #[wasm_bindgen(catch, js_name = relay)]
    fn relay_in_js(response: &Response, origin: &Object, bounds: &JsValue) -> Result<Array, JsValue>;
    #[wasm_bindgen(js_name = relayBounds)]
    fn relay_bounds(
        idle: Option<f64>,
        abort: Option<&AbortController>,
        heartbeat: &JsValue,
        context: &Context,
    ) -> JsValue;
}

/// The bounds of one relay.
#[derive(Debug)]
pub struct RelayBounds<'a> {
    /// `socket_idle`: how long nothing may pass in either direction; `None` for as long as it is.
    pub idle: Option<Span>,
    /// Breaks off the origin's side.
    pub abort: Option<AbortController>,
    /// The runtime's context, with which the client's side ends.
    pub context: &'a Context,
}

/// Relays messages between the socket `origin` and the client, while the permit has this
/// `heartbeat`. Returns the response for the client, which replaces `response`, and a promise that
/// rejects when the connection ends.
///
/// # Errors
/// The runtime's, when it does not make a pair of sockets.
pub fn relay(
    response: &Response,
    origin: &Object,
    bounds: &RelayBounds<'_>,
    heartbeat: &JsValue,
) -> Result<(Response, Promise), JsValue> {
    let idle = bounds.idle.map(|idle| idle.as_millis() as f64);
    let bounds = relay_bounds(idle, bounds.abort.as_ref(), heartbeat, bounds.context);
    response_and_end(&relay_in_js(response, origin, &bounds)?)
}

/// Reads the pair of an answer and the promise of its end.
///
/// # Errors
/// The value in the place of one of them. No such case is known.
pub fn response_and_end(pair: &Array) -> Result<(Response, Promise), JsValue> {
    Ok((pair.get(0).dyn_into()?, pair.get(1).dyn_into()?))
}
