//! One request from its arrival to its answer, stage by stage.

use crate::actor::permits::calls::PermitObjects;
use crate::actor::rates::calls::RateObjects;
use crate::gate::decision::Decision;
use crate::gate::retry_after;
use crate::http::fetch_api::{HeaderNames, Unreached};
use crate::http::forward::{Forward, connection_problem};
use crate::http::in_flight::HeldPermits;
use crate::http::incoming::{self, Incoming};
use crate::http::isolate::Isolate;
use crate::http::origin_request::OriginRequest;
use crate::http::problem::{Failure, Problem};
use crate::http::request_context::RequestContext;
use crate::http::respond::respond;
use crate::identity::address::Address;
use crate::policy::Settings;
use crate::runtime::clock;
use web_sys::{Request, Response};
use worker::Env;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys::Context;

/// Answers a request, in every case. The value is a `Response`, or the object of
/// [`fetch_api::forward`](crate::http::fetch_api::forward) with the promise of the origin's.
///
/// # Errors
/// The runtime's error, if it rejects a response that Penstock makes.
pub async fn serve(request: Request, env: Env, context: Context) -> Result<JsValue, JsValue> {
    let isolate = Isolate::get(&env);
    isolate.tell_faults();
    let Some(loaded) = &isolate.loaded else {
        return fail(&request, Failure::Misconfigured, &Settings::default()).map(JsValue::from);
    };
    let text = incoming::text_of(&request, &loaded.asked);
    let incoming = Incoming::parse(&request, &loaded.asked, &text);
    let permit_actors = PermitObjects { env: env.clone() };
    // Another handle on the same request; its own `clone` would copy it, body and all.
    let actors = RateObjects { env, request: Clone::clone(&request) };
    let cx = RequestContext {
        incoming: &incoming,
        context: &context,
        isolate: &isolate,
        loaded,
        began: clock::now(),
        actors: &actors,
        permit_actors: &permit_actors,
    };
    match handle(&cx).await {
        Ok(answer) => Ok(answer),
        Err(thrown) => {
            isolate.warn("request", &format!("{thrown:?}"), clock::now());
            fail(&request, Failure::Unforeseen, &loaded.policy.settings).map(JsValue::from)
        }
    }
}

/// Answers a request that went on to the origin without being waited for here, and that the origin
/// has not answered: `thrown` says how it ended, as [`Unreached::read`] reads it. Takes back the
/// quota tokens of a request that the origin has not had. Where nothing was `thrown`, this Worker's
/// module failed instead.
///
/// # Errors
/// As [`serve`].
pub fn answer_for_the_origin(
    request: &Request,
    env: &Env,
    context: &Context,
    thrown: &JsValue,
) -> Result<Response, JsValue> {
    let isolate = Isolate::get(env);
    let Unreached { day_tokens, answer } = Unreached::read(thrown);
    let failure = if thrown.is_undefined() { Failure::Unforeseen } else { Failure::OriginUnreachable };
    let Some(loaded) = &isolate.loaded else {
        return answer.map_or_else(|| fail(request, failure, &Settings::default()), Ok);
    };
    let text = incoming::text_of(request, &loaded.asked);
    let incoming = Incoming::parse(request, &loaded.asked, &text);
    let permit_actors = PermitObjects { env: env.clone() };
    let actors = RateObjects { env: env.clone(), request: Clone::clone(request) };
    let cx = RequestContext {
        incoming: &incoming,
        context,
        isolate: &isolate,
        loaded,
        began: clock::now(),
        actors: &actors,
        permit_actors: &permit_actors,
    };
    if !day_tokens.is_empty() {
        let route = cx.route();
        let address = Address::read(&incoming, loaded.policy.settings.ipv6_prefix);
        let verdict = loaded.policy.access_of(route, &address);
        let plan = cx.plan(route, address.subject(&loaded.digester), &verdict);
        cx.take_back(&plan, &day_tokens);
    }
    if let Some(answer) = answer {
        return Ok(answer);
    }
    if failure == Failure::OriginUnreachable {
        cx.log().origin_failed(failure, &connection_problem(thrown));
    }
    respond(&incoming, &Problem::failure(failure), &loaded.policy.settings, None)
}

fn fail(request: &Request, failure: Failure, settings: &Settings) -> Result<Response, JsValue> {
    let names = HeaderNames::new([]);
    let text = incoming::text_of(request, &names);
    respond(&Incoming::parse(request, &names, &text), &Problem::failure(failure), settings, None)
}

/// The stages of a request: loop, address, limits and caps, then a refusal or the origin.
async fn handle(cx: &RequestContext<'_>) -> Result<JsValue, JsValue> {
    let policy = &cx.loaded.policy;
    let hop = cx.loaded.hop(cx.incoming.target.authority);
    if cx.is_our_own(&hop) {
        return cx.refuse(&Problem::failure(Failure::Loop), None);
    }

    let route = cx.route();
    let address = Address::read(cx.incoming, policy.settings.ipv6_prefix);
    let caller = address.subject(&cx.loaded.digester);
    let verdict = policy.access_of(route, &address);
    cx.log().address(&verdict, caller);
    if let Some(block) = verdict.blocked {
        return cx.refuse(&cx.blocked(block), cx.trace(&Decision::default(), clock::now()));
    }

    let plan = cx.plan(route, caller, &verdict);
    let caps = cx.caps(route, caller, &verdict);
    let gate = cx.gate();
    let mut decision = gate.decide_with(&plan, &caps).await;
    let decided = clock::now();
    retry_after::set_wait(&mut decision, &mut cx.isolate.retry_spread.borrow_mut(), caller, decided);
    cx.log().decision(&decision, caller, &caps.permits.borrow());

    let trace = cx.trace(&decision, decided);
    let permits = HeldPermits::new(caps.permits.take(), &cx.permit_actors.env);
    let start_background = || cx.start(gate.background(&plan, decision.is_allowed()));
    // While permits are held, nothing is left to `waitUntil` before the origin has answered; the
    // module `http::in_flight` says why.
    let after_origin = decision.is_allowed() && !permits.is_empty();
    if !after_origin {
        start_background();
    }
    let rate_headers = cx.rate_headers(&plan, &decision, decided);
    if let Some(refusal) = &decision.refusal {
        permits.end(cx.context);
        return cx.refuse(&cx.limited(refusal, &rate_headers), trace);
    }
    if let Some(refusal) = &decision.caps.refusal {
        return cx.refuse(&Problem::cap_refused(refusal, &rate_headers), trace);
    }

    let mut headers = rate_headers.passed();
    let day_tokens = &decision.day_tokens;
    let unreached = || cx.take_back(&plan, day_tokens);
    let origin_request = OriginRequest::new(cx.incoming, &address, &policy.settings, &hop);
    let origin_request = origin_request.inspect_err(|_| unreached())?;
    let (upload, timeout) = (policy.upload(route), policy.timeout(route));
    if permits.is_empty() && upload.is_none() && timeout.is_none() && trace.is_none() {
        return Ok(origin_request.forward(cx.incoming.request, day_tokens, &headers));
    }
    let (kind, idle, has_day_tokens) = (cx.kind(), policy.socket_idle(route), !day_tokens.is_empty());
    let forward = Forward { cx, permits, kind, upload, timeout, idle, trace, has_day_tokens, caller };
    let answered = || {
        if after_origin {
            start_background();
        }
    };
    forward.send(&origin_request, &mut headers, answered, unreached).await.map(JsValue::from)
}
