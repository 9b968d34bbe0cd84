//! Content negotiation (RFC 9110 §12.5): the format and the language of an answer that Penstock
//! makes itself, by the headers of the request.

use crate::http::accept_list::{AcceptItem, accept_items};
use crate::http::language::{self, Language};
use crate::log::request_id::RequestId;

/// The facts about a request that shape an answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The id of the request, which the answer tells.
    pub request_id: RequestId,
    /// The format that the client reads.
    pub format: AnswerFormat,
    /// The language of a page.
    pub language: Language,
    /// The header `Accept-Language`, which decides among the operator's own texts.
    accept_language: Option<String>,
    /// The request's method, as far as it matters to the answer.
    pub method: MethodKind,
    /// The header `Origin`: the origin of the web page that sent the request. `None` when the
    /// header is absent, and so no page of another origin sent it.
    pub origin: Option<String>,
}

/// A request's method, as far as it matters to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// GET. It has no effect, so a page may send it again by itself.
    Get,
    /// HEAD. It has no effect either, and its answer has no body.
    Head,
    /// Any other method. It may have an effect, so only the client itself may send it again.
    Other,
}

/// The format of an answer that Penstock makes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Problem details in JSON (RFC 9457), for a program. A client without a preference gets them,
    /// and so does one that only accepts formats that Penstock does not have.
    Json,
    /// A page, for a person in a browser.
    Html,
    /// One line of plain text.
    Text,
    /// A gRPC-Web status, all of it in the header section. Holds the content type of the answer.
    GrpcWeb(&'static str),
    /// The error of a unary call by the Connect protocol, in JSON.
    Connect,
    /// The error that ends a stream of the Connect protocol. Holds the content type of the answer.
    ConnectStream(&'static str),
}

/// An item's match with a media type. The more specific match is the greater one; of equally
/// specific matches, the one with the greater weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    specificity: u8,
    quality: u16,
}

/// The formats and their media types, the preferred format first.
const FORMATS: [(AnswerFormat, &[&str]); 3] = [
    (AnswerFormat::Json, &["application/problem+json", "application/json"]),
    (AnswerFormat::Html, &["text/html"]),
    (AnswerFormat::Text, &["text/plain"]),
];

impl Recipient {
    /// Reads a request's method, query and headers. `header` gets names in lower case.
    pub fn read(
        method: &str,
        query: Option<&str>,
        header: impl Fn(&str) -> Option<String>,
        request_id: RequestId,
    ) -> Recipient {
        // A gRPC-Web call always has a body. A HEAD request has no body, so it is not such a call,
        // and its content type is ignored.
        let content_type = header("content-type").filter(|_| method != "HEAD");
        let accept_language = header("accept-language");
        let connect = match method {
            "POST" => connect_post(content_type.as_deref(), header("connect-protocol-version").as_deref()),
            "GET" => query.and_then(connect_get),
            _ => None,
        };
        Recipient {
            request_id,
            format: connect
                .unwrap_or_else(|| AnswerFormat::choose(content_type.as_deref(), header("accept").as_deref())),
            language: Language::choose(accept_language.as_deref()),
            accept_language,
            method: match method {
                "GET" => MethodKind::Get,
                "HEAD" => MethodKind::Head,
                _ => MethodKind::Other,
            },
            origin: header("origin"),
        }
    }

    /// Chooses among an operator's `texts`, each with its language tag (BCP 47).
    pub fn choose_text<'t>(&self, texts: &'t [(String, String)]) -> Option<&'t str> {
        language::choose_text(self.accept_language.as_deref(), texts)
    }
}

impl AnswerFormat {
    /// Chooses the format by the request's headers `Content-Type` and `Accept`.
    ///
    /// The greatest weight wins. At equal weights a media type that is named beats one that only a
    /// wildcard admits. At equal specificity JSON comes before a page, and a page before text.
    pub fn choose(content_type: Option<&str>, accept: Option<&str>) -> AnswerFormat {
        if let Some(format) = content_type.and_then(grpc_web) {
            return format;
        }
        let items: Vec<AcceptItem<'_>> = accept.map(|accept| accept_items(accept).collect()).unwrap_or_default();
        let acceptable = FORMATS.iter().filter_map(|(format, media_types)| {
            let found = media_types.iter().filter_map(|media_type| media_match(&items, media_type)).max()?;
            (found.quality > 0).then_some(((found.quality, found.specificity), *format))
        });
        // Of equal formats the first must win; `max_by_key` would take the last.
        let best = acceptable.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(AnswerFormat::Json, |(_, format)| format)
    }
}

/// Returns the format of the answer to a gRPC-Web call; `None` for any other request. The content
/// type alone marks such a call: `application/grpc-web`, then `-text` when its body is in base64,
/// then a suffix such as `+proto`.
fn grpc_web(content_type: &str) -> Option<AnswerFormat> {
    let essence = essence(content_type);
    let rest = essence.strip_prefix("application/grpc-web")?;
    let (is_base64, suffix) = rest.strip_prefix("-text").map_or((false, rest), |rest| (true, rest));
    let is_grpc_web = suffix.is_empty() || suffix.starts_with('+');
    is_grpc_web.then_some(AnswerFormat::GrpcWeb(if is_base64 {
        "application/grpc-web-text+proto"
    } else {
        "application/grpc-web+proto"
    }))
}

/// Returns the format of the answer to a Connect call by POST; `None` for any other request. The
/// content type marks a stream: `application/connect+`, then the codec. A unary call has the
/// version of the protocol in a header. Its content type is one that other requests have too.
fn connect_post(content_type: Option<&str>, version: Option<&str>) -> Option<AnswerFormat> {
    let essence = content_type.map(essence).unwrap_or_default();
    match essence.strip_prefix("application/connect+") {
        Some("json") => Some(AnswerFormat::ConnectStream("application/connect+json")),
        Some(codec) if !codec.is_empty() => Some(AnswerFormat::ConnectStream("application/connect+proto")),
        _ => {
            let is_call = version == Some("1") && grpc_web(&essence).is_none();
            is_call.then_some(AnswerFormat::Connect)
        }
    }
}

/// The same for a call by GET, which has its version and its message in the query.
fn connect_get(query: &str) -> Option<AnswerFormat> {
    let has = |part: &str| query.split('&').any(|given| given.starts_with(part));
    let is_call = query.split('&').any(|given| given == "connect=v1") && has("message=") && has("encoding=");
    is_call.then_some(AnswerFormat::Connect)
}

/// Returns a media type without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim_matches([' ', '\t']).to_ascii_lowercase()
}

/// Returns how the most specific item matches `media_type`; `None` when no item does.
fn media_match(items: &[AcceptItem<'_>], media_type: &str) -> Option<Match> {
    let main_type = media_type.split('/').next().unwrap_or_default();
    let specificity = |item: &AcceptItem<'_>| match item.range.split_once('/') {
        _ if item.range.eq_ignore_ascii_case(media_type) => Some(if item.has_parameters { 3 } else { 4 }),
        Some((range, "*")) if range.eq_ignore_ascii_case(main_type) => Some(2),
        Some(("*", "*")) => Some(1),
        // A bare `*` is not in RFC 9110, but Java's HTTP client has always sent it.
        None if item.range == "*" => Some(1),
        _ => None,
    };
    let matches =
        items.iter().filter_map(|item| Some(Match { specificity: specificity(item)?, quality: item.quality }));
    matches.max()
}
