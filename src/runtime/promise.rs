//! What is waited for: a promise, or a while. Unlike `JsFuture` it leaves nothing behind when it is dropped, though its promise should never
//! be settled, as the runtime's are not once their request's client has left.

use crate::limit::time::Span;
use crate::runtime::cancel_on_gc::owner;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::cell::RefCell;
use std::rc::Rc;
use worker::js_sys::Promise;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsValue, closure::Closure};

type Tell = Closure<dyn FnMut(bool, JsValue)>;

mod js {
    use super::{JsValue, Promise, Tell, wasm_bindgen};

    #[wasm_bindgen(module = "/src/runtime/promise.js")]
    extern "C" {
        pub fn hear(promise: Promise, owner: &JsValue, tell: &Tell) -> JsValue;
        pub fn ring(ms: f64, owner: &JsValue, tell: &Tell) -> JsValue;
        pub fn forget(ear: &JsValue);
    }
}

/// What a promise comes to, as [`hear`] gives it.
pub struct PromiseFuture {
    said: Rc<RefCell<Said>>,
    ear: JsValue,
    _tell: Tell,
}

enum Said {
    Nothing(Option<Waker>),
    This(Result<JsValue, JsValue>),
}

/// What `promise` comes to. Nobody may hold it meanwhile: it holds the owner.
pub fn future_of(promise: Promise) -> PromiseFuture {
    PromiseFuture::new(|owner, tell| js::hear(promise, owner, tell))
}

/// Waits for as long as `span`.
pub async fn sleep(span: Span) {
    let ms = span.as_nanos() as f64 / 1e6;
    let _ = PromiseFuture::new(|owner, tell| js::ring(ms, owner, tell)).await;
}

impl PromiseFuture {
    fn new(ear: impl FnOnce(&JsValue, &Tell) -> JsValue) -> PromiseFuture {
        let said = Rc::new(RefCell::new(Said::Nothing(None)));
        let hearer = Rc::clone(&said);
        let tell = Closure::new(move |well, value| {
            let this = Said::This(if well { Ok(value) } else { Err(value) });
            if let Said::Nothing(Some(waker)) = hearer.replace(this) {
                waker.wake();
            }
        });
        PromiseFuture { ear: ear(&owner(), &tell), said, _tell: tell }
    }
}

impl Future for PromiseFuture {
    type Output = Result<JsValue, JsValue>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waiting = Said::Nothing(Some(context.waker().clone()));
        match self.said.replace(waiting) {
            Said::Nothing(_) => Poll::Pending,
            Said::This(answer) => Poll::Ready(answer),
        }
    }
}

impl Drop for PromiseFuture {
    fn drop(&mut self) {
        js::forget(&self.ear);
    }
}
