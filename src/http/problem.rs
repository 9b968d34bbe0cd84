//! Refusals and failures as a program reads them: RFC 9457 problem details, with the members of
//! draft-ietf-httpapi-ratelimit-headers-11.

use super::rate_headers::{Header, Stand, rate_headers};
use crate::gate::plan::{Met, Plan};
use crate::gate::verdict::{Reason, Refusal};
use crate::limit::day::Zone;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{HeaderStyle, Limit, Scope};
use serde::Serialize;

/// An answer that Penstock gives itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// Header fields, `Content-Type` included.
    pub headers: Vec<Header>,
    /// The JSON text.
    pub body: String,
}

#[derive(Serialize)]
struct Body<'a> {
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
    retry_at: Option<String>,
    detail: String,
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
    /// Something that was not foreseen.
    Unforeseen,
}

impl Reason {
    /// As it stands in bodies and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::RateLimited => "rate_limited",
            Reason::QuotaExhausted => "quota_exhausted",
            Reason::OverCapacity => "over_capacity",
            Reason::LimiterUnavailable => "limiter_unavailable",
        }
    }

    /// Its HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity => 429,
            Reason::LimiterUnavailable => 503,
        }
    }

    fn kind(self) -> (&'static str, &'static str) {
        match self {
            Reason::RateLimited | Reason::QuotaExhausted => {
                ("https://iana.org/assignments/http-problem-types#quota-exceeded", "Too many requests")
            }
            Reason::OverCapacity => {
                ("https://iana.org/assignments/http-problem-types#temporary-reduced-capacity", "Over capacity")
            }
            Reason::LimiterUnavailable => ("about:blank", "Service unavailable"),
        }
    }
}

impl Problem {
    /// What a refused caller gets at `now`, of a request that met `plan`.
    pub fn refusal(refusal: &Refusal<'_>, plan: &Plan<'_>, style: HeaderStyle, now: Time) -> Problem {
        let limit = refusal.met.limit;
        // Rounded up, and never zero: a caller who waits exactly that long gets in.
        let retry_after = refusal.wait.as_secs_up().max(1);
        let retry_at = retry_at(refusal, now);
        let (kind, title) = refusal.reason.kind();
        let body = Body {
            r#type: kind,
            title,
            status: refusal.reason.status(),
            reason: refusal.reason.as_str(),
            limit: Some(&limit.name),
            scope: Some(limit.scope.as_str()),
            retry_after: Some(retry_after),
            detail: detail(refusal, retry_after, &retry_at),
            retry_at: Some(retry_at),
            violated: (refusal.reason != Reason::LimiterUnavailable).then_some([limit.name.as_str()]),
        };
        let mut problem = Problem::new(&body);
        problem.headers.push(("Retry-After", retry_after.to_string()));
        let stand = Stand { limit, left: refusal.left, more: Span::from_secs(retry_after) };
        let stand = (refusal.reason != Reason::LimiterUnavailable).then_some(stand);
        problem.headers.extend(rate_headers(style, policies(refusal, plan), stand));
        problem
    }

    /// What a caller gets when something other than a limit is in the way.
    pub fn failure(failure: Failure) -> Problem {
        let (status, reason, title, detail) = match failure {
            Failure::Misconfigured => (
                500,
                "misconfigured",
                "Misconfigured",
                "The rate limiter's configuration has faults; its log names them.",
            ),
            Failure::Loop => (
                500,
                "misconfigured",
                "Misconfigured",
                "The rate limiter forwards to itself; ORIGIN must be another host.",
            ),
            Failure::OriginUnreachable => (502, "origin_unreachable", "Bad gateway", "The origin did not answer."),
            Failure::Unforeseen => {
                (503, "limiter_unavailable", "Service unavailable", "The rate limiter could not read this request.")
            }
        };
        let retry_after = (failure == Failure::Unforeseen).then_some(1);
        let mut problem = Problem::new(&Body {
            r#type: "about:blank",
            title,
            status,
            reason,
            limit: None,
            scope: None,
            retry_after,
            retry_at: None,
            detail: detail.to_string(),
            violated: None,
        });
        problem.headers.extend(retry_after.map(|secs| ("Retry-After", secs.to_string())));
        problem
    }

    fn new(body: &Body<'_>) -> Problem {
        Problem {
            status: body.status,
            headers: vec![
                ("Content-Type", "application/problem+json".to_string()),
                ("Cache-Control", "no-store".to_string()),
            ],
            body: serde_json::to_string(body).unwrap_or_default(),
        }
    }
}

/// The refusing limit first, then the caller's others.
fn policies<'p>(refusal: &Refusal<'p>, plan: &Plan<'p>) -> Vec<&'p Limit> {
    let others = plan.limits().filter(|met| met.limit.scope != Scope::Global && met.enforces());
    core::iter::once(refusal.met)
        .chain(others.filter(|met| met.limit.name != refusal.met.limit.name))
        .map(|met| met.limit)
        .collect()
}

/// RFC 3339. A quota's instant is its midnight, in its zone; any other is in UTC.
fn retry_at(refusal: &Refusal<'_>, now: Time) -> String {
    match (refusal.until, &refusal.met.limit.allowance) {
        (Some(until), Allowance::Quota(quota)) => quota.zone().rfc3339(until),
        _ => {
            let at = now.plus(refusal.wait.max(Span::from_secs(1))).as_nanos().div_ceil(1_000_000_000);
            Zone::utc().rfc3339(Time::from_nanos(at.saturating_mul(1_000_000_000)))
        }
    }
}

fn detail(refusal: &Refusal<'_>, retry_after: u64, retry_at: &str) -> String {
    let Met { limit, .. } = refusal.met;
    let Limit { name, allowance, scope, .. } = limit;
    let seconds = if retry_after == 1 { "1 second".to_string() } else { format!("{retry_after} seconds") };
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
            format!(
                "The day's quota of {who} is used up: {name} allows {allowance}. The next day begins at {retry_at}."
            )
        }
        Reason::OverCapacity if *scope == Scope::Global => {
            format!("It is crowded: {name} allows {allowance} for {who}. There is room again in {seconds}.")
        }
        Reason::OverCapacity => {
            format!("It is crowded: {name} counts as many callers as it can. There is room again in {seconds}.")
        }
        Reason::LimiterUnavailable => {
            format!(
                "The limit {name} cannot be checked now, and nothing may pass it unchecked. Try again in {seconds}."
            )
        }
    }
}
