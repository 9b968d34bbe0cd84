//! The Durable Object: requests, alarm and storage around its two halves, rates and permits.

#![expect(missing_docs, reason = "the methods that the macro makes cannot be documented")]

use crate::actor::alarm::Alarm;
use crate::actor::failure::Failure;
use crate::actor::permits::calls::HEADER as PERMITS;
use crate::actor::permits::service::PermitService;
use crate::actor::rates::calls::{ASK, REPLY};
use crate::actor::rates::service::RateService;
use crate::limit::time::Time;
use crate::protocol::{permits_wire, rates_wire};
use crate::runtime::clock;
use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

/// The most characters of a sentence that travels in a header.
const LONGEST_PROBLEM: usize = 200;

/// One actor. It keeps state in memory, and in SQLite if the state must survive an eviction. Each
/// object uses one half only, rates or permits: its name decides which questions it gets.
#[durable_object(alarm)]
pub struct BucketActor {
    state: State,
    rates: RateService,
    permits: PermitService,
    alarm: Alarm,
}

impl DurableObject for BucketActor {
    fn new(state: State, env: Env) -> Self {
        let sql = || state.storage().sql();
        let (rates, permits) = (RateService::new(sql(), env), PermitService::new(sql()));
        BucketActor { state, rates, permits, alarm: Alarm::default() }
    }

    /// Answers the question in a header with a header.
    async fn fetch(&self, request: Request) -> Result<Response> {
        let headers = request.headers();
        if let Some(text) = headers.get(PERMITS)? {
            return match self.permits.answer(&text) {
                Ok((mut reply, work_at)) => {
                    reply.rows = reply.rows.saturating_add(self.wake_by(work_at).await?);
                    respond(PERMITS, &permits_wire::write_reply(&reply))
                }
                Err(failure) => refuse(&failure),
            };
        }
        let Some(text) = headers.get(ASK)? else {
            return refuse(&Failure { status: 400, problem: "no question".to_owned() });
        };
        match self.rates.answer(&text).await {
            Ok((mut reply, work_at)) => {
                reply.rows = reply.rows.saturating_add(self.wake_by(work_at).await?);
                respond(REPLY, &rates_wire::write_reply(&reply))
            }
            Err(failure) => refuse(&failure),
        }
    }

    /// Gives back quota tokens and permits, and deletes rows that are no longer needed.
    async fn alarm(&self) -> Result<Response> {
        self.alarm.mark_off();
        let rates = self.rates.tidy().await;
        let permits = self.permits.tidy(clock::now());
        match rates.into_iter().chain(permits).min() {
            Some(at) => {
                self.wake_by(Some(at)).await?;
            }
            None => {
                // Only `delete_all` ends the cost of an object's storage: an empty table still has
                // pages.
                self.rates.storage_deleted();
                self.permits.storage_deleted();
                // `delete_all` deletes the alarm too, even one that a request has just set.
                self.alarm.mark_off();
                self.state.storage().delete_all().await?;
            }
        }
        Response::empty()
    }
}

impl BucketActor {
    /// Makes sure that an alarm goes off at `work_at`, if there is work; returns the rows written.
    async fn wake_by(&self, work_at: Option<Time>) -> Result<u32> {
        match work_at {
            Some(at) => self.alarm.set_by(self.state.storage(), at).await,
            None => Ok(0),
        }
    }
}

fn respond(header: &str, text: &str) -> Result<Response> {
    let response = Response::empty()?;
    response.headers().set(header, text)?;
    Ok(response)
}

/// Answers with a failure. The sentence travels in both headers: the isolate reads the one that
/// belongs to its question.
fn refuse(failure: &Failure) -> Result<Response> {
    let printable = failure.problem.chars().filter(|c| (' '..='~').contains(c));
    let text: String = printable.take(LONGEST_PROBLEM).collect();
    let response = Response::empty()?.with_status(failure.status);
    response.headers().set(REPLY, &text)?;
    response.headers().set(PERMITS, &text)?;
    Ok(response)
}
