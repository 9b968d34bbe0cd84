//! The permits of one request while it is under way: at the origin, on its way back, or as a live
//! WebSocket.
//!
//! Facts about the runtime, from experiments on workerd, and how permits are given back in each
//! case:
//!
//! - *The client leaves before the origin has answered, and nothing is left to `waitUntil`:* the
//!   request's context ends on the spot. Its future is never polled again and its timers do not
//!   fire; its values are dropped later (`runtime::cancel_on_gc`), and the connection to the origin
//!   is closed. So a timer in the request's own context (`permit_heartbeat.js`) gives heartbeats
//!   for its permits. A permit without a heartbeat for
//!   [`GONE`](crate::concurrency::heartbeats::GONE) is free.
//! - *The same, while something is left to `waitUntil`:* everything goes on as if the client were
//!   there. The origin answers, and its body is piped to no client, which never ends. So nothing is
//!   left to `waitUntil` before the origin has answered, except the log line that counts a flood of
//!   refusals in shadow a second later.
//! - *The client leaves while the body is piped:* the pipe fails at once, and the permit is free as
//!   soon as the origin may have heard of it too. Where the origin's body stands still, the
//!   request's signal tells (`relay.js`); it needs the compatibility flag `enable_request_signal`.
//! - *The client leaves while an answer is passed on unpiped:* the context ends with the answer's
//!   head, timers included, except for work left to `waitUntil`; the signal does not fire. So an
//!   answer that cannot be piped (a status past 599) is followed by a copy of its body.
//! - *The client closes only its own side (FIN):* that is not seen before something is written to
//!   it.
//!
//! Work left to `waitUntil` runs while the answer is being sent, however long that takes, and for
//! at most 30 seconds afterwards. So heartbeats go on for a body that streams for hours, and a
//! permit that is not given back is free soon after its end.

use crate::concurrency::lease_table::PermitGuard;
use crate::concurrency::permit_lease::OriginOutcome;
use crate::concurrency::plan::RequestKind;
use crate::http::permit_heartbeat;
use crate::http::relay::pipe_body;
use crate::http::request_bounds::{NoAnswer, SentRequest};
use crate::http::socket_relay::{RelayBounds, relay, socket};
use crate::limit::time::Time;
use crate::policy::{Cap, Mode};
use crate::runtime::clock;
use std::rc::Rc;
use web_sys::{Request, Response};
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys::Context;

/// The permits of one request.
#[derive(Debug)]
pub struct HeldPermits {
    guards: Vec<PermitGuard>,
    /// The caps of all permits that the request was given, with those that it gave back early.
    caps: Vec<Rc<Cap>>,
    /// The Worker's environment; `None` where there are no permits.
    env: Option<Env>,
    begun: Time,
    /// The JavaScript object that gives heartbeats, once the request is at the origin.
    heartbeat: Option<JsValue>,
}

impl HeldPermits {
    /// The permits `guards` that the caps gave a request. Counts a heartbeat for each.
    pub fn new(guards: Vec<PermitGuard>, env: &Env) -> HeldPermits {
        let caps = guards.iter().map(|guard| Rc::clone(guard.cap())).collect();
        let begun = clock::now();
        guards.iter().for_each(|guard| guard.heartbeat(begun));
        let env = (!guards.is_empty()).then(|| env.clone());
        HeldPermits { guards, caps, env, begun, heartbeat: None }
    }

    /// Whether the request was given no permit.
    pub fn is_empty(&self) -> bool {
        self.caps.is_empty()
    }

    /// Starts the heartbeats: the request goes to the origin. The permits outlive this value from
    /// now on, since the origin hears later than the isolate that a client has left.
    pub fn begin(&mut self) {
        if let Some(env) = &self.env {
            self.heartbeat = Some(permit_heartbeat::begin(env, &self.lines()));
            self.guards.iter_mut().for_each(PermitGuard::hand_over);
        }
    }

    /// The heartbeat, once the request is at the origin.
    pub fn heartbeat(&self) -> Option<&JsValue> {
        self.heartbeat.as_ref()
    }

