//! One call to an object, from the isolate's side: a question in a header, an answer in another.

use crate::actor::name::Region;
use crate::protocol::rates::CallError;
use crate::runtime::promise::future_of;
use worker::Env;
use worker::js_sys::{Error, Promise, Reflect};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{JsCast, JsValue};

mod js {
    use super::{JsValue, Promise, wasm_bindgen};

    #[wasm_bindgen(module = "/src/actor/call.js")]
    extern "C" {
        pub fn call(
            namespace: &JsValue,
            name: &str,
            hint: Option<&str>,
            header: &str,
            question: &str,
            answer: &str,
        ) -> Promise;
    }
}

/// Asks the object called `name` of the binding `BUCKETS`. Sends `question` in the header `ask`,
/// and returns the text of the answer's header `reply`. A new object is created near `region`.
///
/// # Errors
/// [`CallError`], if the object throws, or answers with another status than 200.
pub async fn call(
    env: &Env,
    (name, region): (&str, Region),
    (ask, question): (&str, &str),
    reply: &str,
) -> Result<String, CallError> {
    let namespace = Reflect::get(env, &"BUCKETS".into()).map_err(|thrown| call_error(&thrown))?;
    let answer = future_of(js::call(&namespace, name, region.hint(), ask, question, reply)).await;
    let answer = answer.map_err(|thrown| call_error(&thrown))?.as_string().unwrap_or_default();
    match answer.split_once('\n') {
        Some(("200", text)) => Ok(text.to_owned()),
        Some((status, "")) => Err(CallError::Nonsense(["status ", status].concat())),
        Some((_, said)) => Err(CallError::Nonsense(said.to_owned())),
        None => Err(CallError::Nonsense("no status".to_owned())),
    }
}

/// Reads the kind of an error from the flags that the platform sets on the exception.
pub fn call_error(thrown: &JsValue) -> CallError {
    let flag =
        |name: &str| thrown.is_object() && Reflect::get(thrown, &name.into()).is_ok_and(|value| value.is_truthy());
    if flag("overloaded") {
        CallError::Overloaded
    } else if flag("retryable") {
        CallError::Disconnected
    } else {
        let message = thrown.dyn_ref::<Error>().map(|error| String::from(error.message()));
        CallError::Failed(
            message.or_else(|| thrown.as_string()).unwrap_or_else(|| "it threw what is no error".to_owned()),
        )
    }
}
