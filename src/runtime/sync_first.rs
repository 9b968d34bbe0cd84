//! Polls work at once, and makes a promise only when the work has to wait. Most decisions do not
//! wait, and a promise with its extra turn of the event loop costs more than most of them.

use crate::runtime::cancel_on_gc::cancel_on_gc;
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, OnceLock};
use std::task::Wake;
use worker::js_sys::Promise;
use worker::js_sys::futures::spawn_local;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys;

/// Returns the value of `work` when its first poll completes it, or else a promise of the value.
///
/// An error is always a rejected promise. So an exception that leaves the module means that the
/// module itself has failed.
pub fn value_or_promise(work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> JsValue {
    let mut work = Box::pin(cancel_on_gc(work));
    let first_waker = Arc::new(FirstPollWaker::default());
    let waker = Waker::from(Arc::clone(&first_waker));
    if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
        return result
            .map_or(JsValue::UNDEFINED, |result| result.unwrap_or_else(|thrown| Promise::reject(&thrown).into()));
    }
    let rest = poll_fn(move |context| {
        first_waker.task.get_or_init(|| context.waker().clone());
        work.as_mut().poll(context)
    });
    promise_of(rest).into()
}

/// Runs `work` after the response has been sent (`waitUntil`).
pub fn after_response(context: &worker_sys::Context, work: impl Future<Output = ()> + 'static) {
    let done = promise_of(cancel_on_gc(async {
        work.await;
        Ok(JsValue::UNDEFINED)
    }));
    // The runtime rejects this only outside of a request.
    let _ = context.wait_until(&done);
}

/// Returns a promise of the result of `work`. When `work` was cancelled (`None`) the promise never
/// settles: its request is gone, and nothing waits for it.
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

/// The waker of the first poll, when there is no task yet. Passes wake-ups on to the task that runs
/// the rest of the work.
#[derive(Default)]
struct FirstPollWaker {
    task: OnceLock<Waker>,
}

impl Wake for FirstPollWaker {
    fn wake(self: Arc<Self>) {
        // Without a task there is nothing to wake: the task will begin with a poll.
        self.task.get().inspect(|task| task.wake_by_ref());
    }
}
