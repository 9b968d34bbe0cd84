//! The isolate's side of a call to an actor of rates and quotas.

use crate::actor::call::call;
use crate::actor::name::{Region, object_name};
use crate::limit::time::Span;
use crate::protocol::rates::{ActorKey, Actors, Ask, CallError, Reply};
use crate::protocol::rates_wire;
use crate::runtime::promise::sleep;
use crate::runtime::timeout::with_timeout;
use worker::Env;
use worker::js_sys::Reflect;

/// The header that carries a question about rates and quotas.
pub const ASK: &str = "penstock-ask";
/// The header that carries its answer.
pub const REPLY: &str = "penstock-reply";

/// The actors behind the binding `BUCKETS`, for one request. Most requests ask no actor, so the
/// binding and the request's `cf` are read only for a call: reading `cf` alone costs more than a
/// decision from the lease cache.
#[derive(Debug)]
pub struct RateObjects {
    /// The Worker's environment, which has the binding.
    pub env: Env,
    /// The request, which knows its data centre.
    pub request: web_sys::Request,
}

impl Actors for RateObjects {
    async fn ask(&self, actor: &ActorKey<'_>, ask: &Ask, patience: Span) -> Result<Reply, CallError> {
        let tries = async {
            match self.once(actor, ask).await {
                // The actor may have acted on the first question. A second one can cost the caller
                // tokens, and gives none away. An overloaded actor is asked once: repeated calls
                // make outages grow.
                Err(CallError::Disconnected) => self.once(actor, &ask.repeated()).await,
                answer => answer,
            }
        };
        with_timeout(patience, tries).await.unwrap_or(Err(CallError::Late))
    }

    async fn sleep(&self, span: Span) {
        sleep(span).await;
    }
}

impl RateObjects {
    /// The same actors, for work that outlives the request.
    pub fn again(&self) -> RateObjects {
        RateObjects { env: self.env.clone(), request: Clone::clone(&self.request) }
    }

    async fn once(&self, actor: &ActorKey<'_>, ask: &Ask) -> Result<Reply, CallError> {
        let region = match actor {
            ActorKey::Ip(_) => Region::of_colo(&colo(&self.request).unwrap_or_default()),
            ActorKey::Key(_) | ActorKey::Shared(_) => Region::default(),
        };
        let name = object_name(actor, region);
        let text = call(&self.env, (&name, region), (ASK, &rates_wire::write_ask(ask)), REPLY).await?;
        rates_wire::read_reply(&text, ask.demands.len()).map_err(CallError::Nonsense)
    }
}

/// The code of the data centre that the request arrived in; `None` if the platform does not say.
/// Read as a plain property: the typed `cf` panics if a property is missing.
fn colo(request: &web_sys::Request) -> Option<String> {
    let cf = Reflect::get(request, &"cf".into()).ok()?;
    Reflect::get(&cf, &"colo".into()).ok()?.as_string()
}
