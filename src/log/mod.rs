//! One JSON line per refusal, and one per warning, for whatever collects a Worker's logs; in a [`flood`], one for many. A request that
//! passes logs nothing.

pub mod refusal_sampler;

use crate::gate::decision::{CapRefusal, Refusal, Unchecked};
use crate::identity::Subject;
use crate::limit::time::{Span, Time};
use crate::policy::{Block, Cap, Limit, Policy, Scope};
use crate::protocol::rates::CallError;
use refusal_sampler::RefusalKey;
use serde::Serialize;
use std::collections::BTreeMap;
use worker::{console_error, console_log, console_warn};

/// One warning per limit in this time, however many requests meet the trouble.
const WARN_EVERY: Span = Span::from_secs(10);

/// Whatever the platform or a caller puts into a line is cut to so many characters.
const LONGEST: usize = 300;

#[derive(Serialize)]
struct RefusalLine<'a> {
    event: &'static str,
    limit: &'a str,
    scope: &'static str,
    reason: &'static str,
    binding: &'a str,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<u64>,
    /// Of how many refusals it tells, where it is not of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ray: Option<String>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    shadow: bool,
}

#[derive(Serialize)]
struct BlockedLine<'a> {
    event: &'static str,
    reason: &'static str,
    /// None where the whole deployment's list has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ray: Option<String>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    shadow: bool,
}

#[derive(Serialize)]
struct WarningLine<'a> {
    event: &'static str,
    place: &'a str,
    problem: String,
}

/// Whether a refusal took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The caller was refused.
    Refused,
    /// A limit in shadow would have refused.
    Shadow,
}

