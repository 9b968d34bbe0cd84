//! Penstock is a rate limiter: a Worker in front of an origin, which decides at the edge whether a
//! request may go on.
//!
//! The modules, in the order in which a request meets them:
//!
//! - [`http`]: the request arrives, and in the end is forwarded or refused
//! - [`policy`]: the configuration, validated, and the binding that the request's route matches
//! - [`identity`]: the client's address and the caller's key, as digests
//! - [`gate`]: the limits that the request meets, and the decision
//! - [`concurrency`]: the caps on the requests that are in flight at once
//! - [`protocol`]: the questions of isolates to actors, and the replies
//! - [`actor`]: the Durable Objects that keep buckets and lend permits
//! - [`ledger`]: the daily quotas in D1
//!
//! The modules that it meets all along:
//!
//! - [`runtime`]: promises, timers and the clock of the Workers runtime
//! - [`log`]: the log lines about refusals, and warnings
//! - [`limit`]: the arithmetic of rates, quotas and leases
//!
//! `policy`, `identity`, `gate`, `concurrency`, `protocol` and `limit` are pure: they know nothing
//! of Workers, and take the time as an argument.
//!
//! The functions below are the exports of the WebAssembly module. `entry.js` calls them for the
//! runtime.

#![forbid(unsafe_code)]

pub mod actor;
pub mod concurrency;
pub mod gate;
pub mod http;
pub mod identity;
pub mod ledger;
pub mod limit;
pub mod log;
pub mod policy;
pub mod protocol;
pub mod runtime;

use http::isolate::Isolate;
use runtime::sync_first::value_or_promise;
use worker::js_sys::{Function, Promise};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::{Env, ScheduleContext, ScheduledEvent, event, worker_sys};

#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Answers a request. The result is a `Response`, the object of
/// [`fetch_api::forward`](http::fetch_api::forward), or a promise of either. Exported without
/// `worker`'s own macro, which would make every answer a promise.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, env: Env, context: worker_sys::Context) -> JsValue {
    value_or_promise(runtime::clock::read_once_per_poll(http::serve::serve(request, env, context)))
}

/// Answers a request that failed after `fetch` was called. `thrown` is the error of the fetch from
/// the origin; it is `undefined` when an instance of this module failed before it answered.
#[wasm_bindgen]
pub fn answer_failure(request: &web_sys::Request, env: &Env, thrown: &JsValue) -> JsValue {
    http::serve::answer_for_the_origin(request, env, thrown)
        .map_or_else(|thrown| Promise::reject(&thrown).into(), JsValue::from)
}

/// Takes the functions by which heartbeats call [`heartbeat`] and [`release`], in the instance that
/// is there at the time of the call.
#[wasm_bindgen]
pub fn connect_heartbeats(heartbeat: &Function, release: &Function) {
    http::permit_heartbeat::drive(heartbeat, release);
}

/// See [`http::permit_heartbeat::heartbeat`].
#[wasm_bindgen]
pub fn heartbeat(env: &Env, lines: &str, checks_left: Option<u32>) -> JsValue {
    http::permit_heartbeat::heartbeat(env, lines, checks_left)
}

/// See [`http::permit_heartbeat::release`].
#[wasm_bindgen]
pub fn release(env: &Env, lines: &str) -> String {
    http::permit_heartbeat::release(env, lines)
}

/// Deletes the quota counts in D1 that are older than `RETENTION`, on the Worker's cron trigger.
#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    let isolate = Isolate::get(&env);
    if let (Some(loaded), Ok(database)) = (&isolate.loaded, env.d1("DB")) {
        let days = loaded.policy.settings.retention_days;
        if let Err(error) = ledger::d1::forget(&database, runtime::clock::now(), days).await {
            log::warning("retention", &error.to_string());
        }
    }
}
