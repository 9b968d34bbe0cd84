//! Bounds on a request's way to the origin, which `request_bounds.js` keeps, and what becomes of
//! the request.

use crate::concurrency::plan::RequestKind;
use crate::limit::time::{Span, Time};
use crate::runtime::clock;
use crate::runtime::promise::future_of;
use core::cell::Cell;
use core::convert::Infallible;
use core::future::pending;
use core::pin::pin;
use futures_util::future::{Either, select};
use web_sys::{AbortController, Response};
use worker::js_sys::{Array, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::Context;

#[wasm_bindgen(module = "/src/http/request_bounds.js")]
extern "C" {
    /// Returns the bounds as an object; see [`RequestBounds`]. Times are milliseconds.
    fn bounds(
        upload: Option<f64>,
        timeout: Option<f64>,
        is_socket: bool,
        heartbeat: &JsValue,
        context: &Context,
    ) -> JsValue;
}

/// How long a body may stand still where a cap applies and no `upload` is given.
pub const UPLOAD: Span = Span::from_secs(30);

/// The bounds of one request.
#[derive(Clone, Copy, Debug)]
pub struct RequestBounds<'a> {
    /// How long the client may bring nothing of a body that it has not sent in full; `None` for as
    /// long as it likes.
    pub upload: Option<Span>,
    /// How long the origin may take for a part of the body, and from the end of the request until
    /// its answer begins; `None` for as long as it likes.
    pub timeout: Option<Span>,
    /// The protocol that the request asks for. The connection of a WebSocket can be broken off as
    /// long as it lives.
    pub kind: RequestKind,
    /// The heartbeat of the request's permits, where it has some.
    pub heartbeat: Option<&'a JsValue>,
    /// The runtime's context, in which the body goes on beside the answer.
    pub context: &'a Context,
}

impl RequestBounds<'_> {
    /// The object that `fetchWithin` takes.
    pub fn to_js(&self) -> JsValue {
        let [upload, timeout] = [self.upload, self.timeout].map(|span| span.map(|span| span.as_millis() as f64));
        let is_socket = self.kind == RequestKind::Socket;
        bounds(upload, timeout, is_socket, self.heartbeat.unwrap_or(&JsValue::UNDEFINED), self.context)
    }
}

/// A request on its way to the origin.
#[derive(Debug)]
pub struct SentRequest {
    answer: Promise,
    /// The promise whether the body was sent in full; `None` where there is no body.
    body: Option<Promise>,
    /// Breaks off the connection to the origin; `None` where nothing can.
    pub abort: Option<AbortController>,
}

/// Why there is no answer from the origin.
#[derive(Debug)]
pub enum NoAnswer {
    /// The origin exceeded the `timeout`.
    Late,
    /// The client exceeded `upload`.
    UploadLate,
    /// The origin cannot be reached: the value that the runtime has thrown.
    Thrown(JsValue),
}

impl SentRequest {
    /// Reads the list that `fetchWithin` returns.
    ///
    /// # Errors
    /// The value in the place of the first promise. No such case is known.
    pub fn of(sent: &Array) -> Result<SentRequest, JsValue> {
        let (answer, body, abort) = (sent.get(0).dyn_into()?, sent.get(1).dyn_into().ok(), sent.get(2).dyn_into().ok());
        Ok(SentRequest { answer, body, abort })
    }

    /// Waits for the answer. Also returns when the origin had the request in full, which was `sent`
    /// then if it has no body; `None` if the origin does not have it all.
    pub async fn answer(self, sent: Time) -> (Result<Response, NoAnswer>, Option<Time>) {
        let whole = Cell::new(self.body.is_none().then_some(sent));
        let watch = async {
            if let Some(body) = self.body
                && future_of(body).await.is_ok_and(|whole| whole.is_truthy())
            {
                whole.set(Some(clock::now()));
            }
            pending::<Infallible>().await
        };
        let answer = match select(pin!(future_of(self.answer)), pin!(watch)).await {
            Either::Left((answer, _)) => answer,
            Either::Right((never, _)) => match never {},
        };
        (answer.and_then(JsCast::dyn_into).map_err(NoAnswer::of), whole.get())
    }
}

impl NoAnswer {
    /// Reads the value with which the promise of an answer was rejected.
    fn of(thrown: JsValue) -> NoAnswer {
        match thrown.as_string().as_deref() {
            Some("origin") => NoAnswer::Late,
            Some("client") => NoAnswer::UploadLate,
            _ => NoAnswer::Thrown(thrown),
        }
    }
}
