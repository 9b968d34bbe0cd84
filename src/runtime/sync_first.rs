//! Work that is mostly done at once, and only else takes a promise.

use crate::runtime::cancel_on_gc::cancel_on_gc;
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, OnceLock};
use std::task::Wake;
use worker::js_sys::Promise;
use worker::js_sys::futures::spawn_local;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys;

/// What `work` comes to, where it comes to it without waiting for anything; else the promise of it. A promise and the turn that it
/// takes cost more than most decisions. Where the work fails it is a promise in any case, so that what is thrown from here is the
/// failure of the module alone.
pub fn value_or_promise(work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> JsValue {
    let mut work = Box::pin(cancel_on_gc(work));
    let first = Arc::new(FirstPollWaker::default());
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&first)))) {
        return done.map_or(JsValue::UNDEFINED, |done| done.unwrap_or_else(|thrown| Promise::reject(&thrown).into()));
    }
    let later = poll_fn(move |context| {
        first.task.get_or_init(|| context.waker().clone());
        work.as_mut().poll(context)
    });
    promise_of(later).into()
}

/// Does `work` when the request has its answer.
pub fn after_response(context: &worker_sys::Context, work: impl Future<Output = ()> + 'static) {
    let done = promise_of(cancel_on_gc(async {
        work.await;
        Ok(JsValue::UNDEFINED)
    }));
    // It is only refused outside of a request.
    let _ = context.wait_until(&done);
}

/// The promise of what `work` comes to; where it comes to nothing there is nobody left to hear it.
fn promise_of(work: impl Future<Output = Option<Result<JsValue, JsValue>>> + 'static) -> Promise {
    let mut work = Some(work);
    Promise::new(&mut |resolve, reject| {
        let Some(work) = work.take() else { return };
        spawn_local(async move {
            let _ = match work.await {
                Some(Ok(value)) => resolve.call1(&JsValue::UNDEFINED, &value),
                Some(Err(thrown)) => reject.call1(&JsValue::UNDEFINED, &thrown),
                None => Ok(JsValue::UNDEFINED),
            };
        });
    })
}

/// Whom the first look's wakers wake: the task that there is afterwards.
#[derive(Default)]
struct FirstPollWaker {
    task: OnceLock<Waker>,
}

impl Wake for FirstPollWaker {
    fn wake(self: Arc<Self>) {
        // Before there is a task nobody has to be woken: it begins with another look.
        self.task.get().inspect(|task| task.wake_by_ref());
    }
}
