//! One request from its arrival to its answer.

use super::answer::{Answer, Asker};
use super::arrived::Arrived;
use super::capacity::{Places, Silence, Task};
use super::cors::is_preflight;
use super::glue::{self, Names};
use super::problem::{Failure, Problem};
use super::proxy::{self, Body};
use super::rate_headers::{Header, Stand, rate_headers};
use super::report::Reporter;
use crate::actor::client::Client;
use crate::actor::slots_client::SlotsClient;
use crate::clock;
use crate::gate::decide::Gate;
use crate::gate::plan::{Patience, Plan};
use crate::gate::refill::{Errand, Runner};
use crate::gate::slots::admit::Admit;
use crate::gate::slots::caps::{self, Entry, Kind, MetCap};
use crate::gate::verdict::Spent;
use crate::identity::address::Address;
use crate::identity::{Presented, Subject};
use crate::isolate::{Isolate, Loaded};
use crate::limit::time::Time;
use crate::policy::{Binding, Settings};
use futures_util::future::join_all;
use std::rc::Rc;
use web_sys::{AbortController, Request, Response};
use worker::wasm_bindgen::JsValue;
use worker::{Context, Env};

/// Answers a request; whatever happens, with an answer.
///
/// # Errors
/// The runtime's, should it not even take a response that we make.
pub async fn serve(request: Request, env: Env, context: &Context) -> Result<Response, JsValue> {
    let isolate = Isolate::get(&env);
    let Some(loaded) = &isolate.loaded else {
        let names = Names::new([]);
        let shown = names.shown(&request);
        let arrived = Arrived::read(&request, &names, &shown);
        return respond(&arrived, &Problem::failure(Failure::Misconfigured), &Settings::default(), None);
    };
    let shown = loaded.asked.shown(&request);
    let arrived = Arrived::read(&request, &loaded.asked, &shown);
    match decide_and_forward(&arrived, env, context, &isolate, loaded).await {
        Ok(response) => Ok(response),
        Err(thrown) => {
            isolate.warn("request", &format!("{thrown:?}"), clock::now());
            respond(&arrived, &Problem::failure(Failure::Unforeseen), &loaded.policy.settings, None)
        }
    }
}