/// The line that tells of a refusal.
pub fn refusal_line(refusal: &Refusal<'_>, effect: Effect, ray: Option<&str>) -> String {
    let line = RefusalLine {
        event: "refused",
        limit: &refusal.planned.limit.name,
        scope: refusal.planned.limit.scope.as_str(),
        reason: refusal.reason.as_str(),
        binding: refusal.planned.binding,
        wait: Some(refusal.wait.as_secs_up().max(1)),
        count: None,
        caller: refusal.subject.map(|subject| subject.to_string()),
        ray: ray.map(cut),
        shadow: effect == Effect::Shadow,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// The line that tells of a cap under which there was no place.
pub fn cap_refusal_line(crowded: &CapRefusal<'_>, caller: Subject, effect: Effect, ray: Option<&str>) -> String {
    let line = RefusalLine {
        event: "refused",
        limit: &crowded.cap.name,
        scope: Scope::Global.as_str(),
        reason: crowded.reason.as_str(),
        binding: &crowded.binding.name,
        wait: Some(crowded.wait.as_secs_up()),
        count: None,
        caller: Some(caller.to_string()),
        ray: ray.map(cut),
        shadow: effect == Effect::Shadow,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// The line that tells of an address that is not let in.
pub fn blocked_line(block: Block<'_>, caller: Subject, effect: Effect, ray: Option<&str>) -> String {
    let line = BlockedLine {
        event: "refused",
        reason: "blocked",
        binding: block.binding.map(|binding| binding.name.as_str()),
        count: None,
        caller: Some(caller.to_string()),
        ray: ray.map(cut),
        shadow: effect == Effect::Shadow,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// The line that tells of `count` refusals at once; nothing where `policy` has no such limit.
pub fn counted_line(of: &RefusalKey, count: u64, policy: &Policy) -> String {
    let line = match of {
        RefusalKey::Limit(number, reason, effect) => {
            let Some((binding, limit)) = policy.limit(*number) else { return String::new() };
            serde_json::to_string(&RefusalLine {
                event: "refused",
                limit: &limit.name,
                scope: limit.scope.as_str(),
                reason: reason.as_str(),
                binding: &binding.name,
                wait: None,
                count: Some(count),
                caller: None,
                ray: None,
                shadow: *effect == Effect::Shadow,
            })
        }
        RefusalKey::Cap { name, binding, reason, effect } => serde_json::to_string(&RefusalLine {
            event: "refused",
            limit: name,
            scope: Scope::Global.as_str(),
            reason: reason.as_str(),
            binding,
            wait: None,
            count: Some(count),
            caller: None,
            ray: None,
            shadow: *effect == Effect::Shadow,
        }),
        RefusalKey::Block(binding, effect) => serde_json::to_string(&BlockedLine {
            event: "refused",
            reason: "blocked",
            binding: binding.as_deref(),
            count: Some(count),
            caller: None,
            ray: None,
            shadow: *effect == Effect::Shadow,
        }),
    };
    line.unwrap_or_default()
}

/// Logs where a cap that finds itself has moved to.
pub fn moved(cap: &str, was: u64, is: u64) {
    let was = if was == 0 { String::new() } else { [", was ", &was.to_string()].concat() };
    console_log!("{}", line("cap", cap, &["is ", &is.to_string(), &was].concat()));
}

fn warning_line(place: &str, problem: &str) -> String {
    line("warning", place, problem)
}

fn line(event: &'static str, place: &str, problem: &str) -> String {
    serde_json::to_string(&WarningLine { event, place, problem: cut(problem) }).unwrap_or_default()
}

/// `text` without the URLs in it: a query may hold a key.
fn without_urls(text: &str) -> String {
    let words = text.split_ascii_whitespace().map(|word| if word.contains("://") { "(a URL)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Logs a refusal.
pub fn refusal(refusal: &Refusal<'_>, effect: Effect, ray: Option<&str>) {
    console_log!("{}", refusal_line(refusal, effect, ray));
}

/// Logs that there was no place under a cap.
pub fn cap_refusal(crowded: &CapRefusal<'_>, caller: Subject, effect: Effect, ray: Option<&str>) {
    console_log!("{}", cap_refusal_line(crowded, caller, effect, ray));
}

/// Logs that an address is not let in.
pub fn blocked(block: Block<'_>, caller: Subject, effect: Effect, ray: Option<&str>) {
    console_log!("{}", blocked_line(block, caller, effect, ray));
}

/// Logs that there were `count` refusals more.
pub fn counted(of: &RefusalKey, count: u64, policy: &Policy) {
    console_log!("{}", counted_line(of, count, policy));
}

/// Logs that something is not as it should be at `place`.
pub fn warning(place: &str, problem: &str) {
    console_warn!("{}", warning_line(place, problem));
}

/// Logs a fault in the configuration.
pub fn fault(place: &str, problem: &str) {
    console_error!("{}", warning_line(place, problem));
}

/// Keeps warnings rare.
#[derive(Debug, Default)]
pub struct RecentWarnings {
    last: BTreeMap<String, Time>,
}

impl RecentWarnings {
    /// The warning that something is not as it should be at `place`, unless there was one a moment ago.
    pub fn warning(&mut self, place: &str, problem: &str, now: Time) -> Option<String> {
        self.is_due(place.to_owned(), now).then(|| warning_line(place, &without_urls(problem)))
    }

    /// The same about a cap.
    pub fn unchecked_cap(&mut self, cap: &Cap, error: &CallError, now: Time) -> Option<String> {
        let Cap { name, on_error, .. } = cap;
        self.warning(name, &format!("cannot be checked ({error}); on_error = \"{on_error}\""), now)
    }

    /// The warning about a limit that could not be checked, unless there was one a moment ago.
    pub fn unchecked(&mut self, unchecked: &Unchecked<'_>, now: Time) -> Option<String> {
        let Limit { name, on_error, .. } = unchecked.planned.limit;
        let cause = match &unchecked.error {
            Some(error) => error.to_string(),
            None => "D1 does not answer, or lacks its table: wrangler d1 migrations apply DB".to_string(),
        };
        let guarantee = on_error.guarantee();
        self.warning(name, &format!("cannot be checked ({cause}); on_error = \"{on_error}\": {guarantee}"), now)
    }

    /// The line that the limit or cap called `name` is checked again, unless there was one a moment ago.
    pub fn restored(&mut self, name: &str, now: Time) -> Option<String> {
        self.is_due(format!("{name} again"), now).then(|| line("restored", name, "is checked again"))
    }

    fn is_due(&mut self, what: String, now: Time) -> bool {
        let told = self.last.get(&what).is_some_and(|last| now < last.plus(WARN_EVERY) && now >= *last);
        if !told {
            self.last.insert(what, now);
        }
        !told
    }
}
