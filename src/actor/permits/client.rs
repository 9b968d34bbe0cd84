//! Asking a cap's actor from the Worker.

use crate::actor::call::call;
use crate::actor::name::{Region, object_name};
use crate::limit::time::Span;
use crate::protocol::permits::{Answer, Keepers, Question};
use crate::protocol::permits_wire::{read_answer, write_question};
use crate::protocol::rates::{Seat, Trouble};
use crate::runtime::promise::pause;
use crate::runtime::timeout::within;
use worker::Env;

/// The header that carries a question about slots, and its answer.
pub const SLOTS: &str = "penstock-slots";

/// The actors behind the `BUCKETS` binding that keep caps.
#[derive(Debug)]
pub struct SlotsClient {
    /// Where the binding is.
    pub env: Env,
}

impl Keepers for SlotsClient {
    /// Asks once: who is not answered says the same again with its next question.
    async fn ask(&self, cap: &str, question: &Question, patience: Span) -> Result<Answer, Trouble> {
        let name = object_name(&Seat::Shared(cap.into()), Region::default());
        let asked = write_question(question);
        let call = call(&self.env, (&name, Region::default()), (SLOTS, &asked), SLOTS);
        let text = within(patience, call).await.unwrap_or(Err(Trouble::Late))?;
        match read_answer(&text).map_err(Trouble::Nonsense)? {
            answer if answer.is_possible(question) => Ok(answer),
            _ => Err(Trouble::Nonsense("no actor says this: ".to_owned() + &text)),
        }
    }

    async fn pause(&self, span: Span) {
        pause(span).await;
    }
}
