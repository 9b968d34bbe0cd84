//! What is said when an answer is ours: the facts, in the members of RFC 9457 problem details and
//! draft-ietf-httpapi-ratelimit-headers-11. [`answer`](crate::http::answer) puts them into the form that the reader wants.

use crate::gate::decision::{CapRefusal, LimitUsage, Reason, Refusal};
use crate::gate::plan::{Plan, PlannedLimit};
use crate::http::problem_kind::ProblemKind;
use crate::http::rate_headers::{Header, cap_headers, rate_headers};
use crate::limit::calendar::Zone;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Cap, HeaderStyle, Limit, OperatorMessage, Scope, Size};
use serde::Serialize;

/// Something that keeps a request from the origin's answer.
#[derive(Clone, Debug)]
pub struct Problem<'p> {
    /// Why.
    pub cause: ProblemKind,
    /// The limit that refused.
    pub limit: Option<&'p Limit>,
    /// The cap that did.
    pub cap: Option<&'p Cap>,
    /// Seconds until it is worth trying again, ≥ 1.
    pub retry_after: Option<u64>,
    /// The same as an instant, RFC 3339.
    pub retry_at: Option<String>,
    /// The zone at whose midnight that is, where it is a day's end that is waited for.
    pub midnight: Option<&'p Zone>,
    /// One honest sentence or two, in English.
    pub detail: String,
    /// What the operator has to say besides.
    pub words: OperatorMessage<'p>,
    /// Header fields that do not depend on who reads it.
    pub headers: Vec<Header>,
}

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
    #[serde(rename = "violated-policies", skip_serializing_if = "Option::is_none")]
    violated: Option<[&'a str; 1]>,
}

/// Something other than a limit is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The configuration cannot be used.
    Misconfigured,
    /// The origin is this very Worker.
    Loop,
    /// The origin did not answer.
    OriginUnreachable,
    /// The origin did not answer in time.
    OriginTimeout,
    /// Something that was not foreseen.
    Unforeseen,
}

