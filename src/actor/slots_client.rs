//! Asking a cap's actor from the Worker.

use super::call::call;
use super::name::{Region, object_name};
use super::slots_wire::{read_answer, write_question};
use crate::gate::ports::{Seat, Trouble};
use crate::gate::slots::{Answer, Keepers, Question};
use crate::hear::pause;
use crate::limit::time::Span;
use crate::time_out::within;
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