async fn decide_and_forward(
    arrived: &Arrived<'_>,
    env: Env,
    context: &Context,
    isolate: &Rc<Isolate>,
    loaded: &Loaded,
) -> Result<Response, JsValue> {
    let begun = clock::now();
    let policy = &loaded.policy;
    let settings = &policy.settings;
    let target = &arrived.target;
    let hop = loaded.hop(target.authority);
    if arrived.header(proxy::HOP).is_some_and(|sent| sent.split(',').any(|mark| mark.trim_ascii() == hop)) {
        return respond(arrived, &Problem::failure(Failure::Loop), settings, None);
    }

    let route = policy.route(arrived.method, target.authority, target.path());
    let address = Address::read(arrived, settings.ipv6_prefix);
    let ip = address.subject(&loaded.digester);
    let reception = policy.receive(route, &address);
    let reporter = Reporter { isolate, loaded, context, arrived };
    reporter.received(&reception, ip);
    if let Some(block) = reception.blocked {
        let words = block.binding.or(policy.base.as_ref()).map(Binding::words).unwrap_or_default();
        let trace = settings.trace.then(|| trace(&Spent::default(), 0, begun, clock::now()));
        return respond(arrived, &Problem::blocked(words), settings, trace);
    }
    let mut plan = match reception.free {
        true => Plan::default(),
        false => Plan::new(policy, route, ip, |sources| Some(sources.read(arrived)?.subject(&loaded.digester))),
    };
    if is_preflight(arrived.method, |name| arrived.header(name)) {
        // The browser sends it by itself, so it is not counted against its caller; but it is a request all the same, and
        // meets what everyone shares.
        plan.caller.clear();
    }
    let kind = match arrived.header("upgrade") {
        Some(upgrade) if upgrade.eq_ignore_ascii_case("websocket") => Kind::Socket,
        _ => Kind::Plain,
    };
    let caps = if reception.free { Vec::new() } else { caps::met(policy, route, kind) };
    let keepers = SlotsClient { env: env.clone(), deadline: settings.deadline };
    // Another handle on the same request; its own `clone` would copy it, body and all.
    let handle = Clone::clone(arrived.request);
    let actors = Client { env, request: handle };
    let patience = Patience { durable_after: settings.durable_after, deadline: settings.deadline };
    let Isolate { wallet, local, circuits, .. } = &**isolate;
    let gate = Gate { actors: &actors, wallet, local, circuits, patience, wall: clock::now };
    let mut entry = Entry::default();
    let enter = async || {
        entry = enter(isolate, &keepers, &caps, ip).await;
        entry.refused.is_none()
    };
    let mut decision = gate.decide_around(&plan, enter).await;
    decision.spent.add(&entry.spent);
    circuits.borrow_mut().budget.spend(entry.spent.actors.into());
    let decided = clock::now();
    if let Some(refusal) = &mut decision.refusal {
        isolate.returns.borrow_mut().spread(refusal, ip, decided);
    }
    reporter.decided(&decision);
    reporter.entered(&entry, ip);
    let trace = settings.trace.then(|| trace(&decision.spent, decision.unchecked.len(), begun, decided));

    let passes = decision.refusal.is_none() && entry.refused.is_none();
    let run_errands = || {
        // A refused request may have put quota tokens back into the wallet, so these are looked after in any case.
        let tendings = gate.tendings(&plan);
        let refills = if passes { gate.refills(&plan) } else { Vec::new() };
        let prepays = circuits.borrow().budget.is_due(wallet.borrow_mut().now(decided));
        if prepays || !refills.is_empty() || !tendings.is_empty() {
            let errands = run_errands(Rc::clone(isolate), actors.again(), patience, refills, tendings);
            let errands: Task = Box::pin(errands);
            context.wait_until(errands);
        }
    };
    let places = Places::new(entry.places, Rc::clone(isolate), keepers);
    if !passes || places.is_empty() {
        run_errands();
    }
    if let Some(refusal) = &decision.refusal {
        if !places.is_empty() {
            context.wait_until(places.leave());
        }
        let words = policy.binding(refusal.met.binding).map(Binding::words).unwrap_or_default();
        let problem = Problem::refusal(refusal, &plan, words, settings.headers, decided);
        return respond(arrived, &problem, settings, trace);
    }
    if let Some(crowded) = &entry.refused {
        return respond(arrived, &Problem::crowded(crowded, settings.headers, decided), settings, trace);
    }

    let timeout = policy.timeout(route);
    let deadline = timeout.map(|_| AbortController::new()).transpose()?;
    let body = if places.is_empty() { Body::Untouched } else { Body::Raw };
    let signal = deadline.as_ref().map(AbortController::signal);
    let fetch = proxy::forward(arrived, settings.origin.as_deref(), &hop, body, signal.as_ref());
    let answer = match fetch {
        Ok(fetch) => places.keep_for(fetch, timeout).await,
        Err(thrown) => Err(Silence::Thrown(thrown)),
    };
    if !places.is_empty() {
        // Not before the origin has answered; see `capacity`.
        run_errands();
    }
    let response = match answer {
        Ok(response) if places.is_empty() => response,
        Ok(response) => {
            let (response, follow) = places.follow(response, kind)?;
            context.wait_until(follow);
            response
        }
        Err(silence) => {
            if !places.is_empty() {
                let late = matches!(silence, Silence::Late);
                context.wait_until(if late { places.leave_broken_off() } else { places.leave() });
            }
            let failure = match silence {
                Silence::Thrown(thrown) => {
                    isolate.warn("origin", &format!("{thrown:?}"), clock::now());
                    Failure::OriginUnreachable
                }
                Silence::Late => {
                    deadline.iter().for_each(AbortController::abort);
                    Failure::OriginTimeout
                }
            };
            return respond(arrived, &Problem::failure(failure), settings, trace);
        }
    };
    let stand = decision.tightest.map(|at| Stand { limit: at.met.limit, left: at.left, more: at.more });
    let mut headers = rate_headers(settings.headers, stand.map(|stand| stand.limit), stand);
    headers.extend(trace);
    proxy::with_headers(response, &headers)
}

/// Runs errands when the request has its answer.
async fn run_errands(
    isolate: Rc<Isolate>,
    actors: Client,
    patience: Patience,
    refills: Vec<Errand>,
    tendings: Vec<Errand>,
) {
    let Isolate { wallet, circuits, .. } = &*isolate;
    let runner = Runner { actors: &actors, wallet, circuits, patience, wall: clock::now };
    runner.prepay().await;
    join_all(refills.into_iter().map(|errand| runner.refill(errand))).await;
    join_all(tendings.into_iter().map(|errand| runner.tend(errand))).await;
}

/// Gets a request a place under each of `caps`.
async fn enter<'p>(isolate: &Isolate, keepers: &SlotsClient, caps: &[MetCap<'p>], caller: Subject) -> Entry<'p> {
    if caps.is_empty() {
        return Entry::default();
    }
    isolate.call_books();
    let admit = Admit { keepers, books: &isolate.books, patience: keepers.deadline, wall: clock::now };
    caps::enter(&admit, caps, caller).await
}

/// What `TRACE = "header"` adds to every answer: an RFC 9651 dictionary.
fn trace(spent: &Spent, unchecked: usize, begun: Time, decided: Time) -> Header {
    let Spent { actors, d1, rows, wallet, limits } = spent;
    let us = decided.since(begun).as_nanos() / 1_000;
    let mut value = format!("actors={actors}, d1={d1}, rows={rows}, wallet={wallet}, limits={limits}, us={us}");
    if unchecked > 0 {
        value.push_str(", unchecked=");
        value.push_str(&unchecked.to_string());
    }
    ("Penstock-Trace", value)
}

fn respond(
    arrived: &Arrived<'_>,
    problem: &Problem<'_>,
    settings: &Settings,
    trace: Option<Header>,
) -> Result<Response, JsValue> {
    let asker = Asker::read(arrived.method, |name| arrived.header(name));
    let mut answer = Answer::new(problem, &asker, settings);
    answer.headers.extend(trace);
    glue::respond(answer.status, answer.body.as_deref(), &answer.headers)
}
