//! The log lines. Each is a JSON object whose members have a fixed order.

use crate::gate::decision::{CapRefusal, Reason, Refusal};
use crate::identity::Subject;
use crate::log::request_id::RequestId;
use crate::policy::{Block, Fault, Policy, Scope};
use serde::Serialize;

/// The most characters of a text from the platform or a client. Longer texts are cut, so that no
/// client can fill the log.
const LONGEST: usize = 300;

/// The most faults in one line.
const MOST_FAULTS: usize = 20;

/// The effect of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The request was refused.
    Refused,
    /// A limit, cap or list in shadow would have refused the request.
    Shadow,
}

impl Effect {
    /// The member `event`: a shadow's refusals are told apart from those that happened.
    fn event(self) -> &'static str {
        match self {
            Effect::Refused => "refused",
            Effect::Shadow => "would_refuse",
        }
    }
}

/// A request, as log lines name it.
#[derive(Clone, Copy, Debug)]
pub struct LoggedRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, without the query: that may hold a key.
    pub path: &'a str,
    /// The id that its client was told.
    pub id: &'a RequestId,
}

/// The refusals that are counted together when they have no lines of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalKey {
    /// Refusals by a limit, which is given by its number.
    Limit(u64, Reason, Effect),
    /// Refusals by a cap.
    Cap {
        /// The cap's name.
        name: String,
        /// The name of its binding.
        binding: String,
        /// The cause.
        reason: Reason,
        /// The effect: a cap in shadow refuses nothing.
        effect: Effect,
    },
    /// Refusals by the `block` list of the binding with this name; `None` for the deployment's
    /// `BLOCK`.
    Block(Option<String>, Effect),
    /// Requests that the origin did not answer, by the member `reason`.
    Origin(&'static str),
    /// Requests whose bodies came too slowly, by the member `reason`.
    Upload(&'static str),
}

/// The line about one refusal, or about a number of them. The order of the fields is the order of
/// the members.
#[derive(Serialize)]
struct RefusalLine<'a> {
    event: &'static str,
    /// The limit or cap. `None` for a `BLOCK` list.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a str>,
    /// `None` for a `BLOCK` list.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    reason: &'static str,
    /// `None` for the deployment's own `BLOCK`.
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<&'a str>,
    /// The client's wait in seconds. `None` in a count, and for a `BLOCK` list.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<u64>,
    /// The number of refusals. `None` in a line about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// The caller's digest. `None` in a count, and at a limit that everyone shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    /// The origin's host, where it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    /// A sentence on why the origin did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    /// The request's method. `None` in a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    /// The request's path. `None` in a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    /// The request's `CF-Ray`. `None` in a count, and when the request has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ray: Option<&'a str>,
    /// The id that the client was told in place of a `CF-Ray`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    shadow: bool,
}

/// The line about anything else.
#[derive(Serialize)]
struct EventLine<'a> {
    event: &'static str,
    place: &'a str,
    problem: &'a str,
}

/// The member `event` of lines about an origin that did not answer.
const ORIGIN_FAILED: &str = "origin_failed";

impl<'a> RefusalLine<'a> {
    /// A line with the members that every refusal has.
    fn new(reason: &'static str, effect: Effect) -> Self {
        RefusalLine {
            event: effect.event(),
            limit: None,
            scope: None,
            reason,
            binding: None,
            wait: None,
            count: None,
            caller: None,
            host: None,
            problem: None,
            method: None,
            path: None,
            ray: None,
            request_id: None,
            shadow: effect == Effect::Shadow,
        }
    }

