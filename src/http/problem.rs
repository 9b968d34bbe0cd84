//! The facts about an answer that Penstock makes itself, in the members of RFC 9457 problem details
//! and of draft-ietf-httpapi-ratelimit-headers-11. [`answer`](crate::http::answer) puts them into
//! the format that the client reads.

use crate::gate::decision::{CapRefusal, Reason, Refusal};
use crate::http::negotiate::Recipient;
use crate::http::problem_detail;
use crate::http::problem_kind::ProblemKind;
use crate::http::rate_headers::{Header, RateHeaders};
use crate::limit::calendar::Zone;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Cap, Limit, OperatorMessage, Scope};
use serde::Serialize;

/// A problem that a request met, and everything that its client is told about it.
#[derive(Clone, Debug)]
pub struct Problem<'p> {
    /// The cause.
    pub kind: ProblemKind,
    /// The limit that refused the request. `None` when a cap or something else is the cause.
    pub limit: Option<&'p Limit>,
    /// The cap that refused the request. `None` when a limit or something else is the cause.
    pub cap: Option<&'p Cap>,
    /// Seconds until another attempt is useful, at least 1. `None` when waiting is known not to
    /// help, or when Penstock cannot tell how long the trouble lasts.
    pub retry_after: Option<u64>,
    /// The same moment as an instant (RFC 3339). Only refusals by limits and caps have one.
    pub retry_at: Option<String>,
    /// The zone at whose midnight `retry_at` lies. `None` unless the client has to wait for a
    /// quota's next day.
    pub midnight: Option<&'p Zone>,
    /// An explanation in one or two English sentences.
    pub detail: String,
    /// The operator's own message and link, from the binding.
    pub operator: OperatorMessage<'p>,
    /// The header fields that every format has.
    pub headers: Vec<Header>,
}

/// The JSON form. The order of the fields is the order of the members.
#[derive(Serialize)]
struct ProblemBody<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<&'a str>,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    docs: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    support: Option<&'a str>,
    request_id: &'a str,
    #[serde(rename = "violated-policies", skip_serializing_if = "Option::is_none")]
    violated: Option<[&'a str; 1]>,
    error: ErrorMember<'a>,
}

/// The member `error`. Clients of large APIs look for it, and would otherwise take a refusal for
/// the answer that they asked for.
#[derive(Serialize)]
struct ErrorMember<'a> {
    message: &'a str,
    r#type: &'static str,
    code: &'a str,
}

/// A problem that is not a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The configuration has faults.
    Misconfigured,
    /// The origin leads back to this Worker.
    Loop,
    /// The origin did not answer.
    OriginUnreachable,
    /// The origin did not answer within `timeout`.
    OriginTimeout,
    /// The client brought nothing of the request's body for `upload`.
    UploadTimeout,
    /// Penstock itself failed.
    Unforeseen,
}

