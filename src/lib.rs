//! Penstock is the gate that lets a measured flow through: a Worker that stands in front of an origin and decides, at
//! the edge, whether a request may go on.
//!
//! A request passes through the modules in this order:
//!
//! - [`policy`]: what the vars say, validated; and which binding a request's route matches
//! - [`identity`]: who is asking, as digests
//! - [`gate`]: which limits the request meets, asked one after the other, and the verdict
//! - [`actor`]: the Durable Object that holds the buckets; [`ledger`]: the daily quotas in D1
//! - [`http`]: forwarding, and refusing
//!
//! [`limit`] is the arithmetic under all of them. `limit`, `policy`, `identity` and `gate` are pure: they know
//! nothing of Workers, and are told what time it is.

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

/// Answers a request: with a `Response` or what stands for one, or the promise of it; see `entry.js`. Not `worker`'s event, which makes a
/// promise of every answer.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, env: Env, context: worker_sys::Context) -> JsValue {
    value_or_promise(runtime::clock::read_once_per_poll(http::serve::serve(request, env, context)))
}

/// Answers a request that has gone on to the origin, where something was `thrown`; or one that an instance has left without an answer by
/// failing, where nothing was.
#[wasm_bindgen]
pub fn unanswered(request: &web_sys::Request, env: &Env, thrown: &JsValue) -> JsValue {
    http::serve::answer_for_the_origin(request, env, thrown)
        .map_or_else(|thrown| Promise::reject(&thrown).into(), JsValue::from)
}

/// Says how `entry.js` calls the two that follow: in whichever instance is there.
#[wasm_bindgen]
pub fn drive(beat: &Function, leave: &Function) {
    http::permit_heartbeat::drive(beat, leave);
}

/// See [`http::permit_heartbeat::heartbeat`].
#[wasm_bindgen]
pub fn beat(env: &Env, lines: &str, looks: Option<u32>) -> JsValue {
    http::permit_heartbeat::heartbeat(env, lines, looks)
}

/// See [`http::permit_heartbeat::release`].
#[wasm_bindgen]
pub fn leave(env: &Env, lines: &str) -> String {
    http::permit_heartbeat::release(env, lines)
}

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
