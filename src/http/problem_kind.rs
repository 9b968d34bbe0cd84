//! Why an answer is ours and not the origin's: the reasons that bodies, pages and logs name.

use crate::gate::decision::Reason;

/// Why a request did not get the origin's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A limit refused it.
    Limit(Reason),
    /// Its address is not let in.
    Blocked,
    /// The configuration cannot be used, or the origin is this very Worker.
    Misconfigured,
    /// A cap is full.
    Full,
    /// The origin did not answer.
    OriginUnreachable,
    /// The origin did not answer in time.
    OriginTimeout,
}

impl ProblemKind {
    /// As it stands in bodies and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Limit(reason) => reason.as_str(),
            ProblemKind::Blocked => "blocked",
            ProblemKind::Misconfigured => "misconfigured",
            ProblemKind::Full => Reason::OverCapacity.as_str(),
            ProblemKind::OriginUnreachable => "origin_unreachable",
            ProblemKind::OriginTimeout => "origin_timeout",
        }
    }

    /// Its HTTP status.
    pub fn status(self) -> u16 {
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => 429,
            ProblemKind::Limit(Reason::LimiterUnavailable) | ProblemKind::Full => 503,
            ProblemKind::Blocked => 403,
            ProblemKind::Misconfigured => 500,
            ProblemKind::OriginUnreachable => 502,
            ProblemKind::OriginTimeout => 504,
        }
    }

    /// Its gRPC status (<https://grpc.github.io/grpc/core/md_doc_statuscodes.html>).
    pub fn grpc_status(self) -> u8 {
        const DEADLINE_EXCEEDED: u8 = 4;
        const PERMISSION_DENIED: u8 = 7;
        const RESOURCE_EXHAUSTED: u8 = 8;
        const INTERNAL: u8 = 13;
        const UNAVAILABLE: u8 = 14;
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => {
                RESOURCE_EXHAUSTED
            }
            ProblemKind::Limit(Reason::LimiterUnavailable) | ProblemKind::Full | ProblemKind::OriginUnreachable => {
                UNAVAILABLE
            }
            ProblemKind::OriginTimeout => DEADLINE_EXCEEDED,
            ProblemKind::Blocked => PERMISSION_DENIED,
            ProblemKind::Misconfigured => INTERNAL,
        }
    }

    /// Its problem type (RFC 9457 §3.1.1; the first two are draft-ietf-httpapi-ratelimit-headers-11's).
    pub fn kind(self) -> &'static str {
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

    /// Its problem title.
    pub fn title(self) -> &'static str {
        match self {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted) => "Too many requests",
            ProblemKind::Limit(Reason::OverCapacity) | ProblemKind::Full => "Over capacity",
            ProblemKind::Limit(Reason::LimiterUnavailable) => "Service unavailable",
            ProblemKind::Blocked => "Blocked",
            ProblemKind::Misconfigured => "Misconfigured",
            ProblemKind::OriginUnreachable => "Bad gateway",
            ProblemKind::OriginTimeout => "Gateway timeout",
        }
    }
}

impl Reason {
    /// As it stands in bodies and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::RateLimited => "rate_limited",
            Reason::QuotaExhausted => "quota_exhausted",
            Reason::OverCapacity => "over_capacity",
            Reason::LimiterUnavailable => "limiter_unavailable",
        }
    }
}