    /// Whether a cap that refuses requests has given one of the permits.
    pub fn is_enforced(&self) -> bool {
        self.caps.iter().any(|cap| cap.mode == Mode::Enforce)
    }

    /// Waits for the answer to `sent`, and records its latency and outcome for adaptive caps. The
    /// latency counts from when the origin had the request in full: how long a client takes for a
    /// body says nothing about the origin.
    pub async fn wait_for(&self, sent: SentRequest) -> Result<Response, NoAnswer> {
        let (answer, whole) = sent.answer(self.begun).await;
        let outcome = match &answer {
            Ok(response) => OriginOutcome::of_status(response.status()),
            Err(NoAnswer::UploadLate) => return answer,
            Err(_) => OriginOutcome::Failed,
        };
        // An answer to a part of a request has no latency.
        if outcome == OriginOutcome::Failed || whole.is_some() {
            let took = clock::now().since(whole.unwrap_or(self.begun));
            self.guards.iter().for_each(|guard| guard.note(took, outcome));
        }
        answer
    }

    /// Gives back the permits at the end of `response`, which is passed on.
    ///
    /// # Errors
    /// The runtime's, should it refuse to make a stream. No such case is known.
    pub fn follow(
        mut self,
        response: Response,
        request: &Request,
        kind: RequestKind,
        bounds: &RelayBounds<'_>,
    ) -> Result<Response, JsValue> {
        let followed = self.carry(&response, request, kind, bounds).transpose();
        let (response, end) = match followed {
            Some(Ok((response, end))) => (Ok(response), Some(end)),
            Some(Err(thrown)) => (Err(thrown), None),
            None => (Ok(response), None),
        };
        self.until(end, bounds.context);
        response
    }

    /// The answer that passes on the rest of `response`, and the promise of its end. `None` where
    /// there is nothing to wait for: no permit is left, or `response` has no body.
    fn carry(
        &mut self,
        response: &Response,
        request: &Request,
        kind: RequestKind,
        bounds: &RelayBounds<'_>,
    ) -> Result<Option<(Response, Promise)>, JsValue> {
        let socket = socket(response);
        // A socket's permit under `in_flight` ends with the origin's answer, and the permit under
        // `sockets` ends now if the answer is no socket.
        let (is_socket, ends) = (socket.is_some(), kind == RequestKind::Socket || socket.is_some());
        self.guards.retain(|guard| {
            let keeps = !ends || guard.cap().name.ends_with("/sockets") == is_socket;
            if !keeps {
                guard.end();
            }
            keeps
        });
        match socket {
            _ if self.guards.is_empty() => Ok(None),
            Some(socket) => relay(response, &socket, bounds, self.heartbeat().unwrap_or(&JsValue::UNDEFINED)).map(Some),
            None => pipe_body(response, request),
        }
    }

    /// Gives back the permits now, and then the idle ones of the isolate.
    pub fn end(self, context: &Context) {
        self.until(None, context);
    }

    /// The same after a request to the origin was broken off: the origin hears of that a moment
    /// later.
    pub fn end_broken_off(self, context: &Context) {
        self.until(Some(Promise::reject(&JsValue::UNDEFINED)), context);
    }

    /// Gives back the permits when `end` settles; now, where there is none.
    fn until(mut self, end: Option<Promise>, context: &Context) {
        if self.heartbeat.is_none() {
            self.begin();
        }
        let fewer = self.guards.len() < self.caps.len();
        let lines = fewer.then(|| self.lines());
        let heartbeat = self.heartbeat.iter();
        heartbeat.for_each(|heartbeat| permit_heartbeat::end(heartbeat, context, lines.as_deref(), end.as_ref()));
    }

    /// One line for each cap: its name, and the id of its permit if the request still has one.
    fn lines(&self) -> String {
        let mut lines = String::new();
        for cap in &self.caps {
            let guard = self.guards.iter().find(|guard| Rc::ptr_eq(guard.cap(), cap));
            permit_heartbeat::line(&mut lines, cap, guard.map(PermitGuard::id));
        }
        lines
    }
}
