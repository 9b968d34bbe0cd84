//! An answer's body, or a WebSocket, on its way between client and origin where it matters when it ends: one that is passed through as it
//! is ends without anybody being told.

use web_sys::{Request, Response};
use worker::js_sys::{Array, Object, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen(module = "/src/http/relay.js")]
extern "C" {
    /// The socket of an answer that switches protocols.
    pub fn socket(response: &Response) -> Option<Object>;
    #[wasm_bindgen(catch, js_name = relay)]
    fn relay_between(response: &Response, origin: &Object) -> Result<Array, JsValue>;
    #[wasm_bindgen(catch, js_name = piped)]
    fn piped_on(response: &Response, request: &Request) -> Result<Option<Array>, JsValue>;
}

/// The answer to the client in the place of `response`, whose `origin` socket is relayed to it from now on; and the promise of the end
/// of that.
///
/// # Errors
/// The runtime's, should it not make a pair of sockets.
pub fn relay(response: &Response, origin: &Object) -> Result<(Response, Promise), JsValue> {
    both(&relay_between(response, origin)?)
}

/// The same answer to `request` with its body through a pipe, and the promise of the pipe's end, if it has a body. The bytes were asked
/// for as they came ([`proxy`](crate::http::proxy)), so that none is unpacked and packed again. With a status past 599, which nobody may give
/// another answer, the same answer as it is, and the promise of the end of its body or of our looking for that.
///
/// # Errors
/// The runtime's, should it not make a pipe.
pub fn piped(response: &Response, request: &Request) -> Result<Option<(Response, Promise)>, JsValue> {
    piped_on(response, request)?.as_ref().map(both).transpose()
}

fn both(array: &Array) -> Result<(Response, Promise), JsValue> {
    Ok((array.get(0).dyn_into()?, array.get(1).dyn_into()?))
}
