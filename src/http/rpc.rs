//! Problems as the errors of RPC protocols: gRPC-Web, and Connect
//! (<https://connectrpc.com/docs/protocol>).

use crate::gate::decision::Reason;
use crate::http::negotiate::Recipient;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use std::fmt::Write as _;

/// The result of a call, as gRPC and Connect name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcStatus {
    /// The origin did not answer in time.
    DeadlineExceeded,
    /// The caller may not do this at all.
    PermissionDenied,
    /// A rate or a quota has no room.
    ResourceExhausted,
    /// The configuration has faults.
    Internal,
    /// The service is full, or cannot be reached.
    Unavailable,
}

/// The flag of an envelope that holds the last message of a stream.
const END_OF_STREAM: u8 = 2;

impl RpcStatus {
    /// The status of a call that met this kind of problem.
    pub fn of(kind: ProblemKind) -> RpcStatus {
        match kind {
            ProblemKind::Limit(Reason::RateLimited | Reason::QuotaExhausted | Reason::OverCapacity) => {
                RpcStatus::ResourceExhausted
            }
            ProblemKind::Limit(Reason::LimiterUnavailable) | ProblemKind::Full | ProblemKind::OriginUnreachable => {
                RpcStatus::Unavailable
            }
            ProblemKind::OriginTimeout | ProblemKind::UploadTimeout => RpcStatus::DeadlineExceeded,
            ProblemKind::Blocked => RpcStatus::PermissionDenied,
            ProblemKind::Misconfigured => RpcStatus::Internal,
        }
    }

    /// The number in gRPC (<https://grpc.github.io/grpc/core/md_doc_statuscodes.html>).
    pub fn number(self) -> u8 {
        match self {
            RpcStatus::DeadlineExceeded => 4,
            RpcStatus::PermissionDenied => 7,
            RpcStatus::ResourceExhausted => 8,
            RpcStatus::Internal => 13,
            RpcStatus::Unavailable => 14,
        }
    }

    /// The name in Connect.
    pub fn code(self) -> &'static str {
        match self {
            RpcStatus::DeadlineExceeded => "deadline_exceeded",
            RpcStatus::PermissionDenied => "permission_denied",
            RpcStatus::ResourceExhausted => "resource_exhausted",
            RpcStatus::Internal => "internal",
            RpcStatus::Unavailable => "unavailable",
        }
    }

    /// The HTTP status that Connect prescribes for it in an answer to a unary call.
    pub fn http_status(self) -> u16 {
        match self {
            RpcStatus::DeadlineExceeded => 504,
            RpcStatus::PermissionDenied => 403,
            RpcStatus::ResourceExhausted => 429,
            RpcStatus::Internal => 500,
            RpcStatus::Unavailable => 503,
        }
    }
}

/// The text of the header `grpc-message`: each byte that is not printable ASCII, and the percent
/// sign, is percent-encoded.
pub fn grpc_message(problem: &Problem<'_>, recipient: &Recipient) -> String {
    let text = problem.line(recipient);
    let mut message = String::with_capacity(text.len());
    for byte in text.trim_end().bytes() {
        match byte {
            b'%' | 0..b' ' | 0x7f.. => {
                // Writing to a String cannot fail.
                let _ = write!(message, "%{byte:02X}");
            }
            _ => message.push(char::from(byte)),
        }
    }
    message
}

/// The body that answers a unary Connect call: the error of a Connect call in JSON.
pub fn connect_error(problem: &Problem<'_>, recipient: &Recipient) -> String {
    let message = serde_json::to_string(problem.line(recipient).trim_end()).unwrap_or_default();
    ["{\"code\":\"", RpcStatus::of(problem.kind).code(), "\",\"message\":", &message, "}"].concat()
}

/// The last message of a streaming Connect call, which ends the stream with an error. It has no
/// metadata of its own: clients join them with the headers, and would read `Retry-After` twice.
pub fn end_of_stream(problem: &Problem<'_>, recipient: &Recipient) -> String {
    ["{\"error\":", &connect_error(problem, recipient), "}"].concat()
}

/// Puts the last message of a stream into its envelope: a byte of flags, the length in four bytes,
/// and the message.
pub fn last_envelope(message: &str) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[END_OF_STREAM], length.to_be_bytes().as_slice(), message.as_bytes()].concat()
}
