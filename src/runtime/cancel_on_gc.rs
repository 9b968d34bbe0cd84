//! Work that is dropped when nothing can go on with it any more.
//!
//! When a client leaves, the runtime ends its request's context without a word: what its work waits for never comes. Nobody would drop
//! that work then, for nothing in JavaScript knows of it. So work has an *owner* there, an object that is held by all that it waits for
//! ([`hear`](crate::runtime::promise)), and by nothing else: once that is gone the owner is garbage, and its finalizer drops the work.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use worker::js_sys::WeakRef;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Whose turn it is.
struct Current {
    work: Rc<dyn Cancel>,
    /// Its owner, once there is something to wait for.
    owner: Option<JsValue>,
}

/// What can be dropped before its time.
trait Cancel {
    fn cancel(&self);
}

struct Task<F> {
    work: RefCell<Option<Pin<Box<F>>>>,
    /// Of the task that waits for it, which is not dropped before it is done.
    waker: Cell<Option<Waker>>,
}

impl<F> Cancel for Task<F> {
    fn cancel(&self) {
        let work = self.work.try_borrow_mut().ok().and_then(|mut work| work.take());
        if work.is_some() {
            self.waker.take().into_iter().for_each(Waker::wake);
        }
    }
}

/// What JavaScript holds of work; that goes with it.
#[wasm_bindgen]
pub struct Owner(Rc<dyn Cancel>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The owner of the work whose turn it is, for what that waits for to hold; `undefined` for work that has none.
pub fn owner() -> JsValue {
    CURRENT.with_borrow_mut(|current| {
        let Some(Current { work, owner }) = current else { return JsValue::UNDEFINED };
        owner.get_or_insert_with(|| Owner(Rc::clone(work)).into()).clone()
    })
}

/// What `work` comes to; `None` where its owner goes first.
pub fn cancel_on_gc<F: Future + 'static>(work: F) -> CancelOnGc<F> {
    let held = Task { work: RefCell::new(Some(Box::pin(work))), waker: Cell::default() };
    CancelOnGc { held: Rc::new(held), owner: None }
}

/// As [`cancel_on_gc`] gives it.
pub struct CancelOnGc<F> {
    held: Rc<Task<F>>,
    /// Not held, or it would never go.
    owner: Option<WeakRef>,
}

impl<F: Future + 'static> Future for CancelOnGc<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let known = self.owner.as_ref().and_then(|owner| owner.deref());
        let current = Current { work: self.held.clone(), owner: known.map(JsValue::from) };
        let outer = CURRENT.replace(Some(current));
        let polled = self.held.work.borrow_mut().as_mut().map(|work| work.as_mut().poll(context));
        let current = CURRENT.replace(outer);
        match polled {
            None => Poll::Ready(None),
            Some(Poll::Ready(done)) => {
                // The owner is there for a while yet, and needs nothing of it.
                self.held.work.take();
                Poll::Ready(Some(done))
            }
            Some(Poll::Pending) => {
                self.held.waker.set(Some(context.waker().clone()));
                if self.owner.is_none() {
                    let owner = current.and_then(|current| current.owner);
                    self.owner = owner.map(|owner| WeakRef::new(owner.unchecked_ref()));
                }
                Poll::Pending
            }
        }
    }
}
