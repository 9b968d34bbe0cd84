//! Asking an actor from the Worker.

use super::name::{Region, object_name};
use super::wire;
use crate::clock;
use crate::gate::ports::{Actors, Ask, Reply, Seat, Trouble};
use crate::limit::time::Span;
use crate::time_out::{pause, within};
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;
use worker::{Error, ObjectNamespace, Request, RequestInit};

/// The header that carries a question.
pub const ASK: &str = "penstock-ask";
/// The header that carries an answer.
pub const REPLY: &str = "penstock-reply";

/// The actors behind the `BUCKETS` binding, for one request.
#[derive(Debug)]
pub struct Client {
    /// The binding.
    pub namespace: ObjectNamespace,
    /// Where the request arrived.
    pub region: Region,
    /// How long an answer may take, a second try included.
    pub deadline: Span,
}

impl Actors for Client {
    async fn ask(&self, seat: &Seat<'_>, ask: &Ask) -> Result<Reply, Trouble> {
        let begun = clock::now();
        match self.once(seat, ask, self.deadline).await {
            // The way broke. The question may have been answered all the same, so a second one can cost the caller a
            // token, never give one away. An overloaded actor is never asked twice: that is how outages grow.
            Err(Trouble::Disconnected) => {
                let rest = self.deadline.over(clock::now().since(begun));
                self.once(seat, &ask.repeated(), rest).await
            }
            answer => answer,
        }
    }

    async fn pause(&self, span: Span) {
        pause(span).await;
    }
}

impl Client {
    async fn once(&self, seat: &Seat<'_>, ask: &Ask, patience: Span) -> Result<Reply, Trouble> {
        let name = object_name(seat, self.region);
        // A stub is broken after an exception, so each try takes a new one.
        let stub = match (seat, self.region.hint()) {
            (Seat::Ip(_), Some(hint)) => self.namespace.get_by_name_with_location_hint(&name, hint),
            _ => self.namespace.get_by_name(&name),
        };
        let call = async {
            let init = RequestInit::new();
            init.headers.set(ASK, &wire::write_ask(ask))?;
            let request = Request::new_with_init("https://actor/", &init)?;
            let response = stub?.fetch_with_request(request).await?;
            Ok((response.status_code(), response.headers().get(REPLY)?))
        };
        match within(patience, call).await {
            None => Err(Trouble::Late),
            Some(Err(error)) => Err(trouble(error)),
            Some(Ok((200, Some(text)))) => wire::read_reply(&text, ask.demands.len()).map_err(Trouble::Nonsense),
            Some(Ok((status, said))) => Err(Trouble::Nonsense(said.unwrap_or_else(|| format!("status {status}")))),
        }
    }
}

/// Tells errors apart by the flags that the platform sets on the exception.
pub fn trouble(error: Error) -> Trouble {
    let text = error.to_string();
    let thrown = JsValue::from(error);
    let flag =
        |name: &str| thrown.is_object() && Reflect::get(&thrown, &name.into()).is_ok_and(|value| value.is_truthy());
    if flag("overloaded") {
        Trouble::Overloaded
    } else if flag("retryable") {
        Trouble::Disconnected
    } else {
        Trouble::Failed(text)
    }
}
