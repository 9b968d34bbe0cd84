//! A WebSocket between a client and the origin, message by message, where it matters when it ends: one that is passed through as it is
//! ends without anybody being told.

use web_sys::Response;
use worker::js_sys::{Array, Object, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen(module = "/src/http/relay.js")]
extern "C" {
    /// The socket of an answer that switches protocols.
    pub fn socket(response: &Response) -> Option<Object>;
    #[wasm_bindgen(catch, js_name = relay)]
    fn relay_between(response: &Response, origin: &Object) -> Result<Array, JsValue>;
}

/// The answer to the client in the place of `response`, whose `origin` socket is relayed to it from now on; and the promise of the end
/// of that.
///
/// # Errors
/// The runtime's, should it not make a pair of sockets.
pub fn relay(response: &Response, origin: &Object) -> Result<(Response, Promise), JsValue> {
    let both = relay_between(response, origin)?;
    Ok((both.get(0).dyn_into()?, both.get(1).dyn_into()?))
}
