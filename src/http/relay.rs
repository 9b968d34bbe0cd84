//! Passes on the body of an answer where Penstock has to know when it ends. The runtime reports no
//! end of a response that passes through untouched.

use crate::http::socket_relay::response_and_end;
use web_sys::{Request, Response};
use worker::js_sys::{Array, Promise};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/src/http/relay.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = pipeBody)]
    fn pipe_body_in_js(response: &Response, request: &Request) -> Result<Option<Array>, JsValue>;
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
