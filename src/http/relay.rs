//! A WebSocket between a client and the origin, message by message, where it matters when it ends: one that is passed through as it is
//! ends without anybody being told.

use super::capacity::End;
use web_sys::{Headers, Response, ResponseInit};
use worker::js_sys::{Array, Function, Object, Promise, Reflect, global};
use worker::wasm_bindgen::closure::Closure;
use worker::wasm_bindgen::{JsCast, JsValue};

/// A listener, kept alive for as long as it may be called.
pub type Handler = Closure<dyn FnMut(JsValue)>;

/// Close codes that no endpoint may send (RFC 6455 §7.4.1): they say that there was none, or that the connection was lost.
const UNSENDABLE: [f64; 3] = [1005.0, 1006.0, 1015.0];

/// What the other side is told where the connection was lost.
const GOING_AWAY: u16 = 1001;

/// The socket of an answer that switches protocols.
pub fn socket(response: &Response) -> Option<Object> {
    if response.status() != 101 {
        return None;
    }
    Reflect::get(response, &"webSocket".into()).ok()?.dyn_into().ok()
}

/// The answer to the client in the place of `response`, whose `origin` socket is relayed to it from now on; and when that ends.
///
/// # Errors
/// The runtime's, should it not make a pair of sockets.
pub fn relay(response: &Response, origin: &Object) -> Result<(Response, End), JsValue> {
    let class: Function = Reflect::get(&global(), &"WebSocketPair".into())?.dyn_into()?;
    let pair = Reflect::construct(&class, &Array::new())?;
    let client = Reflect::get(&pair, &"0".into())?;
    let server: Object = Reflect::get(&pair, &"1".into())?.dyn_into()?;
    let mut handlers = Vec::new();
    let mut problem = Ok(());
    let promise = Promise::new(&mut |resolve, _| {
        problem = join(&server, origin, &resolve, &mut handlers)
            .and_then(|()| join(origin, &server, &resolve, &mut handlers));
    });
    problem?;
    for socket in [&server, origin] {
        Reflect::set(socket, &"binaryType".into(), &"arraybuffer".into())?;
        call(socket, "accept", &Array::new())?;
    }
    let init = ResponseInit::new();
    init.set_status(101);
    init.set_headers(&headers(response)?.into());
    Reflect::set(&init, &"webSocket".into(), &client)?;
    Ok((Response::new_with_opt_str_and_init(None, &init)?, End { promise, handlers }))
}

/// What the origin said, but for what the runtime agrees on with each side by itself.
fn headers(response: &Response) -> Result<Headers, JsValue> {
    let headers = Headers::new_with_headers(&response.headers())?;
    for name in ["sec-websocket-accept", "sec-websocket-extensions", "connection", "upgrade"] {
        headers.delete(name)?;
    }
    Ok(headers)
}

/// Passes on to `to` what `from` says, its end included, which is also the relay's.
fn join(from: &Object, to: &Object, ended: &Function, handlers: &mut Vec<Handler>) -> Result<(), JsValue> {
    let to_send = to.clone();
    listen(from, "message", handlers, move |event| {
        // What cannot be sent any more is for nobody.
        let _ = Reflect::get(&event, &"data".into()).and_then(|data| call(&to_send, "send", &Array::of1(&data)));
    })?;
    let (to_close, resolve) = (to.clone(), ended.clone());
    listen(from, "close", handlers, move |event| {
        let member = |name: &str| Reflect::get(&event, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let arguments = match member("code").as_f64() {
            Some(1005.0) | None => Array::new(),
            Some(code) if UNSENDABLE.contains(&code) => Array::of1(&GOING_AWAY.into()),
            Some(code) => Array::of2(&code.into(), &member("reason")),
        };
        let _ = call(&to_close, "close", &arguments);
        let _ = resolve.call0(&JsValue::UNDEFINED);
    })?;
    let (to_close, resolve) = (to.clone(), ended.clone());
    listen(from, "error", handlers, move |_| {
        let _ = call(&to_close, "close", &Array::of1(&GOING_AWAY.into()));
        let _ = resolve.call0(&JsValue::UNDEFINED);
    })
}

fn listen(
    socket: &Object,
    event: &str,
    handlers: &mut Vec<Handler>,
    handler: impl FnMut(JsValue) + 'static,
) -> Result<(), JsValue> {
    let handler = Handler::new(handler);
    call(socket, "addEventListener", &Array::of2(&event.into(), handler.as_ref()))?;
    handlers.push(handler);
    Ok(())
}

fn call(object: &Object, method: &str, arguments: &Array) -> Result<JsValue, JsValue> {
    let method: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    Reflect::apply(&method, object, arguments)
}
