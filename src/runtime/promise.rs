//! A future for a JavaScript promise or timer. Unlike `JsFuture` it leaves nothing behind when it
//! is dropped, even when its promise never settles. That happens: the runtime never settles the
//! promises of a request whose client has left.

use crate::limit::time::Span;
use crate::runtime::cancel_on_gc::owner;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::cell::RefCell;
use std::rc::Rc;
use worker::js_sys::Promise;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsValue, closure::Closure};

/// A callback that takes whether the promise was fulfilled, and its value or error.
type OnSettled = Closure<dyn FnMut(bool, JsValue)>;

mod js {
    use super::{JsValue, OnSettled, Promise, wasm_bindgen};

    #[wasm_bindgen(module = "/src/runtime/promise.js")]
    extern "C" {
        pub fn subscribe(promise: Promise, owner: &JsValue, on_settled: &OnSettled) -> JsValue;
        #[wasm_bindgen(js_name = startTimer)]
        pub fn start_timer(ms: f64, owner: &JsValue, on_settled: &OnSettled) -> JsValue;
        pub fn unsubscribe(subscription: &JsValue);
    }
}

/// The future of a promise or timer.
pub struct PromiseFuture {
    state: Rc<RefCell<PromiseState>>,
    /// The subscription of `promise.js`, ended when this is dropped.
    subscription: JsValue,
    /// Kept alive for JavaScript to call.
    _on_settled: OnSettled,
}

enum PromiseState {
    /// Not settled. Holds the waker of the task that waits, once it was polled.
    Pending(Option<Waker>),
    Settled(Result<JsValue, JsValue>),
}

/// Returns the future of `promise`. The caller must not keep the promise: its callbacks hold the
/// owner, and the owner must become garbage when the client leaves.
pub fn future_of(promise: Promise) -> PromiseFuture {
    PromiseFuture::new(|owner, on_settled| js::subscribe(promise, owner, on_settled))
}

/// Waits for `span`.
pub async fn sleep(span: Span) {
    let ms = span.as_nanos() as f64 / 1e6;
    let _ = PromiseFuture::new(|owner, on_settled| js::start_timer(ms, owner, on_settled)).await;
}

impl PromiseFuture {
    fn new(subscribe: impl FnOnce(&JsValue, &OnSettled) -> JsValue) -> PromiseFuture {
        let state = Rc::new(RefCell::new(PromiseState::Pending(None)));
        let shared = Rc::clone(&state);
        let on_settled = Closure::new(move |is_fulfilled, value| {
            let settled = PromiseState::Settled(if is_fulfilled { Ok(value) } else { Err(value) });
            if let PromiseState::Pending(Some(waker)) = shared.replace(settled) {
                waker.wake();
            }
        });
        PromiseFuture { subscription: subscribe(&owner(), &on_settled), state, _on_settled: on_settled }
    }
}

impl Future for PromiseFuture {
    type Output = Result<JsValue, JsValue>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let pending = PromiseState::Pending(Some(context.waker().clone()));
        match self.state.replace(pending) {
            PromiseState::Pending(_) => Poll::Pending,
            PromiseState::Settled(result) => Poll::Ready(result),
        }
    }
}

impl Drop for PromiseFuture {
    fn drop(&mut self) {
        js::unsubscribe(&self.subscription);
    }
}
