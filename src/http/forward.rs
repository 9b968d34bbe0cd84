//! A request's way to the origin and back, where something depends on how it goes: the request
//! holds permits, its body or the origin has a bound, or the answer carries a trace.

use crate::concurrency::plan::RequestKind;
use crate::http::fetch_api;
use crate::http::in_flight::HeldPermits;
use crate::http::origin_request::{BodyEncoding, OriginRequest};
use crate::http::problem::{Failure, Problem};
use crate::http::rate_headers::Header;
use crate::http::request_bounds::{NoAnswer, RequestBounds, UPLOAD};
use crate::http::request_context::RequestContext;
use crate::http::respond::respond;
use crate::http::socket_relay::RelayBounds;
use crate::identity::Subject;
use crate::limit::time::Span;
use web_sys::Response;
use worker::js_sys::Error;
use worker::wasm_bindgen::{JsCast, JsValue};

/// Everything that [`Forward::send`] needs besides the origin's request.
pub struct Forward<'a> {
    /// The request.
    pub cx: &'a RequestContext<'a>,
    /// The permits that it holds.
    pub permits: HeldPermits,
    /// The protocol that it asks for.
    pub kind: RequestKind,
    /// `upload`: how long the client may bring nothing of the body. `None`: [`UPLOAD`] where the
    /// request has a permit of a cap that refuses, else for as long as it likes.
    pub upload: Option<Span>,
    /// `timeout`: how long the origin may take until its answer begins; `None` for as long as it
    /// likes.
    pub timeout: Option<Span>,
    /// `socket_idle`: how long nothing may pass through a WebSocket.
    pub idle: Option<Span>,
    /// The `Penstock-Trace` header, where `TRACE` asks for it.
    pub trace: Option<Header>,
    /// Whether the request has taken tokens of a quota, which go back if the origin is not reached.
    pub has_day_tokens: bool,
    /// The digest of the client's address.
    pub caller: Subject,
}

impl Forward<'_> {
    /// Sends the request to the origin, and returns its answer with `headers` added. Calls
    /// `answered` as soon as the origin has answered or failed, and `unreached` if the request has
    /// not got there.
    ///
    /// # Errors
    /// The runtime's error, if it rejects a response that Penstock makes.
    pub async fn send(
        self,
        origin_request: &OriginRequest,
        headers: &mut Vec<Header>,
        answered: impl FnOnce(),
        unreached: impl FnOnce(),
    ) -> Result<Response, JsValue> {
        let Forward { cx, mut permits, kind, upload, timeout, idle, trace, has_day_tokens, caller } = self;
        let RequestContext { incoming, context, .. } = *cx;
        let body = if permits.is_empty() { BodyEncoding::Untouched } else { BodyEncoding::Raw };
        let upload = upload.or(permits.is_enforced().then_some(UPLOAD));
        permits.begin();
        let bounds = RequestBounds { upload, timeout, kind, heartbeat: permits.heartbeat(), context };
        let sent = origin_request.send(incoming.request, body, &bounds);
        let begun = sent.is_ok();
        let abort = sent.as_ref().ok().and_then(|sent| sent.abort.clone());
        let answer = match sent {
            Ok(sent) => permits.wait_for(sent).await,
            Err(thrown) => Err(NoAnswer::Thrown(thrown)),
        };
        answered();
        let response = match answer {
            Ok(response) => {
                if has_day_tokens && fetch_api::tells_unreached(&response) {
                    unreached();
                }
                match permits.is_empty() {
                    true => response,
                    false => permits.follow(response, incoming.request, kind, &RelayBounds { idle, abort, context })?,
                }
            }
            Err(no_answer) => {
                let failure = match no_answer {
                    NoAnswer::Thrown(thrown) => {
                        permits.end(context);
                        if has_day_tokens && !(begun && origin_request.may_have_arrived().await) {
                            unreached();
                        }
                        cx.log().origin_failed(Failure::OriginUnreachable, &connection_problem(&thrown));
                        Failure::OriginUnreachable
                    }
                    NoAnswer::Late => {
                        permits.end_broken_off(context);
                        let problem = format!("The answer did not begin within {}.", timeout.unwrap_or_default());
                        cx.log().origin_failed(Failure::OriginTimeout, &problem);
                        Failure::OriginTimeout
                    }
                    NoAnswer::UploadLate => {
                        permits.end_broken_off(context);
                        cx.log().upload_timed_out(caller);
                        Failure::UploadTimeout
                    }
                };
                return respond(incoming, &Problem::failure(failure), &cx.loaded.policy.settings, trace);
            }
        };
        headers.extend(trace);
        origin_request.finish(incoming.request, &response, headers)
    }
}

/// The sentence for the log about a connection that failed: the runtime has `thrown`.
pub fn connection_problem(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<Error>().and_then(|error| error.message().as_string());
    match message.as_deref().map(|message| message.trim_end_matches('.')) {
        None | Some("") => "The connection failed.".to_owned(),
        Some(message) => ["The connection failed: ", message, "."].concat(),
    }
}
