//! A request's way to the origin and back where something depends on how it goes: permits are kept for it, it has a deadline, or every
//! answer is to have its trace.

use crate::concurrency::caps::RequestKind;
use crate::http::in_flight::{HeldPermits, NoAnswer};
use crate::http::incoming::Incoming;
use crate::http::isolate::Isolate;
use crate::http::problem::{Failure, Problem};
use crate::http::proxy::{self, BodyEncoding, OriginRequest};
use crate::http::rate_headers::Header;
use crate::http::respond::respond;
use crate::limit::time::Span;
use crate::policy::Settings;
use crate::runtime::clock;
use web_sys::{AbortController, Response};
use worker::wasm_bindgen::JsValue;
use worker::worker_sys::Context;

/// What is to be known on the way.
pub struct Forward<'a> {
    /// The request.
    pub incoming: &'a Incoming<'a>,
    /// The isolate, which hears of troubles.
    pub isolate: &'a Isolate,
    /// Its settings.
    pub settings: &'a Settings,
    /// What outlives the request.
    pub context: &'a Context,
    /// The request's permits.
    pub permits: HeldPermits,
    /// What its place is for.
    pub kind: RequestKind,
    /// How long the origin may take to answer.
    pub timeout: Option<Span>,
    /// The trace, where it is wanted.
    pub trace: Option<Header>,
}

impl Forward<'_> {
    /// Sends the request on, and gives its answer `headers` besides its own. `errands` are sent when the origin has answered.
    ///
    /// # Errors
    /// The runtime's, should it not take a response that we make.
    pub async fn there_and_back(
        self,
        origin_request: &OriginRequest<'_>,
        headers: &mut Vec<Header>,
        errands: impl FnOnce(),
    ) -> Result<Response, JsValue> {
        let Forward { incoming, isolate, settings, context, mut permits, kind, timeout, trace } = self;
        let deadline = timeout.map(|_| AbortController::new()).transpose()?;
        let body = if permits.is_empty() { BodyEncoding::Untouched } else { BodyEncoding::Raw };
        let signal = deadline.as_ref().map(AbortController::signal);
        permits.begin();
        let answer = match origin_request.send(incoming.request, body, signal.as_ref()) {
            Ok(fetch) => permits.wait_for(fetch, timeout).await,
            Err(thrown) => Err(NoAnswer::Thrown(thrown)),
        };
        errands();
        let response = match answer {
            Ok(response) if permits.is_empty() => response,
            Ok(response) => permits.follow(response, incoming.request, kind, context)?,
            Err(silence) => {
                let failure = match silence {
                    NoAnswer::Thrown(thrown) => {
                        permits.end(context);
                        unreachable(isolate, &thrown)
                    }
                    NoAnswer::Late => {
                        permits.leave_broken_off(context);
                        deadline.iter().for_each(AbortController::abort);
                        Failure::OriginTimeout
                    }
                };
                return respond(incoming, &Problem::failure(failure), settings, trace);
            }
        };
        headers.extend(trace);
        proxy::with_headers(&response, headers)
    }
}

/// Notes that the origin could not be reached, by what the runtime has `thrown`.
pub fn unreachable(isolate: &Isolate, thrown: &JsValue) -> Failure {
    isolate.warn("origin", &format!("{thrown:?}"), clock::now());
    Failure::OriginUnreachable
}
