//! Asking a cap's actor from the Worker.

use super::client::trouble;
use super::name::{Region, object_name};
use super::slots_wire::{read_answer, write_question};
use crate::gate::ports::{Seat, Trouble};
use crate::gate::slots::{Answer, Keepers, Question};
use crate::limit::time::Span;
use crate::time_out::{pause, within};
use worker::{Env, Request, RequestInit};

/// The header that carries a question about slots, and its answer.
pub const SLOTS: &str = "penstock-slots";

/// The actors behind the `BUCKETS` binding that keep caps.
#[derive(Debug)]
pub struct SlotsClient {
    /// Where the binding is.
    pub env: Env,
    /// How long an answer may take.
    pub deadline: Span,
}

impl Keepers for SlotsClient {
    /// Asks once: who is not answered says the same again with its next question.
    async fn ask(&self, cap: &str, question: &Question) -> Result<Answer, Trouble> {
        let call = async {
            let stub = self
                .env
                .durable_object("BUCKETS")?
                .get_by_name(&object_name(&Seat::Shared(cap.into()), Region::default()));
            let init = RequestInit::new();
            init.headers.set(SLOTS, &write_question(question))?;
            let response = stub?.fetch_with_request(Request::new_with_init("https://actor/", &init)?).await?;
            Ok((response.status_code(), response.headers().get(SLOTS)?))
        };
        match within(self.deadline, call).await {
            None => Err(Trouble::Late),
            Some(Err(error)) => Err(trouble(error)),
            Some(Ok((200, Some(text)))) => match read_answer(&text).map_err(Trouble::Nonsense)? {
                answer if answer.slots > question.wants => Err(Trouble::Nonsense(format!("{} slots", answer.slots))),
                answer => Ok(answer),
            },
            Some(Ok((status, said))) => Err(Trouble::Nonsense(said.unwrap_or_else(|| format!("status {status}")))),
        }
    }

    async fn pause(&self, span: Span) {
        pause(span).await;
    }
}
