//! Drops a request's future once nothing can wake it any more.
//!
//! When a client leaves, the runtime ends its request's context silently: promises and timers of
//! that request never settle. Nothing in JavaScript knows the future that waits for them, so it
//! would stay in memory for ever.
//!
//! So each future has an *owner*, a JavaScript object. Only the callbacks of the promises and
//! timers that the future waits for hold it ([`promise`](crate::runtime::promise)). Once the
//! runtime has dropped those callbacks the owner is garbage, and its finalizer drops the future.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use worker::js_sys::WeakRef;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

thread_local! {
    /// The future that is being polled. `None` between polls, and for futures without an owner.
    static POLLED: RefCell<Option<Polled>> = const { RefCell::new(None) };
}

/// The future that is being polled, and its owner.
struct Polled {
    task: Rc<dyn Cancel>,
    /// `None` until the future first waits for a promise or timer.
    owner: Option<JsValue>,
}

/// A future that can be dropped before it completes.
trait Cancel {
    fn cancel(&self);
}

struct Task<F> {
    /// `None` once the future has completed or was cancelled.
    future: RefCell<Option<Pin<Box<F>>>>,
    /// Wakes the task that polls [`CancelOnGc`]. It has to run once more to end after a
    /// cancellation.
    waker: Cell<Option<Waker>>,
}

impl<F> Cancel for Task<F> {
    fn cancel(&self) {
        let future = self.future.try_borrow_mut().ok().and_then(|mut future| future.take());
        if future.is_some() {
            self.waker.take().into_iter().for_each(Waker::wake);
        }
    }
}

/// The JavaScript object that owns a future. The future is dropped with it.
#[wasm_bindgen]
pub struct Owner(Rc<dyn Cancel>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns the owner of the future that is being polled, for a callback to hold. `undefined` when
/// that future has no owner.
pub fn owner() -> JsValue {
    POLLED.with_borrow_mut(|polled| {
        let Some(Polled { task, owner }) = polled else { return JsValue::UNDEFINED };
        owner.get_or_insert_with(|| Owner(Rc::clone(task)).into()).clone()
    })
}

/// Returns a future that completes as `future` does, or with `None` when its owner is collected
/// first.
pub fn cancel_on_gc<F: Future + 'static>(future: F) -> CancelOnGc<F> {
    let task = Task { future: RefCell::new(Some(Box::pin(future))), waker: Cell::default() };
    CancelOnGc { task: Rc::new(task), owner: None }
}

/// The future that [`cancel_on_gc`] returns.
pub struct CancelOnGc<F> {
    task: Rc<Task<F>>,
    /// Weak: a strong reference would keep the owner alive for ever. `None` until `future` first
    /// waits.
    owner: Option<WeakRef>,
}

impl<F: Future + 'static> Future for CancelOnGc<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let owner = self.owner.as_ref().and_then(|owner| owner.deref());
        let inner = Polled { task: self.task.clone(), owner: owner.map(JsValue::from) };
        let outer = POLLED.replace(Some(inner));
        let result = self.task.future.borrow_mut().as_mut().map(|future| future.as_mut().poll(context));
        let inner = POLLED.replace(outer);
        match result {
            None => Poll::Ready(None),
            Some(Poll::Ready(output)) => {
                // The owner lives on until it is collected. It must not keep the future's memory.
                self.task.future.take();
                Poll::Ready(Some(output))
            }
            Some(Poll::Pending) => {
                self.task.waker.set(Some(context.waker().clone()));
                if self.owner.is_none() {
                    let owner = inner.and_then(|inner| inner.owner);
                    self.owner = owner.map(|owner| WeakRef::new(owner.unchecked_ref()));
                }
                Poll::Pending
            }
        }
    }
}
