//! The rate headers: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11,
//! lists after RFC 9651), the forms of that draft's versions 6 and 7, and the older
//! `X-RateLimit-*`.
//!
//! Names of limits consist of lower-case letters, digits, `-` and `/`, so they need no escaping
//! inside a quoted string.

use crate::gate::plan::Plan;
use crate::gate::usages::{LimitUsage, Usages};
use crate::http::negotiate::AnswerFormat;
use crate::limit::time::{Span, Time};
use crate::policy::{Cap, HeaderStyle, Limit, Size};
use std::fmt::Write as _;

/// A header's name and value.
pub type Header = (&'static str, String);

/// The bytes of one item of `RateLimit` beside the limit's name.
const ITEM_SIZE: usize = 24;

/// The rate headers of one answer. They tell of one limit first, then of the caller's own others,
/// in the order in which the request meets them.
#[derive(Clone, Copy, Debug)]
pub struct RateHeaders<'a, 'p> {
    /// `HEADERS`.
    pub style: HeaderStyle,
    /// All limits that the request meets.
    pub plan: &'a Plan<'p>,
    /// The usage of the caller's own limits, as far as it is known.
    pub usages: &'a Usages<'p>,
    /// The time of the answer.
    pub now: Time,
}

/// The limit or cap that an answer tells of first.
struct First<'f> {
    name: &'f str,
    /// Its item of `RateLimit-Policy`.
    item: &'f str,
    /// The tokens of a whole period, or the size of a cap.
    count: u64,
    /// The period in seconds; `None` for a cap.
    window: Option<u64>,
    /// `None` where the limit could not be checked.
    state: Option<State>,
}

/// The state of a limit or cap.
#[derive(Clone, Copy)]
struct State {
    /// The tokens left.
    left: u64,
    /// How many seconds until there is one more.
    reset: u64,
}

impl<'f> First<'f> {
    fn of(limit: &'f Limit, state: Option<State>) -> First<'f> {
        let Limit { name, header_item: item, .. } = limit;
        First { name, item, count: limit.count(), window: Some(limit.window_secs()), state }
    }
}

impl RateHeaders<'_, '_> {
    /// Returns the headers of a request that passed. The tightest limit comes first.
    pub fn passed(&self) -> Vec<Header> {
        let tightest = self.usages.tightest();
        let state = |usage: LimitUsage<'_>| State { left: usage.left, reset: usage.more.as_secs_up() };
        let first = tightest.map(|usage| First::of(usage.limit, Some(state(usage))));
        self.headers(first.as_ref())
    }

    /// Returns the headers of a request that `limit` refuses for `wait` seconds. `left` is the
    /// number of its tokens; `None` where it could not be checked.
    pub fn refused(&self, limit: &Limit, left: Option<u64>, wait: u64) -> Vec<Header> {
        self.headers(Some(&First::of(limit, left.map(|left| State { left, reset: wait }))))
    }

    /// Returns the headers of a request that a full `cap` refuses, and that may find room in `wait`
    /// seconds. Empty for an adaptive cap, whose size is not fixed.
    pub fn full(&self, cap: &Cap, wait: u64) -> Vec<Header> {
        let Cap { name, size: Size::Fixed(count), .. } = cap else { return Vec::new() };
        let item = format!("\"{name}\";q={count};qu=\"concurrent-requests\"");
        let state = Some(State { left: 0, reset: wait });
        self.headers(Some(&First { name, item: &item, count: *count, window: None, state }))
    }

    fn headers(&self, first: Option<&First<'_>>) -> Vec<Header> {
        let mut headers = Vec::with_capacity(5);
        if matches!(self.style, HeaderStyle::Draft11 | HeaderStyle::Both) {
            let policies = self.policies(first);
            if !policies.is_empty() {
                headers.push(("RateLimit-Policy", policies));
            }
            if let Some(First { name, state: Some(state), .. }) = first {
                headers.push(("RateLimit", self.states(name, *state)));
            }
        }
        if let Some(first) = first {
            self.push_one(first, &mut headers);
        }
        headers
    }

    /// Returns `RateLimit-Policy`: all of the caller's own limits, behind the first.
    fn policies(&self, first: Option<&First<'_>>) -> String {
        let is_other = |limit: &&Limit| first.is_none_or(|first| limit.name != first.name);
        let others =
            || self.plan.own_limits().map(|(_, limit)| limit).filter(is_other).map(|limit| &*limit.header_item);
        let items = || first.map(|first| first.item).into_iter().chain(others());
        let mut list = String::with_capacity(items().map(|item| item.len().saturating_add(2)).sum());
        items().for_each(|item| begin_item(&mut list).push_str(item));
        list
    }

    /// Returns `RateLimit`: the limits whose usage is known, behind the one of this `name`.
    fn states(&self, name: &str, state: State) -> String {
        let others = || self.usages.iter().filter(|usage| usage.limit.name != name);
        let sizes = others().map(|usage| usage.limit.name.len().saturating_add(ITEM_SIZE));
        let mut list = String::with_capacity(sizes.fold(name.len().saturating_add(ITEM_SIZE), usize::saturating_add));
        let mut push = |name: &str, State { left, reset }| {
            // Writing to a String cannot fail.
            let _ = write!(begin_item(&mut list), "\"{name}\";r={left};t={reset}");
        };
        push(name, state);
        others().for_each(|LimitUsage { limit, left, more }| {
            push(&limit.name, State { left, reset: more.as_secs_up() });
        });
        list
    }

    /// Adds the headers of those styles that tell of one limit alone.
    fn push_one(&self, first: &First<'_>, headers: &mut Vec<Header>) {
        let First { count, window, state: Some(State { left, reset }), .. } = *first else { return };
        let policy = window.map(|window| ("RateLimit-Policy", format!("{count};w={window}")));
        let (name, reset) = match self.style {
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
                let is_time = self.style == HeaderStyle::LegacyEpoch;
                ("X-RateLimit-Reset", if is_time { self.now.plus(Span::from_secs(reset)).as_secs_up() } else { reset })
            }
        };
        headers.push((name, reset.to_string()));
    }
}

/// Begins one item more of a list (RFC 9651 §3.1).
fn begin_item(list: &mut String) -> &mut String {
    if !list.is_empty() {
        list.push_str(", ");
    }
    list
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
