//! Turns a [`Problem`] into the answer that its recipient can read: JSON, a page, a line of text,
//! or the error of an RPC protocol.

use crate::http::cors::cors_headers;
use crate::http::negotiate::{AnswerFormat, MethodKind, Recipient};
use crate::http::problem::Problem;
use crate::http::rate_headers::Header;
use crate::http::refusal_page;
use crate::http::rpc::{self, RpcStatus};
use crate::policy::Settings;
use std::borrow::Cow;

/// An answer that Penstock makes itself, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// All header fields.
    pub headers: Vec<Header>,
    /// The body. `None` for HEAD, and for gRPC-Web, whose answer is in the header section.
    pub body: Option<String>,
    /// Whether the body is the last message of a stream, and is sent in the envelope of one.
    pub ends_stream: bool,
}

impl Answer {
    /// Makes the answer to `recipient` about `problem`.
    pub fn new(problem: &Problem<'_>, recipient: &Recipient, settings: &Settings) -> Answer {
        let (content_type, body) = match recipient.format {
            AnswerFormat::Json => ("application/problem+json", Some(problem.json(recipient))),
            AnswerFormat::Html => ("text/html; charset=utf-8", Some(refusal_page::page(problem, recipient))),
            AnswerFormat::Text => ("text/plain; charset=utf-8", Some(problem.line(recipient))),
            AnswerFormat::GrpcWeb(content_type) => (content_type, None),
            AnswerFormat::Connect => ("application/json", Some(rpc::connect_error(problem, recipient))),
            AnswerFormat::ConnectStream(content_type) => (content_type, Some(rpc::end_of_stream(problem, recipient))),
        };
        let mut headers = vec![
            ("Content-Type", content_type.to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("Vary", "Accept, Accept-Language, Origin".to_owned()),
        ];
        headers.extend(problem.headers.iter().cloned());
        headers.extend(recipient.request_id.header());
        headers.extend(cors_headers(&settings.cors, settings.headers, recipient));
        let mut status = problem.kind.status();
        match recipient.format {
            AnswerFormat::Html => {
                headers.push(("Content-Language", recipient.language.tag().to_owned()));
                headers.push(("Content-Security-Policy", refusal_page::CONTENT_SECURITY_POLICY.to_owned()));
                headers.push(("X-Content-Type-Options", "nosniff".to_owned()));
                headers.push(("Referrer-Policy", "no-referrer".to_owned()));
            }
            // A "Trailers-Only" response of gRPC: the HTTP status is always 200, and the status of
            // the call is in the header section.
            AnswerFormat::GrpcWeb(_) => {
                status = 200;
                headers.push(("grpc-status", RpcStatus::of(problem.kind).number().to_string()));
                headers.push(("grpc-message", rpc::grpc_message(problem, recipient)));
            }
            AnswerFormat::Connect => status = RpcStatus::of(problem.kind).http_status(),
            // A stream has begun well, whatever its last message says.
            AnswerFormat::ConnectStream(_) => status = 200,
            AnswerFormat::Json | AnswerFormat::Text => {}
        }
        let body = body.filter(|_| recipient.method != MethodKind::Head);
        Answer { status, headers, body, ends_stream: matches!(recipient.format, AnswerFormat::ConnectStream(_)) }
    }

    /// The body as it is sent.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        let body = self.body.as_deref()?;
        Some(if self.ends_stream { rpc::last_envelope(body).into() } else { body.as_bytes().into() })
    }
}
