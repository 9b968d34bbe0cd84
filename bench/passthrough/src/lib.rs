//! The two Workers that bound what is possible in Rust: one passes every request on to `ORIGIN` and returns the answer as
//! it is; where no `ORIGIN` is set, it answers a constant 429, header for header as long as Penstock's own.

use std::cell::OnceCell;
use web_sys::{Request, RequestInit, Response, ResponseInit, WorkerGlobalScope};
use worker::js_sys::global;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::{Context, Env, event};

thread_local! {
    static ORIGIN: OnceCell<Option<String>> = const { OnceCell::new() };
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    let origin = ORIGIN.with(|origin| origin.get_or_init(|| env.var("ORIGIN").ok().map(|var| var.to_string())).clone());
    Ok(match origin {
        Some(origin) => pass(&request, &origin).await?,
        None => refuse()?,
    })
}

async fn pass(request: &Request, origin: &str) -> Result<Response, JsValue> {
    let url = request.url();
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    // A Request serves as the init of another, and brings all that it has.
    let init: &RequestInit = request.unchecked_ref();
    let outgoing = Request::new_with_str_and_init(&format!("{origin}/{path}"), init)?;
    let scope: WorkerGlobalScope = global().unchecked_into();
    JsFuture::from(scope.fetch_with_request(&outgoing)).await?.dyn_into()
}

const HEADERS: [(&str, &str); 7] = [
    ("Content-Type", "application/problem+json"),
    ("Cache-Control", "no-store"),
    ("Vary", "Accept, Accept-Language, Origin"),
    ("Retry-After", "3600"),
    ("RateLimit-Policy", "\"base/ip\";q=1;w=3600"),
    ("RateLimit", "\"base/ip\";r=0;t=3600"),
    ("Penstock-Request-Id", "3fa1c09be27d4856"),
];

fn refuse() -> Result<Response, JsValue> {
    let init = ResponseInit::new();
    init.set_status(429);
    let response = Response::new_with_opt_str_and_init(Some(include_str!("refusal.json")), &init)?;
    for (name, value) in HEADERS {
        response.headers().set(name, value)?;
    }
    Ok(response)
}
