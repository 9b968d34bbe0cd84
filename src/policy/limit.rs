//! One limit of a binding, and its choices: scope, mode and `on_error`.
//!
//! The texts of the choices stand here in both directions: as the configuration writes them, and as
//! refusals and logs print them.

use core::fmt;

use crate::limit::rate::Allowance;
use crate::limit::time::Span;

const DAY_SECS: u64 = 24 * 60 * 60;

/// One rate or quota of one binding and scope.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The name in refusals, headers and logs: `login/ip`, `api/key-2`.
    pub name: String,
    /// Its item of the header `RateLimit-Policy`: `"login/ip";q=5;w=60`.
    pub header_item: String,
    /// The name of its binding: `login`, `base`.
    pub binding: String,
    /// The identity of its counter, which does not depend on the limit's place, count or burst; see
    /// [`counter`](crate::policy::counter).
    pub counter: String,
    /// A digest of `counter`: the limit's short name within one isolate.
    pub number: u64,
    /// The requests that are counted together.
    pub scope: Scope,
    /// The rate or quota.
    pub allowance: Allowance,
    /// Tokens that one request takes, from 1 to the burst of the rate or the day's count of the
    /// quota.
    pub cost: u64,
    /// Whether the limit refuses, or only decides, counts and logs.
    pub mode: Mode,
    /// The result for a request if the limit cannot be checked.
    pub on_error: OnError,
    /// How long a `global` rate takes to open after a cold start; zero if it is open at once, and
    /// for every other limit.
    pub warmup: Span,
}

impl Limit {
    /// Whether the limit refuses, rather than only logs that it would.
    pub fn enforces(&self) -> bool {
        self.mode == Mode::Enforce
    }

    /// The tokens of a period: 100 of `100/s` as of `100/day`.
    pub fn count(&self) -> u64 {
        match &self.allowance {
            Allowance::Rate(rate) => rate.count(),
            Allowance::Quota(quota) => quota.count(),
        }
    }

    /// The period in seconds. A day of the calendar may last an hour more or less.
    pub fn window_secs(&self) -> u64 {
        match &self.allowance {
            Allowance::Rate(rate) => rate.period().as_secs_up(),
            Allowance::Quota(_) => DAY_SECS,
        }
    }

    /// Sets the item for headers, which follows from the other parts.
    pub(super) fn set_header_item(&mut self) {
        self.header_item = format!("\"{}\";q={};w={}", self.name, self.count(), self.window_secs());
    }

    /// Whether it is a quota of calendar days.
    pub fn is_quota(&self) -> bool {
        matches!(self.allowance, Allowance::Quota(_))
    }
}

/// The requests that a limit counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// `per_ip`: the requests from one client address.
    Ip,
    /// `per_key`: the requests with one key.
    Key,
    /// `global`: all requests.
    Global,
}

/// Whether a limit refuses. A limit with `mode = "off"` is validated and then left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The limit refuses.
    Enforce,
    /// The limit decides, counts and logs, and refuses nobody.
    Shadow,
}

/// The result for a request if a limit cannot be checked within the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Each isolate counts for itself.
    Local,
    /// The request passes.
    Open,
    /// The request is refused.
    Closed,
}

/// The fields that hold limits. A request meets the limits in this order.
pub(super) const SCOPES: &[(&str, Scope)] =
    &[("per_ip", Scope::Ip), ("per_key", Scope::Key), ("global", Scope::Global)];

/// The values of `mode`. `None` is `off`.
pub(super) const MODES: &[(&str, Option<Mode>)] =
    &[("enforce", Some(Mode::Enforce)), ("shadow", Some(Mode::Shadow)), ("off", None)];

/// The values of `on_error`.
pub(super) const ON_ERROR: &[(&str, OnError)] =
    &[("local", OnError::Local), ("open", OnError::Open), ("closed", OnError::Closed)];

impl Scope {
    /// Returns `ip`, `key` or `global`.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Ip => "ip",
            Scope::Key => "key",
            Scope::Global => "global",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Enforce => "enforce",
            Mode::Shadow => "shadow",
        })
    }
}

impl OnError {
    /// Returns the promise that holds while a limit cannot be checked, in a few words.
    pub fn guarantee(self) -> &'static str {
        match self {
            OnError::Local => "each isolate counts for itself, no caller gets more than the limit from one",
            OnError::Open => "requests pass uncounted, the limiter costs nobody a request",
            OnError::Closed => "requests are refused, never more than the limit reaches the origin",
        }
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnError::Local => "local",
            OnError::Open => "open",
            OnError::Closed => "closed",
        })
    }
}
