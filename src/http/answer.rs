//! A problem in the form that its reader wants: JSON, a page, a line of text, or gRPC-Web's.

use crate::http::cors::cors_headers;
use crate::http::negotiate::{AnswerFormat, Language};
use crate::http::page;
use crate::http::problem::Problem;
use crate::http::rate_headers::Header;
use crate::policy::{HeaderStyle, Settings};
use std::fmt::Write as _;

/// What of a request decides how a problem is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// In what form it is read.
    pub reader: AnswerFormat,
    /// The language in which people are spoken to.
    pub language: Language,
    /// What the request would have done.
    pub sends: MethodKind,
    /// `Origin`: the web page that asks, if it is one of another origin.
    pub origin: Option<String>,
}

/// What a request would have done, by its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// GET: it may be sent again at any time.
    Get,
    /// HEAD: the same, and no body is wanted.
    Head,
    /// Any other: nobody but the caller may send it again.
    Other,
}

/// An answer of ours, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// All header fields.
    pub headers: Vec<Header>,
    /// The body; none for HEAD, and none where everything stands in the header.
    pub body: Option<String>,
}

impl Recipient {
    /// Who sends a request, by its method and its headers (`header` is given names in lower case).
    pub fn read(method: &str, header: impl Fn(&str) -> Option<String>) -> Recipient {
        Recipient {
            // What a HEAD would have sent it does not say, and there is no call without a body.
            reader: AnswerFormat::of(
                header("content-type").filter(|_| method != "HEAD").as_deref(),
                header("accept").as_deref(),
            ),
            language: Language::of(header("accept-language").as_deref()),
            sends: match method {
                "GET" => MethodKind::Get,
                "HEAD" => MethodKind::Head,
                _ => MethodKind::Other,
            },
            origin: header("origin"),
        }
    }
}

impl Answer {
    /// `problem`, as `recipient` can read it.
    pub fn new(problem: &Problem<'_>, recipient: &Recipient, settings: &Settings) -> Answer {
        let (content_type, body) = match recipient.reader {
            AnswerFormat::Program => ("application/problem+json", Some(problem.json())),
            AnswerFormat::Person => ("text/html; charset=utf-8", Some(page::page(problem, recipient))),
            AnswerFormat::Text => ("text/plain; charset=utf-8", Some(problem.line())),
            AnswerFormat::GrpcWeb(content_type) => (content_type, None),
        };
        let mut headers = vec![
            ("Content-Type", content_type.to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("Vary", "Accept, Accept-Language, Origin".to_owned()),
        ];
        headers.extend(problem.headers.iter().cloned());
        headers.extend(cors_headers(&settings.cors, settings.headers, recipient));
        let mut status = problem.cause.status();
        match recipient.reader {
            AnswerFormat::Person => {
                headers.push(("Content-Language", recipient.language.tag().to_owned()));
                headers.push(("Content-Security-Policy", page::POLICY.to_owned()));
                headers.push(("X-Content-Type-Options", "nosniff".to_owned()));
                headers.push(("Referrer-Policy", "no-referrer".to_owned()));
            }
            // "Trailers-only": a gRPC answer is 200 whatever happened, and what happened stands in the header.
            AnswerFormat::GrpcWeb(_) => {
                status = 200;
                headers.push(("grpc-status", problem.cause.grpc_status().to_string()));
                headers.push(("grpc-message", grpc_message(problem.line().trim_end())));
            }
            AnswerFormat::Program | AnswerFormat::Text => {}
        }
        let body = body.filter(|_| recipient.sends != MethodKind::Head);
        Answer { status, headers, body }
    }
}

/// The names of all headers by which a refusal is understood.
pub fn refusal_header_names(style: HeaderStyle, reader: AnswerFormat) -> Vec<&'static str> {
    let mut names = vec!["Retry-After", "Link"];
    if matches!(style, HeaderStyle::Draft11 | HeaderStyle::Both) {
        names.extend(["RateLimit", "RateLimit-Policy"]);
    }
    if matches!(style, HeaderStyle::Legacy | HeaderStyle::Both) {
        names.extend(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]);
    }
    if matches!(reader, AnswerFormat::GrpcWeb(_)) {
        names.extend(["Grpc-Status", "Grpc-Message"]);
    }
    names
}

/// Percent-encoded as gRPC has it: what is not a printable ASCII character, and the percent sign itself.
fn grpc_message(text: &str) -> String {
    let mut message = String::with_capacity(text.len());
    for byte in text.bytes() {
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
