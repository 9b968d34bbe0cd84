//! How the policy's choices are written: in the configuration, in bodies and in logs alike.

use crate::identity::KeySource;
use crate::limit::rate::Allowance;
use crate::policy::{Binding, Limit, Mode, OnError, Policy, Scope};
use core::fmt;

impl Scope {
    /// `ip`, `key` or `global`.
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
    /// What holds while a limit cannot be checked, in a few words.
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

impl Policy {
    /// Whether any limit is a daily quota, which needs D1.
    pub fn has_quota(&self) -> bool {
        self.base.iter().chain(&self.bindings).any(Binding::has_quota)
    }

    /// The limit of that [`number`](crate::policy::Limit::number), and its binding.
    pub fn limit(&self, number: u32) -> Option<(&Binding, &Limit)> {
        let of = |binding| move |limit| (binding, limit);
        let mut limits = self.base.iter().chain(&self.bindings).flat_map(|b: &Binding| b.limits.iter().map(of(b)));
        limits.find(|(_, limit): &(&Binding, &Limit)| limit.number == number)
    }

    /// The headers in which callers of limited bindings put their keys, some of them perhaps more than once.
    pub fn key_headers(&self) -> impl Iterator<Item = &str> {
        let keyed = self.base.iter().chain(&self.bindings).filter(|binding| binding.counts_keys());
        keyed.flat_map(|binding| binding.key.iter().filter_map(KeySource::header))
    }
}

impl Binding {
    fn counts_keys(&self) -> bool {
        self.limits.iter().any(|limit| limit.scope == Scope::Key)
    }

    fn has_quota(&self) -> bool {
        self.limits.iter().any(|limit| matches!(limit.allowance, Allowance::Quota(_)))
    }
}
