//! Work that is mostly done at once, and only else takes a promise.

use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, OnceLock};
use std::task::Wake;
use worker::js_sys::Promise;
use worker::js_sys::futures::future_to_promise;
use worker::wasm_bindgen::JsValue;
use worker::worker_sys;

/// What `work` comes to, where it comes to it without waiting for anything; else the promise of it. A promise and the turn that it
/// takes cost more than most decisions. Where the work fails it is a promise in any case, so that what is thrown from here is the
/// failure of the module alone.
pub fn now_or_later(work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> JsValue {
    let mut work = Box::pin(work);
    let first = Arc::new(First::default());
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&first)))) {
        return done.unwrap_or_else(|thrown| Promise::reject(&thrown).into());
    }
    let later = poll_fn(move |context| {
        first.task.get_or_init(|| context.waker().clone());
        work.as_mut().poll(context)
    });
    future_to_promise(later).into()
}

/// Does `work` when the request has its answer.
pub fn afterwards(context: &worker_sys::Context, work: impl Future<Output = ()> + 'static) {
    let done = future_to_promise(async {
        work.await;
        Ok(JsValue::UNDEFINED)
    });
    // It is only refused outside of a request.
    let _ = context.wait_until(&done);
}

/// Whom the first look's wakers wake: the task that there is afterwards. `worker::Delay` keeps the first waker that it is given.
#[derive(Default)]
struct First {
    task: OnceLock<Waker>,
}

impl Wake for First {
    fn wake(self: Arc<Self>) {
        // Before there is a task nobody has to be woken: it begins with another look.
        self.task.get().inspect(|task| task.wake_by_ref());
    }
}