    /// A line about one request.
    fn about(request: LoggedRequest<'a>, reason: &'static str, effect: Effect) -> Self {
        let LoggedRequest { method, path, id } = request;
        RefusalLine {
            method: Some(cut(method)),
            path: Some(cut(path)),
            ray: Some(id.as_str()).filter(|_| id.is_ray()),
            request_id: Some(id.as_str()).filter(|_| !id.is_ray()),
            ..RefusalLine::new(reason, effect)
        }
    }

    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The line about a refusal by a limit.
pub fn refusal_line(refusal: &Refusal<'_>, effect: Effect, request: LoggedRequest<'_>) -> String {
    let line = RefusalLine {
        limit: Some(&refusal.limit.name),
        scope: Some(refusal.limit.scope.as_str()),
        binding: Some(&refusal.limit.binding),
        wait: Some(refusal.wait.retry_after_secs()),
        caller: refusal.subject.map(|subject| subject.to_string()),
        ..RefusalLine::about(request, refusal.reason.as_str(), effect)
    };
    line.json()
}

/// The line about a refusal by a cap.
pub fn cap_refusal_line(
    refusal: &CapRefusal<'_>,
    caller: Subject,
    effect: Effect,
    request: LoggedRequest<'_>,
) -> String {
    let line = RefusalLine {
        limit: Some(&refusal.cap.name),
        scope: Some(Scope::Global.as_str()),
        binding: Some(&refusal.binding.name),
        wait: Some(refusal.wait.as_secs_up()),
        caller: Some(caller.to_string()),
        ..RefusalLine::about(request, refusal.reason.as_str(), effect)
    };
    line.json()
}

/// The line about a request from an address on a `BLOCK` list.
pub fn blocked_line(block: Block<'_>, caller: Subject, effect: Effect, request: LoggedRequest<'_>) -> String {
    let line = RefusalLine {
        binding: block.binding.map(|binding| binding.name.as_str()),
        caller: Some(caller.to_string()),
        ..RefusalLine::about(request, "blocked", effect)
    };
    line.json()
}

/// The line about a request that the origin at `host` did not answer. `problem` is a sentence.
pub fn origin_failed_line(reason: &'static str, host: &str, problem: &str, request: LoggedRequest<'_>) -> String {
    let problem = without_urls(problem);
    let line = RefusalLine {
        event: ORIGIN_FAILED,
        host: Some(cut(host)),
        problem: Some(cut(&problem)),
        ..RefusalLine::about(request, reason, Effect::Refused)
    };
    line.json()
}

/// The line about a request whose client, at the address `caller`, brought its body too slowly.
pub fn upload_line(reason: &'static str, caller: Subject, request: LoggedRequest<'_>) -> String {
    let caller = Some(caller.to_string());
    RefusalLine { caller, ..RefusalLine::about(request, reason, Effect::Refused) }.json()
}

/// The line about `count` refusals. Empty when `policy` has no limit of that number.
pub fn counted_line(key: &RefusalKey, count: u64, policy: &Policy) -> String {
    let count = Some(count);
    let line = match key {
        RefusalKey::Limit(number, reason, effect) => {
            let Some((binding, limit)) = policy.limit(*number) else { return String::new() };
            RefusalLine {
                limit: Some(&limit.name),
                scope: Some(limit.scope.as_str()),
                binding: Some(&binding.name),
                count,
                ..RefusalLine::new(reason.as_str(), *effect)
            }
        }
        RefusalKey::Cap { name, binding, reason, effect } => RefusalLine {
            limit: Some(name),
            scope: Some(Scope::Global.as_str()),
            binding: Some(binding),
            count,
            ..RefusalLine::new(reason.as_str(), *effect)
        },
        RefusalKey::Origin(reason) => {
            RefusalLine { event: ORIGIN_FAILED, count, ..RefusalLine::new(reason, Effect::Refused) }
        }
        RefusalKey::Upload(reason) => RefusalLine { count, ..RefusalLine::new(reason, Effect::Refused) },
        RefusalKey::Block(binding, effect) => {
            RefusalLine { binding: binding.as_deref(), count, ..RefusalLine::new("blocked", *effect) }
        }
    };
    line.json()
}

/// The line about the `faults` of a configuration. `is_open`: requests pass without limits in spite
/// of them, and are not refused.
pub fn misconfigured_line(faults: &[Fault], is_open: bool) -> String {
    let effect = if is_open { "requests pass without limits" } else { "every request is refused" };
    let told = faults.iter().take(MOST_FAULTS).map(|fault| cut(&fault.to_string()).to_owned());
    let problem = core::iter::once(effect.to_owned()).chain(told).collect::<Vec<_>>().join("; ");
    event_text("misconfigured", "vars", &problem)
}

/// The line of a warning about `place`.
pub(super) fn warning_line(place: &str, problem: &str) -> String {
    event_line("warning", place, problem)
}

/// The line of an event at `place`: a limit, a cap, or a part of the Worker.
pub(super) fn event_line(event: &'static str, place: &str, problem: &str) -> String {
    event_text(event, place, cut(problem))
}

fn event_text(event: &'static str, place: &str, problem: &str) -> String {
    serde_json::to_string(&EventLine { event, place, problem }).unwrap_or_default()
}

/// Replaces each URL in `text`, since a query may contain a key.
pub(super) fn without_urls(text: &str) -> String {
    let words = text.split_ascii_whitespace().map(|word| if word.contains("://") { "(a URL)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns at most the first [`LONGEST`] characters of `text`.
fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
