//! Why an answer is ours and not the origin's: the reasons that bodies, pages and logs name.

use crate::gate::decision::Reason;

/// Why a request did not get the origin's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
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

impl Cause {
    /// As it stands in bodies and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::Limit(reason) => reason.as_str(),
            Cause::Blocked => "blocked",
            Cause::Misconfigured => "misconfigured",
            Cause::Full => Reason::OverCapacity.as_str(),
            Cause::OriginUnreachable => "origin_unreachable",
            Cause::OriginTimeout => "origin_timeout",
        }
    }

    /// Its HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Cause::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => 429,
            Cause::Limit(Reason::LimiterUnavailable) | Cause::Full => 503,
            Cause::Blocked => 403,
            Cause::Misconfigured => 500,
            Cause::OriginUnreachable => 502,
            Cause::OriginTimeout => 504,
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
            Cause::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => RESOURCE_EXHAUSTED,
            Cause::Limit(Reason::LimiterUnavailable) | Cause::Full | Cause::OriginUnreachable => UNAVAILABLE,
            Cause::OriginTimeout => DEADLINE_EXCEEDED,
            Cause::Blocked => PERMISSION_DENIED,
            Cause::Misconfigured => INTERNAL,
        }
    }

    /// Its problem type (RFC 9457 §3.1.1; the first two are draft-ietf-httpapi-ratelimit-headers-11's).
    pub fn kind(self) -> &'static str {
        match self {
            Cause::Limit(Reason::RateLimited | Reason::QuotaExhausted) => {
                "https://iana.org/assignments/http-problem-types#quota-exceeded"
            }
            Cause::Limit(Reason::OverCapacity) | Cause::Full => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
            _ => "about:blank",
        }
    }

    /// Its problem title.
    pub fn title(self) -> &'static str {
        match self {
            Cause::Limit(Reason::RateLimited | Reason::QuotaExhausted) => "Too many requests",
            Cause::Limit(Reason::OverCapacity) | Cause::Full => "Over capacity",
            Cause::Limit(Reason::LimiterUnavailable) => "Service unavailable",
            Cause::Blocked => "Blocked",
            Cause::Misconfigured => "Misconfigured",
            Cause::OriginUnreachable => "Bad gateway",
            Cause::OriginTimeout => "Gateway timeout",
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
