//! One request from its arrival to its answer.

use crate::actor::permits::client::PermitClient;
use crate::actor::rates::client::Client;
use crate::concurrency::admit::Admit;
use crate::concurrency::caps::{self, Admission, RequestKind};
use crate::gate::background::{ActorCalls, BackgroundTask};
use crate::gate::decide::Gate;
use crate::gate::decision::Spent;
use crate::gate::plan::{Plan, Timing};
use crate::http::cors::is_preflight;
use crate::http::forward::{Forward, unreachable};
use crate::http::in_flight::HeldPermits;
use crate::http::incoming::{self, Incoming};
use crate::http::isolate::{Isolate, LoadedPolicy};
use crate::http::js_request::Names;
use crate::http::permit_heartbeat;
use crate::http::problem::{Failure, Problem};
use crate::http::proxy::{HOP, OriginRequest};
use crate::http::rate_headers::{Stand, rate_headers};
use crate::http::request_log::Reporter;
use crate::http::respond::{respond, trace};
use crate::identity::Presented;
use crate::identity::address::Address;
use crate::policy::{Binding, Settings};
use crate::runtime::clock;
use crate::runtime::sync_first::after_response;
use futures_util::future::join_all;
use std::rc::Rc;
use web_sys::{Request, Response};
use worker::Env;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys::Context;

/// Answers a request; whatever happens, with an answer: a `Response`, or what stands for one that the origin gives.
///
/// # Errors
/// The runtime's, should it not even take a response that we make.
pub async fn serve(request: Request, env: Env, context: Context) -> Result<JsValue, JsValue> {
    let isolate = Isolate::get(&env);
    let Some(loaded) = &isolate.loaded else {
        return fail(&request, Failure::Misconfigured, &Settings::default()).map(JsValue::from);
    };
    let shown = incoming::shown(&loaded.asked, &request);
    let incoming = Incoming::read(&request, &loaded.asked, &shown);
    match decide_and_forward(&incoming, env, &context, &isolate, loaded).await {
        Ok(answer) => Ok(answer),
        Err(thrown) => {
            isolate.warn("request", &format!("{thrown:?}"), clock::now());
            fail(&request, Failure::Unforeseen, &loaded.policy.settings).map(JsValue::from)
        }
    }
}

/// Answers a request that was not waited for here, and that the origin has not answered; where nothing was `thrown`, it was this Worker
/// that did not.
///
/// # Errors
/// As [`serve`].
pub fn answer_for_the_origin(request: &Request, env: &Env, thrown: &JsValue) -> Result<Response, JsValue> {
    let isolate = Isolate::get(env);
    let failure = match thrown.is_undefined() {
        true => Failure::Unforeseen,
        false => unreachable(&isolate, thrown),
    };
    let settings = isolate.loaded.as_ref().map(|loaded| &loaded.policy.settings);
    fail(request, failure, settings.unwrap_or(&Settings::default()))
}

fn fail(request: &Request, failure: Failure, settings: &Settings) -> Result<Response, JsValue> {
    let names = Names::new([]);
    let shown = incoming::shown(&names, request);
    respond(&Incoming::read(request, &names, &shown), &Problem::failure(failure), settings, None)
}

