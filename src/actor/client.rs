//! Asking an actor from the Worker.

use super::name::{Region, object_name};
use super::wire;
use crate::gate::ports::{Actors, Ask, Reply, Seat, Trouble};
use crate::limit::time::Span;
use crate::time_out::{pause, within};
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;
use worker::{Env, Error, Request, RequestInit};

/// The header that carries a question.
pub const ASK: &str = "penstock-ask";
/// The header that carries an answer.
pub const REPLY: &str = "penstock-reply";

/// The actors behind the `BUCKETS` binding, for one request. Most requests ask none of them, so the binding and the request's
/// `cf` are looked at only when one is asked: reading `cf` alone costs more than a decision from the wallet.
#[derive(Debug)]
pub struct Client {
    /// Where the binding is.
    pub env: Env,
    /// The request, which knows where it arrived.
    pub request: web_sys::Request,
}

impl Actors for Client {
    async fn ask(&self, seat: &Seat<'_>, ask: &Ask, patience: Span) -> Result<Reply, Trouble> {
        let tries = async {
            match self.once(seat, ask).await {
                // The way broke. The question may have been answered all the same, so a second one can cost the caller a
                // token, never give one away. An overloaded actor is never asked twice: that is how outages grow.
                Err(Trouble::Disconnected) => self.once(seat, &ask.repeated()).await,
                answer => answer,
            }
        };
        within(patience, tries).await.unwrap_or(Err(Trouble::Late))
    }

    async fn pause(&self, span: Span) {
        pause(span).await;
    }
}

impl Client {
    /// The same, for work that outlives the request.
    pub fn again(&self) -> Client {
        Client { env: self.env.clone(), request: Clone::clone(&self.request) }
    }

    async fn once(&self, seat: &Seat<'_>, ask: &Ask) -> Result<Reply, Trouble> {
        let region = match seat {
            Seat::Ip(_) => Region::of_colo(&colo(&self.request).unwrap_or_default()),
            Seat::Key(_) | Seat::Shared(_) => Region::default(),
        };
        let name = object_name(seat, region);
        match self.call(&name, region, ask).await {
            Err(error) => Err(trouble(error)),
            Ok((200, Some(text))) => wire::read_reply(&text, ask.demands.len()).map_err(Trouble::Nonsense),
            Ok((status, said)) => Err(Trouble::Nonsense(said.unwrap_or_else(|| format!("status {status}")))),
        }
    }

    async fn call(&self, name: &str, region: Region, ask: &Ask) -> worker::Result<(u16, Option<String>)> {
        let namespace = self.env.durable_object("BUCKETS")?;
        // A stub is broken after an exception, so each try takes a new one.
        let stub = match region.hint() {
            Some(hint) => namespace.get_by_name_with_location_hint(name, hint),
            None => namespace.get_by_name(name),
        };
        let init = RequestInit::new();
        init.headers.set(ASK, &wire::write_ask(ask))?;
        let request = Request::new_with_init("https://actor/", &init)?;
        let response = stub?.fetch_with_request(request).await?;
        Ok((response.status_code(), response.headers().get(REPLY)?))
    }
}

/// The code of the data centre that the request arrived in. Not read through the typed `cf`, which panics where a
/// property is missing.
fn colo(request: &web_sys::Request) -> Option<String> {
    let cf = Reflect::get(request, &"cf".into()).ok()?;
    Reflect::get(&cf, &"colo".into()).ok()?.as_string()
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