impl<'p> Problem<'p> {
    /// Returns the problem of a request that `refusal` refuses. `told` holds all limits that the
    /// request met, and the time.
    pub fn refusal(refusal: &Refusal<'p>, operator: OperatorMessage<'p>, told: &RateHeaders<'_, 'p>) -> Problem<'p> {
        let limit = refusal.limit;
        let retry_after = refusal.wait.retry_after_secs();
        let retry_at = retry_at(refusal, told.now);
        let detail = problem_detail::limit_refused(refusal, retry_after, &retry_at);
        let mut problem = Problem::new(ProblemKind::Limit(refusal.reason), detail, operator);
        problem.limit = Some(limit);
        problem.set_retry_after(retry_after);
        problem.retry_at = Some(retry_at);
        problem.midnight = refusal.until.and(zone(limit));
        // A limit that could not be checked has no known state.
        let left = (refusal.reason != Reason::LimiterUnavailable).then_some(refusal.left);
        problem.headers.extend(told.refused(limit, left, retry_after));
        problem
    }

    /// Returns the problem of a client whose address is on a `BLOCK` list. It has no `Retry-After`,
    /// since waiting does not help.
    pub fn blocked(operator: OperatorMessage<'p>) -> Problem<'p> {
        Problem::new(ProblemKind::Blocked, "Requests from this address are not accepted here.".to_owned(), operator)
    }

    /// Returns the problem of a request that met `failure`.
    pub fn failure(failure: Failure) -> Problem<'static> {
        let (kind, detail) = match failure {
            Failure::Misconfigured => {
                (ProblemKind::Misconfigured, "The rate limiter's configuration has faults; its log names them.")
            }
            Failure::Loop => {
                (ProblemKind::Misconfigured, "The rate limiter forwards to itself; ORIGIN must be another host.")
            }
            Failure::OriginUnreachable => (ProblemKind::OriginUnreachable, "The origin did not answer."),
            Failure::OriginTimeout => (ProblemKind::OriginTimeout, "The origin did not answer in time."),
            Failure::UploadTimeout => (ProblemKind::UploadTimeout, "The request's body did not arrive in time."),
            Failure::Unforeseen => (
                ProblemKind::Limit(Reason::LimiterUnavailable),
                "The rate limiter failed while it worked on this request.",
            ),
        };
        let mut problem = Problem::new(kind, detail.to_owned(), OperatorMessage::default());
        if failure == Failure::Unforeseen {
            problem.set_retry_after(1);
        }
        problem
    }

    /// Returns the problem of a request that a cap refuses. `told` holds all limits that the
    /// request met, and the time.
    pub fn cap_refused(refusal: &CapRefusal<'p>, told: &RateHeaders<'_, 'p>) -> Problem<'p> {
        let wait = refusal.wait.as_secs_up();
        let kind = match refusal.reason {
            Reason::LimiterUnavailable => ProblemKind::Limit(refusal.reason),
            _ => ProblemKind::Full,
        };
        let mut problem = Problem::new(kind, problem_detail::cap_refused(refusal), refusal.binding.operator_message());
        problem.cap = Some(refusal.cap);
        problem.set_retry_after(wait);
        problem.retry_at = Some(Zone::utc().rfc3339(whole_second(told.now.plus(Span::from_secs(wait)))));
        if kind == ProblemKind::Full {
            problem.headers.extend(told.full(refusal.cap, wait));
        }
        problem
    }

    /// The name of the limit or cap that refused the request. `None` when neither did.
    pub fn limit_name(&self) -> Option<&'p str> {
        self.limit.map(|limit| limit.name.as_str()).or(self.cap.map(|cap| cap.name.as_str()))
    }

    /// The body for `application/problem+json` that answers `recipient`.
    pub fn json(&self, recipient: &Recipient) -> String {
        let limit = self.limit_name();
        let violated = limit.filter(|_| self.kind != ProblemKind::Limit(Reason::LimiterUnavailable));
        let body = ProblemBody {
            r#type: self.kind.type_uri(),
            title: self.kind.title(),
            status: self.kind.status(),
            reason: self.kind.as_str(),
            limit,
            scope: self.limit.map(|limit| limit.scope).or(self.cap.map(|_| Scope::Global)).map(Scope::as_str),
            retry_after: self.retry_after,
            retry_at: self.retry_at.as_deref(),
            detail: &self.detail,
            message: recipient.choose_text(self.operator.messages),
            docs: self.operator.docs,
            support: self.operator.support,
            request_id: recipient.request_id.as_str(),
            violated: violated.map(|limit| [limit]),
            error: ErrorMember { message: &self.detail, r#type: self.kind.error_type(), code: self.kind.as_str() },
        };
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// The body for `text/plain` that answers `recipient`: one line, which ends with the request's
    /// id.
    pub fn line(&self, recipient: &Recipient) -> String {
        let OperatorMessage { docs, support, .. } = self.operator;
        let parts = [Some(self.detail.as_str()), recipient.choose_text(self.operator.messages), docs, support];
        let mut line = parts.into_iter().flatten().fold(String::new(), |line, part| line + part + " ");
        line.extend(["(request ", recipient.request_id.as_str(), ")\n"]);
        line
    }

    fn new(kind: ProblemKind, detail: String, operator: OperatorMessage<'p>) -> Problem<'p> {
        let headers = operator.docs.map(|docs| ("Link", format!("<{docs}>; rel=\"help\""))).into_iter().collect();
        Problem {
            kind,
            limit: None,
            cap: None,
            retry_after: None,
            retry_at: None,
            midnight: None,
            detail,
            operator,
            headers,
        }
    }

    /// Sets the time until another attempt, in seconds, here and in the headers.
    fn set_retry_after(&mut self, secs: u64) {
        self.retry_after = Some(secs);
        self.headers.push(("Retry-After", secs.to_string()));
    }
}

/// The moment of the next useful attempt (RFC 3339): in a quota's own zone, usually at its
/// midnight; in UTC for a rate.
fn retry_at(refusal: &Refusal<'_>, now: Time) -> String {
    let at = refusal.until.unwrap_or_else(|| whole_second(now.plus(refusal.wait.max(Span::from_secs(1)))));
    zone(refusal.limit).map_or_else(|| Zone::utc().rfc3339(at), |zone| zone.rfc3339(at))
}

/// The zone of a quota; `None` for a rate.
fn zone(limit: &Limit) -> Option<&Zone> {
    match &limit.allowance {
        Allowance::Quota(quota) => Some(quota.zone()),
        Allowance::Rate(_) => None,
    }
}

/// Rounds up to a whole second.
fn whole_second(at: Time) -> Time {
    Time::from_millis(at.as_secs_up().saturating_mul(1_000))
}
