//! The isolate's side of a call to a cap's actor.

use crate::actor::call::call;
use crate::actor::name::{Region, object_name};
use crate::limit::time::Span;
use crate::protocol::permits::{PermitActors, PermitAsk, PermitReply};
use crate::protocol::permits_wire::{read_reply, write_ask};
use crate::protocol::rates::{ActorKey, CallError};
use crate::runtime::promise::sleep;
use crate::runtime::timeout::with_timeout;
use worker::Env;

/// The header that carries a question about permits, and the one that carries its answer.
pub const HEADER: &str = "penstock-slots";

/// The actors of caps, behind the binding `BUCKETS`.
#[derive(Debug)]
pub struct PermitObjects {
    /// The Worker's environment, which has the binding.
    pub env: Env,
}

impl PermitActors for PermitObjects {
    /// Asks once. A holder whose question is lost states its whole need again with its next one.
    async fn ask(&self, cap: &str, ask: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        let name = object_name(&ActorKey::Shared(cap.into()), Region::default());
        let asked = write_ask(ask);
        let call = call(&self.env, (&name, Region::default()), (HEADER, &asked), HEADER);
        let text = with_timeout(patience, call).await.unwrap_or(Err(CallError::Late))?;
        match read_reply(&text).map_err(CallError::Nonsense)? {
            reply if reply.is_possible(ask) => Ok(reply),
            _ => Err(CallError::Nonsense("no actor says this: ".to_owned() + &text)),
        }
    }

    async fn sleep(&self, span: Span) {
        sleep(span).await;
    }
}