async fn decide_and_forward(
    incoming: &Incoming<'_>,
    env: Env,
    context: &Context,
    isolate: &Rc<Isolate>,
    loaded: &LoadedPolicy,
) -> Result<JsValue, JsValue> {
    let begun = clock::now();
    let policy = &loaded.policy;
    let settings = &policy.settings;
    let target = &incoming.target;
    let hop = loaded.hop(target.authority);
    if incoming.header(HOP).is_some_and(|sent| sent.split(',').any(|mark| mark.trim_ascii() == hop)) {
        return respond(incoming, &Problem::failure(Failure::Loop), settings, None).map(JsValue::from);
    }

    let route = policy.route(incoming.method, target.authority, target.path());
    let address = Address::read(incoming, settings.ipv6_prefix);
    let ip = address.subject(&loaded.digester);
    let access = policy.access_of(route, &address);
    let reporter = Reporter { isolate, loaded, context, incoming };
    reporter.received(&access, ip);
    if let Some(block) = access.blocked {
        let words = block.binding.or(policy.base.as_ref()).map(Binding::words).unwrap_or_default();
        let trace = settings.trace.then(|| trace(&Spent::default(), 0, begun, clock::now()));
        return respond(incoming, &Problem::blocked(words), settings, trace).map(JsValue::from);
    }
    let mut plan = match access.free {
        true => Plan::default(),
        false => Plan::new(policy, route, ip, |sources| Some(sources.read(incoming)?.subject(&loaded.digester))),
    };
    if is_preflight(incoming.method, |name| incoming.header(name)) {
        // The browser sends it by itself, so it is not counted against its caller; but it is a request all the same, and
        // meets what everyone shares.
        plan.caller.clear();
        // Nor is it anybody else's for a key that no browser would have sent.
        plan.who.iter_mut().for_each(|who| who.subject = ip);
    }
    let kind = match incoming.header("upgrade") {
        Some(upgrade) if upgrade.eq_ignore_ascii_case("websocket") => RequestKind::Socket,
        _ => RequestKind::Plain,
    };
    let caps = if access.free { Vec::new() } else { caps::met(policy, route, kind) };
    let permit_actors = PermitClient { env: env.clone() };
    // Another handle on the same request; its own `clone` would copy it, body and all.
    let handle = Clone::clone(incoming.request);
    let actors = Client { env, request: handle };
    let patience = Timing { durable_after: settings.durable_after, deadline: settings.deadline };
    let Isolate { lease_cache, local_limiter: local, actor_health, .. } = &**isolate;
    let gate = Gate { actors: &actors, lease_cache, local, actor_health, patience, wall: clock::now };
    let mut entry = Admission::default();
    let enter = async |time| {
        if !caps.is_empty() {
            permit_heartbeat::name_holder(isolate);
            let admit = Admit {
                actors: &permit_actors,
                leases: &isolate.permit_leases,
                patience: patience.deadline,
                wall: clock::now,
            };
            entry = caps::enter(&admit, &caps, ip, time).await;
        }
        entry.refused.is_none().then_some(entry.waited)
    };
    let mut decision = gate.decide_around(&plan, caps.len(), enter).await;
    decision.spent.add(&entry.spent);
    actor_health.borrow_mut().budget.spend(entry.spent.actors.max(entry.spent.rows).into());
    let decided = clock::now();
    if let Some(refusal) = &mut decision.refusal {
        isolate.retry_spread.borrow_mut().spread(refusal, ip, decided);
        refusal.wait_for(decision.min_wait);
    }
    entry.refused.iter_mut().for_each(|refusal| refusal.wait = refusal.wait.max(decision.min_wait.as_secs_up()));
    reporter.decided(&decision);
    reporter.entered(&entry, ip);
    let unchecked = decision.unchecked.len().saturating_add(entry.unchecked.len());
    let trace = settings.trace.then(|| trace(&decision.spent, unchecked, begun, decided));

    let passes = decision.refusal.is_none() && entry.refused.is_none();
    let run_errands = || {
        // A refused request may have put quota tokens back into the wallet, so these are looked after in any case.
        let idle_quota_tasks = gate.idle_quota_tasks(&plan);
        let refill_tasks = if passes { gate.refill_tasks(&plan) } else { Vec::new() };
        let prepays = actor_health.borrow().budget.is_due(lease_cache.borrow_mut().now(decided));
        if prepays || !refill_tasks.is_empty() || !idle_quota_tasks.is_empty() {
            let tasks = run_errands(Rc::clone(isolate), actors.again(), patience, refill_tasks, idle_quota_tasks);
            after_response(context, tasks);
        }
    };
    let permits = HeldPermits::new(entry.permits, permit_actors.env);
    if !passes || permits.is_empty() {
        run_errands();
    }
    if let Some(refusal) = &decision.refusal {
        permits.end(context);
        let words = policy.binding(refusal.planned.binding).map(Binding::words).unwrap_or_default();
        let problem = Problem::refusal(refusal, &plan, words, settings.headers, decided);
        return respond(incoming, &problem, settings, trace).map(JsValue::from);
    }
    if let Some(refusal) = &entry.refused {
        let problem = Problem::cap_refused(refusal, settings.headers, decided);
        return respond(incoming, &problem, settings, trace).map(JsValue::from);
    }

    let stand = decision.tightest.map(|at| Stand { limit: at.planned.limit, left: at.left, more: at.more });
    let mut headers = rate_headers(settings.headers, stand.map(|stand| stand.limit), stand);
    let origin_request = OriginRequest::new(incoming, settings.origin.as_deref(), &hop)?;
    let timeout = policy.timeout(route);
    if permits.is_empty() && timeout.is_none() && trace.is_none() {
        return Ok(origin_request.pass(incoming.request, &headers));
    }
    let kept = !permits.is_empty();
    let forward = Forward { incoming, isolate, settings, context, permits, kind, timeout, trace };
    let tasks = || {
        if kept {
            run_errands();
        }
    };
    forward.there_and_back(&origin_request, &mut headers, tasks).await.map(JsValue::from)
}

/// Runs errands when the request has its answer.
async fn run_errands(
    isolate: Rc<Isolate>,
    actors: Client,
    patience: Timing,
    refill_tasks: Vec<BackgroundTask>,
    idle_quota_tasks: Vec<BackgroundTask>,
) {
    let Isolate { lease_cache, actor_health, .. } = &*isolate;
    let actor_calls = ActorCalls { actors: &actors, lease_cache, actor_health, patience, wall: clock::now };
    actor_calls.prepay().await;
    join_all(refill_tasks.into_iter().map(|task| actor_calls.refill(task))).await;
    join_all(idle_quota_tasks.into_iter().map(|task| actor_calls.return_idle_quota(task))).await;
}
