//! Passes on the body of an answer, or the messages of a WebSocket, where Penstock has to know when
//! they end. The runtime reports no end of a response that passes through untouched.

use web_sys::{Request, Response};
use worker::js_sys::{Array, Object, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen(module = "/src/http/relay.js")]
extern "C" {
    /// Returns the origin's WebSocket when `response` switches protocols (101), or else `None`.
    pub fn socket(response: &Response) -> Option<Object>;
    #[wasm_bindgen(catch, js_name = relay)]
    fn relay_in_js(response: &Response, origin: &Object) -> Result<Array, JsValue>;
    #[wasm_bindgen(catch, js_name = pipeBody)]
    fn pipe_body_in_js(response: &Response, request: &Request) -> Result<Option<Array>, JsValue>;
}

/// Relays messages between the socket `origin` and the client. Returns the response for the client,
/// which replaces `response`, and a promise that rejects when the connection ends.
///
/// # Errors
/// The runtime's, when it does not make a pair of sockets.
pub fn relay(response: &Response, origin: &Object) -> Result<(Response, Promise), JsValue> {
    response_and_end(&relay_in_js(response, origin)?)
}

/// Returns `response` to `request` with its body through a pipe, and the promise of the pipe's end.
/// `None` when it has no body.
///
/// The request for it must have asked for [`Raw`](crate::http::origin_request::BodyEncoding::Raw)
/// bytes, so that the pipe neither decompresses nor compresses them. A response with a status above
/// 599 cannot be made again: it is returned as it is, with the promise that the end of its body is
/// reached or is no longer watched.
///
/// # Errors
/// The runtime's, when it does not make a pipe.
pub fn pipe_body(response: &Response, request: &Request) -> Result<Option<(Response, Promise)>, JsValue> {
    pipe_body_in_js(response, request)?.as_ref().map(response_and_end).transpose()
}

fn response_and_end(pair: &Array) -> Result<(Response, Promise), JsValue> {
    Ok((pair.get(0).dyn_into()?, pair.get(1).dyn_into()?))
}
