//! The exports of the WebAssembly module.

use crate::http::isolate::Isolate;
use crate::runtime::sync_first::value_or_promise;
use crate::{http, ledger, log, runtime};
use worker::js_sys::{Function, Promise};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::{Env, ScheduleContext, ScheduledEvent, event, worker_sys};

#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
    runtime::zones::SOURCE.install();
}

/// Answers a request. The result is a `Response`, the object of
/// [`fetch_api::forward`](crate::http::fetch_api::forward), or a promise of either. Exported
/// without `worker`'s own macro, which would make every answer a promise.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, env: Env, context: worker_sys::Context) -> JsValue {
    value_or_promise(runtime::clock::read_once_per_poll(http::serve::serve(request, env, context)))
}

/// Answers a request that failed after `fetch` was called. `thrown` is the error of the fetch from
/// the origin; it is `undefined` when an instance of this module failed before it answered.
#[wasm_bindgen]
pub fn answer_failure(
    request: &web_sys::Request,
    env: &Env,
    context: &worker_sys::Context,
    thrown: &JsValue,
) -> JsValue {
    http::serve::answer_for_the_origin(request, env, context, thrown)
        .map_or_else(|thrown| Promise::reject(&thrown).into(), JsValue::from)
}

/// Takes the functions by which heartbeats call [`heartbeat`], [`release`] and [`crowded`], in the
/// instance that is there at the time of the call.
#[wasm_bindgen]
pub fn connect_heartbeats(heartbeat: &Function, release: &Function, crowded: &Function) {
    http::permit_heartbeat::connect(heartbeat, release, crowded);
}

/// See [`permit_heartbeat`](crate::http::permit_heartbeat::heartbeat).
#[wasm_bindgen]
pub fn heartbeat(env: &Env, lines: &str, checks_left: Option<u32>) -> JsValue {
    http::permit_heartbeat::heartbeat(env, lines, checks_left)
}

/// See [`permit_heartbeat`](crate::http::permit_heartbeat::release).
#[wasm_bindgen]
pub fn release(env: &Env, lines: &str) -> String {
    http::permit_heartbeat::release(env, lines)
}

/// See [`permit_heartbeat`](crate::http::permit_heartbeat::crowded).
#[wasm_bindgen]
pub fn crowded(env: &Env, lines: &str) -> bool {
    http::permit_heartbeat::crowded(env, lines)
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
