//! The state that one isolate keeps between requests. It is plain data: requests must not share
//! anything that does I/O.

use crate::concurrency::lease_table::PermitLeases;
use crate::gate::state::GateState;
use crate::gate::state::retry_spread::RetrySpread;
use crate::http::fetch_api::HeaderNames;
use crate::http::incoming;
use crate::identity::digest::Digester;
use crate::limit::time::Time;
use crate::log;
use crate::log::lines::misconfigured_line;
use crate::log::refusal_sampler::RefusalSampler;
use crate::log::warnings::RecentWarnings;
use crate::policy::{Fault, Policy, Reading};
use crate::runtime::clock;
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use worker::js_sys::{Array, JSON, Math, Object, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{Env, console_error, console_warn};

thread_local! {
    static ISOLATE: OnceCell<Rc<Isolate>> = const { OnceCell::new() };
}

/// The configuration, read once, and the isolate's own memory.
#[derive(Debug)]
pub struct Isolate {
    /// The configuration. Where it has faults, it is the one without limits that
    /// `MISCONFIGURED = "open"` asks for, or else `None`.
    pub loaded: Option<LoadedPolicy>,
    /// The line about the faults of the configuration; `None` where it has none.
    misconfigured: Option<String>,
    /// The memory of the gate.
    pub gate: GateState,
    /// The retry times that refused callers were told.
    pub retry_spread: RefCell<RetrySpread>,
    /// The refusals of the last second.
    pub refusal_sampler: RefCell<RefusalSampler>,
    /// The permits that the isolate holds.
    pub permit_leases: RefCell<PermitLeases>,
    /// The warnings logged lately.
    pub recent_warnings: RefCell<RecentWarnings>,
}

/// A configuration without faults, and values derived from it once.
#[derive(Debug)]
pub struct LoadedPolicy {
    /// The configuration.
    pub policy: Policy,
    /// Makes the digests of callers.
    pub digester: Digester,
    /// The names of the headers that are read from every request.
    pub asked: HeaderNames,
    /// The mark of an `ORIGIN`; see [`LoadedPolicy::hop`].
    hop: Option<String>,
}

impl LoadedPolicy {
    fn new(policy: Policy) -> LoadedPolicy {
        let digester = Digester::new(policy.settings.secret.as_ref());
        let asked = incoming::header_names(&policy);
        let hop = policy.settings.origin.as_deref().map(|origin| digester.deployment(origin));
        LoadedPolicy { policy, digester, asked, hop }
    }

    /// The mark on requests that this deployment forwards for `authority`, by which it knows them
    /// should they come back. Without an `ORIGIN` the mark is of that host alone: a request may
    /// rightly pass through two zones that are both guarded.
    pub fn hop(&self, authority: &str) -> String {
        self.hop.clone().unwrap_or_else(|| self.digester.deployment(authority))
    }
}

impl Isolate {
    /// This isolate, made from `env` on its first request.
    pub fn get(env: &Env) -> Rc<Isolate> {
        ISOLATE.with(|isolate| Rc::clone(isolate.get_or_init(|| Rc::new(Isolate::read(env)))))
    }

    /// Logs a `problem` at `place`, unless the same place was logged a moment ago.
    pub fn warn(&self, place: &str, problem: &str, now: Time) {
        if let Some(line) = self.recent_warnings.borrow_mut().warning(place, problem, now) {
            console_warn!("{line}");
        }
    }

    /// Logs the faults of the configuration, if it has any, unless they were logged a moment ago.
    pub fn tell_faults(&self) {
        let Some(line) = &self.misconfigured else { return };
        if self.recent_warnings.borrow_mut().is_due("misconfigured".to_owned(), clock::now()) {
            console_error!("{line}");
        }
    }

    fn read(env: &Env) -> Isolate {
        let mut reading = Reading::new(&vars(env.unchecked_ref()));
        for Fault { location, problem } in &reading.near_misses {
            log::warning(location, problem);
        }
        for (name, weakness) in reading.written.settings.weak_secrets() {
            log::warning(name, &weakness);
        }
        let missing = missing_bindings(&reading.written, env);
        reading.faults.extend(missing);
        let (policy, faults) = reading.into_policy();
        let misconfigured = (!faults.is_empty()).then(|| misconfigured_line(&faults, policy.is_some()));
        let budget = policy.as_ref().and_then(|policy| policy.settings.budget);
        Isolate {
            loaded: policy.map(LoadedPolicy::new),
            misconfigured,
            gate: GateState::new(Math::random().to_bits(), budget),
            retry_spread: RefCell::default(),
            refusal_sampler: RefCell::default(),
            permit_leases: RefCell::default(),
            recent_warnings: RefCell::default(),
        }
    }
}

/// Returns a fault for each Durable Object or D1 binding that `policy` needs and `env` lacks.
fn missing_bindings(policy: &Policy, env: &Env) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Under `MODE = "off"` nothing is asked.
    if policy.settings.mode.is_none() {
        return faults;
    }
    let mut missing = |place: &str, problem: &str| {
        faults.push(Fault { location: place.to_string(), problem: problem.to_string() });
    };
    if env.durable_object("BUCKETS").is_err() {
        missing("BUCKETS", "there is no Durable Object binding of this name for the class BucketActor");
    }
    if (policy.has_quota() || policy.settings.budget.is_some()) && env.d1("DB").is_err() {
        missing("DB", "there is no D1 database binding of this name, and a daily quota or a BUDGET needs one");
    }
    faults
}

/// The vars and secrets in `env`: strings, numbers, booleans, arrays and plain objects. Bindings,
/// which are objects of classes, are left out.
pub fn vars(env: &Object) -> BTreeMap<String, Value> {
    let names = Object::keys(env);
    names.iter().filter_map(|name| Some((name.as_string()?, var(&Reflect::get(env, &name).ok()?)?))).collect()
}

fn var(value: &JsValue) -> Option<Value> {
    if value.is_object() && !Array::is_array(value) {
        let prototype = Object::get_prototype_of(value);
        if !prototype.is_null() && !Object::get_prototype_of(&prototype).is_null() {
            return None;
        }
    }
    let text = JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_str(&text).ok()
}
