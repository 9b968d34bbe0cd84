//! The rate headers: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11,
//! lists after RFC 9651), the forms of that draft's versions 6 and 7, and the older
//! `X-RateLimit-*`.
//!
//! Names of limits consist of lower-case letters, digits, `-` and `/`, so they need no escaping
//! inside a quoted string.

use crate::gate::decision::LimitUsage;
use crate::http::negotiate::AnswerFormat;
use crate::limit::rate::Allowance;
use crate::limit::time::{Span, Time};
use crate::policy::{Cap, HeaderStyle, Limit, Size};

/// A header's name and value.
pub type Header = (&'static str, String);

/// The window of a quota, in seconds, as the parameter `w` states it. A day of the calendar may
/// last an hour more or less; the parameter `t` says when it really ends.
const DAY_SECS: u64 = 24 * 60 * 60;

/// Returns the headers about `usage` at `now`, with `policies` in their order. Without a `usage`
/// the headers only list the policies.
pub fn rate_headers<'a>(
    style: HeaderStyle,
    policies: impl IntoIterator<Item = &'a Limit>,
    usage: Option<LimitUsage<'_>>,
    now: Time,
) -> Vec<Header> {
    let mut headers = Vec::new();
    if has_draft_11(style) {
        let policies: Vec<String> = policies.into_iter().map(policy_item).collect();
        if !policies.is_empty() {
            headers.push(("RateLimit-Policy", policies.join(", ")));
        }
        if let Some(LimitUsage { limit, left, more }) = usage {
            headers.push(("RateLimit", format!("\"{}\";r={left};t={}", limit.name, more.as_secs_up())));
        }
    }
    if let Some(LimitUsage { limit, left, more }) = usage {
        let state = LimitState { count: count(limit), window: Some(window(limit)), left, reset: more.as_secs_up() };
        state.push_headers(style, now, &mut headers);
    }
    headers
}

/// Returns the headers about a full cap that may have room again `wait` seconds after `now`. Empty
/// for an adaptive cap, whose size is not fixed.
pub fn cap_headers(style: HeaderStyle, cap: &Cap, wait: u64, now: Time) -> Vec<Header> {
    let Cap { name, size, .. } = cap;
    let mut headers = Vec::new();
    let Size::Fixed(most) = *size else { return headers };
    if has_draft_11(style) {
        headers.push(("RateLimit-Policy", format!("\"{name}\";q={most};qu=\"concurrent-requests\"")));
        headers.push(("RateLimit", format!("\"{name}\";r=0;t={wait}")));
    }
    LimitState { count: most, window: None, left: 0, reset: wait }.push_headers(style, now, &mut headers);
    headers
}

/// The names of the rate headers of each style.
const fn header_names(style: HeaderStyle) -> &'static [&'static str] {
    match style {
        HeaderStyle::Draft11 | HeaderStyle::Draft7 => &["RateLimit", "RateLimit-Policy"],
        HeaderStyle::Draft6 => &["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"],
        HeaderStyle::Legacy | HeaderStyle::LegacyEpoch => {
            &["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
        }
        HeaderStyle::Both => {
            &["RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
        }
        HeaderStyle::None => &[],
    }
}

/// Returns the names of all headers that explain a refusal, for `Access-Control-Expose-Headers`.
pub fn refusal_header_names(style: HeaderStyle, format: AnswerFormat) -> Vec<&'static str> {
    let mut names = vec!["Retry-After", "Link"];
    names.extend(header_names(style));
    if matches!(format, AnswerFormat::GrpcWeb(_)) {
        names.extend(["Grpc-Status", "Grpc-Message"]);
    }
    names
}

fn has_draft_11(style: HeaderStyle) -> bool {
    matches!(style, HeaderStyle::Draft11 | HeaderStyle::Both)
}

/// The state of one limit or cap, for headers that have room for one.
struct LimitState {
    /// The tokens of a whole period, or the size of a cap.
    count: u64,
    /// The period in seconds; `None` for a cap.
    window: Option<u64>,
    /// The tokens left.
    left: u64,
    /// How many seconds until there is one more.
    reset: u64,
}

impl LimitState {
    /// Adds the headers of those styles that speak of one limit.
    fn push_headers(&self, style: HeaderStyle, now: Time, headers: &mut Vec<Header>) {
        let LimitState { count, left, reset, .. } = *self;
        let policy = self.window.map(|window| ("RateLimit-Policy", format!("{count};w={window}")));
        let reset_header = match style {
            HeaderStyle::Draft11 | HeaderStyle::None => return,
            HeaderStyle::Draft7 => {
                headers.extend(policy);
                headers.push(("RateLimit", format!("limit={count}, remaining={left}, reset={reset}")));
                return;
            }
            HeaderStyle::Draft6 => {
                headers.extend(policy);
                headers.push(("RateLimit-Limit", count.to_string()));
                headers.push(("RateLimit-Remaining", left.to_string()));
                ("RateLimit-Reset", reset)
            }
            HeaderStyle::Legacy | HeaderStyle::Both | HeaderStyle::LegacyEpoch => {
                headers.push(("X-RateLimit-Limit", count.to_string()));
                headers.push(("X-RateLimit-Remaining", left.to_string()));
                let is_time = style == HeaderStyle::LegacyEpoch;
                ("X-RateLimit-Reset", if is_time { now.plus(Span::from_secs(reset)).as_secs_up() } else { reset })
            }
        };
        headers.push((reset_header.0, reset_header.1.to_string()));
    }
}

/// One item of `RateLimit-Policy`: the limit's name, its count `q`, and its window `w` in seconds.
fn policy_item(limit: &Limit) -> String {
    format!("\"{}\";q={};w={}", limit.name, count(limit), window(limit))
}

/// The period of a rate or quota in seconds.
fn window(limit: &Limit) -> u64 {
    match &limit.allowance {
        Allowance::Rate(rate) => rate.period().as_secs_up(),
        Allowance::Quota(_) => DAY_SECS,
    }
}

/// The count of a rate or quota: 100 of `100/s` as of `100/day`.
fn count(limit: &Limit) -> u64 {
    match &limit.allowance {
        Allowance::Rate(rate) => rate.count(),
        Allowance::Quota(quota) => quota.count(),
    }
}
