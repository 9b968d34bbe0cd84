//! Answers of ours, as the runtime's own.

use crate::gate::decision::Spent;
use crate::http::answer::{Answer, Recipient};
use crate::http::incoming::Incoming;
use crate::http::js_request;
use crate::http::problem::Problem;
use crate::http::rate_headers::Header;
use crate::identity::HeadersAndQuery;
use crate::limit::time::Time;
use crate::policy::Settings;
use web_sys::Response;
use worker::wasm_bindgen::JsValue;

/// `problem`, in the form that whoever sent the request reads, with `trace` besides.
///
/// # Errors
/// The runtime's, should it not take a response that we make.
pub fn respond(
    incoming: &Incoming<'_>,
    problem: &Problem<'_>,
    settings: &Settings,
    trace: Option<Header>,
) -> Result<Response, JsValue> {
    let recipient = Recipient::read(incoming.method, |name| incoming.header(name));
    let mut answer = Answer::new(problem, &recipient, settings);
    answer.headers.extend(trace);
    js_request::respond(answer.status, answer.body.as_deref(), &answer.headers)
}

/// What `TRACE = "header"` adds to every answer: an RFC 9651 dictionary.
pub fn trace(spent: &Spent, unchecked: usize, begun: Time, decided: Time) -> Header {
    let Spent { actors, d1, rows, wallet, limits } = spent;
    let us = decided.since(begun).as_nanos() / 1_000;
    let mut value = format!("actors={actors}, d1={d1}, rows={rows}, wallet={wallet}, limits={limits}, us={us}");
    if unchecked > 0 {
        value.push_str(", unchecked=");
        value.push_str(&unchecked.to_string());
    }
    ("Penstock-Trace", value)
}
