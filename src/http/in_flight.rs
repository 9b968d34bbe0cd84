//! A request's places while it is under way: at the origin, on its way back, or as a live WebSocket.
//!
//! What the runtime does when a client goes away, as experiments on workerd show, and what follows from it:
//!
//! - *Before the origin has answered, and nothing is left to `waitUntil`:* the request's context ends on the spot. Its future is never
//!   polled again, its timers do not fire, nothing is dropped (before `owner.rs` does), and the origin's connection is closed. So its place is kept
//!   by a sign of life from a timer in its own context (`stay.js`): when there has been none for [`GONE`](crate::concurrency::heartbeats::GONE), it is free.
//! - *The same, while something is left to `waitUntil`:* all goes on as if the client were there. The origin answers, and the body is
//!   then piped to nobody, which never ends. So nothing is left to `waitUntil` before the origin has answered, but for the line that
//!   tells of a flood of refusals in shadow a second later.
//! - *While the body is passed on:* the pipe fails at once, and the place is free as soon as the origin may have heard of it too. Where the
//!   origin's body stands still, that is by the request's signal (`relay.js`), which needs the compatibility flag `enable_request_signal`.
//! - *The same, of an answer that is passed on as it is:* the context ends with the answer's head, timers and all, but for what is left to
//!   `waitUntil`; the signal tells nothing then. So the end of one that cannot be piped (a status past 599) is watched by a copy of it.
//! - *A client that only closes its side (FIN)* is not seen to leave before something is written to it.
//!
//! What is left to `waitUntil` runs for as long as the answer is being sent, however long that is, and for 30 seconds afterwards at most.
//! So the signs of life go on for a body that streams for hours, and a place that nobody gives back is free soon after at the latest.

use crate::concurrency::permit_lease::OriginOutcome;
use crate::concurrency::permit_leases::PermitGuard;
use crate::concurrency::plan::RequestKind;
use crate::http::permit_heartbeat;
use crate::http::relay::{piped, relay, socket};
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::runtime::clock;
use crate::runtime::promise::future_of;
use crate::runtime::timeout::with_timeout;
use std::rc::Rc;
use web_sys::{Request, Response};
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::Context;

/// The places of one request, and what it takes to keep them.
#[derive(Debug)]
pub struct HeldPermits {
    guards: Vec<PermitGuard>,
    /// Their caps, known also when the tickets are gone.
    caps: Vec<Rc<Cap>>,
    env: Env,
    begun: Time,
    /// What keeps them, once the request is at the origin.
    stay: Option<JsValue>,
}

/// Why the origin's answer is not there.
#[derive(Debug)]
pub enum NoAnswer {
    /// It did not begin in time.
    Late,
    /// What the runtime throws when the origin cannot be reached.
    Thrown(JsValue),
}

impl HeldPermits {
    /// What a request that was let in has, from now on.
    pub fn new(guards: Vec<PermitGuard>, env: Env) -> HeldPermits {
        let caps = guards.iter().map(|guard| Rc::clone(guard.cap())).collect();
        let begun = clock::now();
        guards.iter().for_each(|guard| guard.heartbeat(begun));
        HeldPermits { guards, caps, env, begun, stay: None }
    }

    /// Whether it has any.
    pub fn is_empty(&self) -> bool {
        self.caps.is_empty()
    }

    /// Keeps them from now on: the request goes to the origin. Should its client leave and all this be dropped, the origin hears of that later.
    pub fn begin(&mut self) {
        if !self.is_empty() {
            self.stay = Some(permit_heartbeat::begin(&self.env, &self.lines()));
            self.guards.iter_mut().for_each(PermitGuard::hand_over);
        }
    }

    /// What `fetch` comes to, if it does within `timeout`.
    pub async fn wait_for(&self, fetch: Promise, timeout: Option<Span>) -> Result<Response, NoAnswer> {
        let fetch = future_of(fetch);
        let answer = match timeout {
            None => Some(fetch.await),
            Some(timeout) => with_timeout(timeout, fetch).await,
        };
        let answer = match answer {
            Some(answer) => answer.and_then(JsCast::dyn_into::<Response>).map_err(NoAnswer::Thrown),
            None => Err(NoAnswer::Late),
        };
        let fate = match &answer {
            Ok(response) if response.status() < 500 => OriginOutcome::Answered,
            _ => OriginOutcome::Failed,
        };
        let took = clock::now().since(self.begun);
        self.guards.iter().for_each(|guard| guard.note(took, fate));
        answer
    }

    /// The same answer, whose end gives the places back.
    ///
    /// # Errors
    /// None that is known; the runtime's, should it not make a stream.
    pub fn follow(
        mut self,
        response: Response,
        request: &Request,
        kind: RequestKind,
        context: &Context,
    ) -> Result<Response, JsValue> {
        let followed = self.carried(&response, request, kind).transpose();
        let (response, end) = match followed {
            Some(Ok((response, end))) => (Ok(response), Some(end)),
            Some(Err(thrown)) => (Err(thrown), None),
            None => (Ok(response), None),
        };
        self.until(end, context);
        response
    }

    /// What passes on the rest of an answer that the places are still for, and the promise of its end.
    fn carried(
        &mut self,
        response: &Response,
        request: &Request,
        kind: RequestKind,
    ) -> Result<Option<(Response, Promise)>, JsValue> {
        let socket = socket(response);
        // A request that has become a socket has its answer; one that has not is none.
        let (met, ends) = (socket.is_some(), kind == RequestKind::Socket || socket.is_some());
        self.guards.retain(|guard| {
            let stays = !ends || guard.cap().name.ends_with("/sockets") == met;
            if !stays {
                guard.end();
            }
            stays
        });
        match socket {
            _ if self.guards.is_empty() => Ok(None),
            Some(socket) => relay(response, &socket).map(Some),
            None => piped(response, request),
        }
    }

    /// Gives the places back now, and looks after what is idle then.
    pub fn end(self, context: &Context) {
        self.until(None, context);
    }

    /// The same, when the origin's request has been broken off.
    pub fn leave_broken_off(self, context: &Context) {
        self.until(Some(Promise::reject(&JsValue::UNDEFINED)), context);
    }

    fn until(mut self, end: Option<Promise>, context: &Context) {
        if self.stay.is_none() {
            self.begin();
        }
        let fewer = self.guards.len() < self.caps.len();
        let lines = fewer.then(|| self.lines());
        self.stay.iter().for_each(|stay| permit_heartbeat::end(stay, context, lines.as_deref(), end.as_ref()));
    }

    fn lines(&self) -> String {
        let mut lines = String::new();
        for cap in &self.caps {
            let guard = self.guards.iter().find(|guard| Rc::ptr_eq(guard.cap(), cap));
            permit_heartbeat::line(&mut lines, cap, guard.map(PermitGuard::id));
        }
        lines
    }
}
