//! Answers that Penstock makes itself, as the runtime's responses; and the header `Penstock-Trace`.

use crate::gate::decision::Spent;
use crate::http::answer::Answer;
use crate::http::fetch_api;
use crate::http::incoming::Incoming;
use crate::http::negotiate::Recipient;
use crate::http::problem::Problem;
use crate::http::rate_headers::Header;
use crate::identity::HeadersAndQuery;
use crate::limit::time::Time;
use crate::policy::Settings;
use web_sys::Response;
use worker::wasm_bindgen::JsValue;

/// Answers `incoming` with `problem`, in the format that its client reads, and with `trace` if any.
///
/// # Errors
/// The runtime's, when it rejects a response.
pub fn respond(
    incoming: &Incoming<'_>,
    problem: &Problem<'_>,
    settings: &Settings,
    trace: Option<Header>,
) -> Result<Response, JsValue> {
    let header = |name: &str| incoming.header(name);
    let recipient = Recipient::read(incoming.method, incoming.query(), header, incoming.request_id().clone());
    let mut answer = Answer::new(problem, &recipient, settings);
    answer.headers.extend(trace);
    fetch_api::make_response(answer.status, answer.bytes().as_deref(), &answer.headers)
}

/// Returns the header that `TRACE = "header"` adds to every answer: an RFC 9651 dictionary of the
/// decision's costs. `us` is its duration in microseconds. `unchecked`, the number of limits that
/// could not be checked, is left out when it is zero.
pub fn trace(spent: &Spent, unchecked: usize, begun: Time, decided: Time) -> Header {
    let Spent { calls, d1, rows, settled, limits } = spent;
    let us = decided.since(begun).as_nanos() / 1_000;
    let mut value = format!("actors={calls}, d1={d1}, rows={rows}, wallet={settled}, limits={limits}, us={us}");
    if unchecked > 0 {
        value.push_str(", unchecked=");
        value.push_str(&unchecked.to_string());
    }
    ("Penstock-Trace", value)
}
