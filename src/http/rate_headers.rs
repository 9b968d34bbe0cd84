//! The rate headers: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11,
//! lists after RFC 9651), and the older `X-RateLimit-*`.
//!
//! Names of limits consist of lower-case letters, digits, `-` and `/`, so they need no escaping
//! inside a quoted string.

use crate::gate::decision::LimitUsage;
use crate::http::negotiate::AnswerFormat;
use crate::limit::rate::Allowance;
use crate::policy::{Cap, HeaderStyle, Limit, Size};

/// A header's name and value.
pub type Header = (&'static str, String);

/// The window of a quota, in seconds, as the parameter `w` states it. A day of the calendar may
/// last an hour more or less; the parameter `t` says when it really ends.
const DAY_SECS: u64 = 24 * 60 * 60;

/// Returns the headers about `usage`, with `policies` in their order. Without a `usage` the
/// headers only list the policies.
pub fn rate_headers<'a>(
    style: HeaderStyle,
    policies: impl IntoIterator<Item = &'a Limit>,
    usage: Option<LimitUsage<'_>>,
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
    if has_legacy(style)
        && let Some(LimitUsage { limit, left, more }) = usage
    {
        headers.push(("X-RateLimit-Limit", count(limit).to_string()));
        headers.push(("X-RateLimit-Remaining", left.to_string()));
        headers.push(("X-RateLimit-Reset", more.as_secs_up().to_string()));
    }
    headers
}

/// Returns the headers about a full cap that may have room again in `wait` seconds. Empty for an
/// adaptive cap, whose size is not fixed.
pub fn cap_headers(style: HeaderStyle, cap: &Cap, wait: u64) -> Vec<Header> {
    let Cap { name, size, .. } = cap;
    let mut headers = Vec::new();
    let Size::Fixed(most) = size else { return headers };
    if has_draft_11(style) {
        headers.push(("RateLimit-Policy", format!("\"{name}\";q={most};qu=\"concurrent-requests\"")));
        headers.push(("RateLimit", format!("\"{name}\";r=0;t={wait}")));
    }
    if has_legacy(style) {
        headers.push(("X-RateLimit-Limit", most.to_string()));
        headers.push(("X-RateLimit-Remaining", "0".to_owned()));
        headers.push(("X-RateLimit-Reset", wait.to_string()));
    }
    headers
}

/// Returns the names of all headers that explain a refusal, for `Access-Control-Expose-Headers`.
pub fn refusal_header_names(style: HeaderStyle, format: AnswerFormat) -> Vec<&'static str> {
    let mut names = vec!["Retry-After", "Link"];
    if has_draft_11(style) {
        names.extend(["RateLimit", "RateLimit-Policy"]);
    }
    if has_legacy(style) {
        names.extend(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]);
    }
    if matches!(format, AnswerFormat::GrpcWeb(_)) {
        names.extend(["Grpc-Status", "Grpc-Message"]);
    }
    names
}

fn has_draft_11(style: HeaderStyle) -> bool {
    matches!(style, HeaderStyle::Draft11 | HeaderStyle::Both)
}

fn has_legacy(style: HeaderStyle) -> bool {
    matches!(style, HeaderStyle::Legacy | HeaderStyle::Both)
}

/// One item of `RateLimit-Policy`: the limit's name, its count `q`, and its window `w` in seconds.
fn policy_item(limit: &Limit) -> String {
    let window = match &limit.allowance {
        Allowance::Rate(rate) => rate.period().as_secs_up(),
        Allowance::Quota(_) => DAY_SECS,
    };
    format!("\"{}\";q={};w={window}", limit.name, count(limit))
}

/// The count of a rate or quota: 100 of `100/s` as of `100/day`.
fn count(limit: &Limit) -> u64 {
    match &limit.allowance {
        Allowance::Rate(rate) => rate.count(),
        Allowance::Quota(quota) => quota.count(),
    }
}
