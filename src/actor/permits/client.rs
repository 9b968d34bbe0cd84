//! Asking a cap's actor from the Worker.

use crate::actor::call::call;
use crate::actor::name::{Region, object_name};
use crate::limit::time::Span;
use crate::protocol::permits::{PermitActors, PermitAsk, PermitReply};
use crate::protocol::permits_wire::{read_answer, write_question};
use crate::protocol::rates::{ActorKey, CallError};
use crate::runtime::promise::sleep;
use crate::runtime::timeout::with_timeout;
use worker::Env;

/// The header that carries a question about slots, and its answer.
pub const SLOTS: &str = "penstock-slots";

/// The actors behind the `BUCKETS` binding that keep caps.
#[derive(Debug)]
pub struct PermitClient {
    /// Where the binding is.
    pub env: Env,
}

impl PermitActors for PermitClient {
    /// Asks once: who is not answered says the same again with its next question.
    async fn ask(&self, cap: &str, question: &PermitAsk, patience: Span) -> Result<PermitReply, CallError> {
        let name = object_name(&ActorKey::Shared(cap.into()), Region::default());
        let asked = write_question(question);
        let call = call(&self.env, (&name, Region::default()), (SLOTS, &asked), SLOTS);
        let text = with_timeout(patience, call).await.unwrap_or(Err(CallError::Late))?;
        match read_answer(&text).map_err(CallError::Nonsense)? {
            answer if answer.is_possible(question) => Ok(answer),
            _ => Err(CallError::Nonsense("no actor says this: ".to_owned() + &text)),
        }
    }

    async fn sleep(&self, span: Span) {
        sleep(span).await;
    }
}
