//! The rate headers: draft-ietf-httpapi-ratelimit-headers-11 (RFC 9651 lists), and the older `X-RateLimit-*`.
//!
//! Limits' names are lower-case letters, digits, `-` and `/`, so they need no escaping inside a quoted string.

use crate::gate::decision::LimitUsage;
use crate::limit::rate::Allowance;
use crate::policy::{Cap, HeaderStyle, Limit, Size};

/// A header's name and value.
pub type Header = (&'static str, String);

/// What a calendar day is given as in `w`; the instant at which it ends is in `t`.
const DAY: u64 = 24 * 60 * 60;

/// The headers that tell of `stand`, and of `policies` in their order.
pub fn rate_headers<'a>(
    style: HeaderStyle,
    policies: impl IntoIterator<Item = &'a Limit>,
    stand: Option<LimitUsage<'_>>,
) -> Vec<Header> {
    let mut headers = Vec::new();
    if matches!(style, HeaderStyle::Draft11 | HeaderStyle::Both) {
        let policies: Vec<String> = policies.into_iter().map(policy_item).collect();
        if !policies.is_empty() {
            headers.push(("RateLimit-Policy", policies.join(", ")));
        }
        if let Some(LimitUsage { limit, left, more }) = stand {
            headers.push(("RateLimit", format!("\"{}\";r={left};t={}", limit.name, more.as_secs_up())));
        }
    }
    if matches!(style, HeaderStyle::Legacy | HeaderStyle::Both)
        && let Some(LimitUsage { limit, left, more }) = stand
    {
        headers.push(("X-RateLimit-Limit", count(limit).to_string()));
        headers.push(("X-RateLimit-Remaining", left.to_string()));
        headers.push(("X-RateLimit-Reset", more.as_secs_up().to_string()));
    }
    headers
}

/// The headers that tell of a full cap, which may have room again in `wait` seconds. A cap that is found out has no number to tell.
pub fn cap_headers(style: HeaderStyle, cap: &Cap, wait: u64) -> Vec<Header> {
    let Cap { name, size, .. } = cap;
    let mut headers = Vec::new();
    let Size::Fixed(most) = size else { return headers };
    if matches!(style, HeaderStyle::Draft11 | HeaderStyle::Both) {
        headers.push(("RateLimit-Policy", format!("\"{name}\";q={most};qu=\"concurrent-requests\"")));
        headers.push(("RateLimit", format!("\"{name}\";r=0;t={wait}")));
    }
    if matches!(style, HeaderStyle::Legacy | HeaderStyle::Both) {
        headers.push(("X-RateLimit-Limit", most.to_string()));
        headers.push(("X-RateLimit-Remaining", "0".to_owned()));
        headers.push(("X-RateLimit-Reset", wait.to_string()));
    }
    headers
}

fn policy_item(limit: &Limit) -> String {
    let window = match &limit.allowance {
        Allowance::Rate(rate) => rate.period().as_secs_up(),
        Allowance::Quota(_) => DAY,
    };
    format!("\"{}\";q={};w={window}", limit.name, count(limit))
}

fn count(limit: &Limit) -> u64 {
    match &limit.allowance {
        Allowance::Rate(rate) => rate.count(),
        Allowance::Quota(quota) => quota.count(),
    }
}
