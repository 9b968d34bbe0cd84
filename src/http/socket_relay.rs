//! Passes on the messages of a WebSocket where Penstock has to know when it ends.

use web_sys::Response;
use worker::js_sys::{Array, Object, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen(module = "/src/http/socket_relay.js")]
extern "C" {
    /// Returns the origin's WebSocket when `response` switches protocols (101), or else `None`.
    pub fn socket(response: &Response) -> Option<Object>;
    #[wasm_bindgen(catch, js_name = relay)]
    fn relay_in_js(response: &Response, origin: &Object) -> Result<Array, JsValue>;
}

/// Relays messages between the socket `origin` and the client. Returns the response for the client,
/// which replaces `response`, and a promise that rejects when the connection ends.
///
/// # Errors
/// The runtime's, when it does not make a pair of sockets.
pub fn relay(response: &Response, origin: &Object) -> Result<(Response, Promise), JsValue> {
    response_and_end(&relay_in_js(response, origin)?)
}

/// Reads the pair of an answer and the promise of its end.
///
/// # Errors
/// The value in the place of one of them. No such case is known.
pub fn response_and_end(pair: &Array) -> Result<(Response, Promise), JsValue> {
    Ok((pair.get(0).dyn_into()?, pair.get(1).dyn_into()?))
}