impl<'p> Problem<'p> {
    /// What a refused caller is told at `now`, of a request that met `plan`.
    pub fn refusal(
        refusal: &Refusal<'p>,
        plan: &Plan<'p>,
        words: OperatorMessage<'p>,
        style: HeaderStyle,
        now: Time,
    ) -> Problem<'p> {
        let limit = refusal.planned.limit;
        // Rounded up, and never zero: a caller who waits exactly that long gets in.
        let retry_after = refusal.wait.as_secs_up().max(1);
        let retry_at = retry_at(refusal, now);
        let detail = detail(refusal, retry_after, &retry_at);
        let mut problem = Problem::new(ProblemKind::Limit(refusal.reason), detail, words);
        problem.limit = Some(limit);
        problem.wait(retry_after);
        problem.retry_at = Some(retry_at);
        problem.midnight = refusal.until.and(zone(limit));
        let stand = LimitUsage { limit, left: refusal.left, more: Span::from_secs(retry_after) };
        let stand = (refusal.reason != Reason::LimiterUnavailable).then_some(stand);
        problem.headers.extend(rate_headers(style, policies(refusal, plan), stand));
        problem
    }

    /// What a caller is told whose address is not let in. It helps nobody to wait.
    pub fn blocked(words: OperatorMessage<'p>) -> Problem<'p> {
        Problem::new(ProblemKind::Blocked, "Requests from this address are not accepted here.".to_owned(), words)
    }

    /// What a caller is told when something other than a limit is in the way.
    pub fn failure(failure: Failure) -> Problem<'static> {
        let (cause, detail) = match failure {
            Failure::Misconfigured => {
                (ProblemKind::Misconfigured, "The rate limiter's configuration has faults; its log names them.")
            }
            Failure::Loop => {
                (ProblemKind::Misconfigured, "The rate limiter forwards to itself; ORIGIN must be another host.")
            }
            Failure::OriginUnreachable => (ProblemKind::OriginUnreachable, "The origin did not answer."),
            Failure::OriginTimeout => (ProblemKind::OriginTimeout, "The origin did not answer in time."),
            Failure::Unforeseen => (
                ProblemKind::Limit(Reason::LimiterUnavailable),
                "The rate limiter failed while it worked on this request.",
            ),
        };
        let mut problem = Problem::new(cause, detail.to_owned(), OperatorMessage::default());
        if failure == Failure::Unforeseen {
            problem.wait(1);
        }
        problem
    }

    /// What a caller is told at `now` that found no place under a cap.
    pub fn cap_refused(crowded: &CapRefusal<'p>, style: HeaderStyle, now: Time) -> Problem<'p> {
        let Cap { name, size, .. } = &**crowded.cap;
        let wait = crowded.wait.as_secs_up();
        let (cause, detail) = match crowded.reason {
            Reason::LimiterUnavailable => (ProblemKind::Limit(crowded.reason), unchecked(name, &seconds(wait))),
            _ => {
                let what = if name.ends_with("/sockets") { "open WebSockets" } else { "requests" };
                let most = match size {
                    Size::Fixed(most) => format!("{most} {what} at once"),
                    Size::Auto { .. } => format!("as many {what} at once as the origin can do with"),
                };
                let again = seconds(wait);
                (
                    ProblemKind::Full,
                    format!("It is full: {name} allows {most} for everyone together. Try again in {again}."),
                )
            }
        };
        let mut problem = Problem::new(cause, detail, crowded.binding.operator_message());
        problem.cap = Some(crowded.cap);
        problem.wait(wait);
        problem.retry_at = Some(Zone::utc().rfc3339(whole_second(now.plus(Span::from_secs(wait)))));
        if cause == ProblemKind::Full {
            problem.headers.extend(cap_headers(style, crowded.cap, wait));
        }
        problem
    }

    /// The name of what refused.
    pub fn limit_name(&self) -> Option<&'p str> {
        self.limit.map(|limit| limit.name.as_str()).or(self.cap.map(|cap| cap.name.as_str()))
    }

    /// As `application/problem+json`.
    pub fn json(&self) -> String {
        let limit = self.limit_name();
        let violated = limit.filter(|_| self.cause != ProblemKind::Limit(Reason::LimiterUnavailable));
        let body = ProblemBody {
            r#type: self.cause.kind(),
            title: self.cause.title(),
            status: self.cause.status(),
            reason: self.cause.as_str(),
            limit,
            scope: self.limit.map(|limit| limit.scope).or(self.cap.map(|_| Scope::Global)).map(Scope::as_str),
            retry_after: self.retry_after,
            retry_at: self.retry_at.as_deref(),
            detail: &self.detail,
            message: self.words.message,
            docs: self.words.docs,
            violated: violated.map(|limit| [limit]),
        };
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// As one line of plain text.
    pub fn line(&self) -> String {
        let parts = [Some(self.detail.as_str()), self.words.message, self.words.docs];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        parts.join(" ") + "\n"
    }

    fn new(cause: ProblemKind, detail: String, words: OperatorMessage<'p>) -> Problem<'p> {
        let headers = words.docs.map(|docs| ("Link", format!("<{docs}>; rel=\"help\""))).into_iter().collect();
        Problem {
            cause,
            limit: None,
            cap: None,
            retry_after: None,
            retry_at: None,
            midnight: None,
            detail,
            words,
            headers,
        }
    }

    fn wait(&mut self, secs: u64) {
        self.retry_after = Some(secs);
        self.headers.push(("Retry-After", secs.to_string()));
    }
}

/// The refusing limit first, then the caller's others.
fn policies<'p>(refusal: &Refusal<'p>, plan: &Plan<'p>) -> Vec<&'p Limit> {
    let others = plan.limits().filter(|met| met.limit.scope != Scope::Global && met.enforces());
    core::iter::once(refusal.planned)
        .chain(others.filter(|met| met.limit.name != refusal.planned.limit.name))
        .map(|met| met.limit)
        .collect()
}

/// RFC 3339. A quota's instant is in its zone, and its midnight in most cases; any other is in UTC.
fn retry_at(refusal: &Refusal<'_>, now: Time) -> String {
    let at = refusal.until.unwrap_or_else(|| whole_second(now.plus(refusal.wait.max(Span::from_secs(1)))));
    zone(refusal.planned.limit).map_or_else(|| Zone::utc().rfc3339(at), |zone| zone.rfc3339(at))
}

fn zone(limit: &Limit) -> Option<&Zone> {
    match &limit.allowance {
        Allowance::Quota(quota) => Some(quota.zone()),
        Allowance::Rate(_) => None,
    }
}

/// Rounded up.
fn whole_second(at: Time) -> Time {
    Time::from_nanos(at.as_nanos().div_ceil(1_000_000_000).saturating_mul(1_000_000_000))
}

fn seconds(count: u64) -> String {
    if count == 1 { "1 second".to_string() } else { format!("{count} seconds") }
}

fn unchecked(name: &str, seconds: &str) -> String {
    format!("The limit {name} cannot be checked now, and nothing may pass it unchecked. Try again in {seconds}.")
}

fn detail(refusal: &Refusal<'_>, retry_after: u64, retry_at: &str) -> String {
    let PlannedLimit { limit, .. } = refusal.planned;
    let Limit { name, allowance, scope, .. } = limit;
    let seconds = seconds(retry_after);
    let who = match scope {
        Scope::Ip => "this address",
        Scope::Key => "this key",
        Scope::Global => "everyone together",
    };
    match refusal.reason {
        Reason::RateLimited => {
            format!("Too many requests from {who}: {name} allows {allowance}. There is room again in {seconds}.")
        }
        Reason::QuotaExhausted => {
            let again = if refusal.until.is_some() { "The next day begins at" } else { "There is room again at" };
            format!("The day's quota of {who} is used up: {name} allows {allowance}. {again} {retry_at}.")
        }
        Reason::OverCapacity if *scope == Scope::Global => {
            format!("It is crowded: {name} allows {allowance} for {who}. There is room again in {seconds}.")
        }
        Reason::OverCapacity => {
            format!("It is crowded: {name} counts as many callers as it can. There is room again in {seconds}.")
        }
        Reason::LimiterUnavailable => unchecked(name, &seconds),
    }
}
