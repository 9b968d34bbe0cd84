//! How the policy's choices are written: in the configuration, in bodies and in logs alike.

use super::{Binding, Mode, OnError, Policy, Scope};
use crate::limit::rate::Allowance;
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
}

impl Binding {
    fn has_quota(&self) -> bool {
        self.limits.iter().any(|limit| matches!(limit.allowance, Allowance::Quota(_)))
    }
}
