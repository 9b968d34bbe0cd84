//! The kinds of problem: each is a cause for an answer that Penstock makes itself, and has its
//! reason, status, type and title.

use crate::gate::decision::Reason;

/// The cause of an answer that Penstock makes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A rate or quota refused the request, or a cap could not be checked.
    Limit(Reason),
    /// The client's address is on a `BLOCK` list.
    Blocked,
    /// The configuration has faults, or the origin leads back to this Worker.
    Misconfigured,
    /// A cap is full.
    Full,
    /// The origin did not answer.
    OriginUnreachable,
    /// The origin did not answer within `timeout`.
    OriginTimeout,
    /// The client brought nothing of the request's body for `upload`.
    UploadTimeout,
}

impl ProblemKind {
    /// The member `reason` of bodies and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Limit(reason) => reason.as_str(),
            ProblemKind::Blocked => "blocked",
            ProblemKind::Misconfigured => "misconfigured",
            ProblemKind::Full => Reason::OverCapacity.as_str(),
            ProblemKind::OriginUnreachable => "origin_unreachable",
            ProblemKind::OriginTimeout => "origin_timeout",
            ProblemKind::UploadTimeout => "upload_timeout",
        }
    }

    /// Whether others are the reason. They also decide whether there is room after the wait.
    pub fn is_crowded(self) -> bool {
        matches!(self, ProblemKind::Limit(Reason::OverCapacity) | ProblemKind::Full)
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => 429,
            ProblemKind::Limit(Reason::LimiterUnavailable) | ProblemKind::Full => 503,
            ProblemKind::Blocked => 403,
            ProblemKind::Misconfigured => 500,
            ProblemKind::OriginUnreachable => 502,
            ProblemKind::OriginTimeout => 504,
            ProblemKind::UploadTimeout => 408,
        }
    }

    /// The member `type` of the member `error`, in the words that clients of large APIs know.
    pub fn error_type(self) -> &'static str {
        match self.status() {
            429 => "rate_limit_error",
            401 => "authentication_error",
            403 => "permission_error",
            _ => "api_error",
        }
    }

    /// The problem type, the member `type` of RFC 9457 §3.1.1. Limits and caps have the types that
    /// draft-ietf-httpapi-ratelimit-headers-11 defines.
    pub fn type_uri(self) -> &'static str {
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted) => {
                "https://iana.org/assignments/http-problem-types#quota-exceeded"
            }
            ProblemKind::Limit(Reason::OverCapacity) | ProblemKind::Full => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
            _ => "about:blank",
        }
    }

    /// The member `title` of RFC 9457.
    pub fn title(self) -> &'static str {
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted) => "Too many requests",
            ProblemKind::Limit(Reason::OverCapacity) | ProblemKind::Full => "Over capacity",
            ProblemKind::Limit(Reason::LimiterUnavailable) => "Service unavailable",
            ProblemKind::Blocked => "Blocked",
            ProblemKind::Misconfigured => "Misconfigured",
            ProblemKind::OriginUnreachable => "Bad gateway",
            ProblemKind::OriginTimeout => "Gateway timeout",
            ProblemKind::UploadTimeout => "Request timeout",
        }
    }
}

impl Reason {
    /// The member `reason` of bodies and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::RateLimited => "rate_limited",
            Reason::QuotaExhausted => "quota_exhausted",
            Reason::OverCapacity => "over_capacity",
            Reason::LimiterUnavailable => "limiter_unavailable",
        }
    }
}
