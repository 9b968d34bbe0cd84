//! The incoming request. Its headers are read in two batches: one on every request, and one only
//! when Penstock answers the request itself.

use crate::http::fetch_api::HeaderNames;
use crate::http::loop_detection;
use crate::http::target::Target;
use crate::identity::HeadersAndQuery;
use crate::log::lines::LoggedRequest;
use crate::log::request_id::RequestId;
use crate::policy::Policy;
use std::cell::OnceCell;
use web_sys::{Request, Url};
use worker::js_sys::Math;

thread_local! {
    /// The second batch: the headers that an answer of Penstock's own or its log line depends on.
    static ANSWER_HEADERS: HeaderNames =
        HeaderNames::new(["accept", "accept-language", "cf-ray", "connect-protocol-version", "content-type", "origin"]);
}

/// A request's method, URL and headers.
pub struct Incoming<'a> {
    /// The runtime's request.
    pub request: &'a Request,
    /// The method.
    pub method: &'a str,
    /// The URL.
    pub url: &'a str,
    /// The parts of the URL.
    pub target: Target<'a>,
    /// The names of the first batch.
    names: &'a HeaderNames,
    /// The values of the first batch.
    values: &'a str,
    /// The values of the second batch, once one of them was read.
    answer_values: OnceCell<String>,
    /// The id, once an answer or a log line needs it.
    request_id: OnceCell<RequestId>,
}

/// Returns the headers of the first batch: all that a decision under `policy` depends on.
pub fn header_names(policy: &Policy) -> HeaderNames {
    let mut names = vec![loop_detection::HEADER, "cf-connecting-ip", "upgrade"];
    for name in policy.key_headers() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    HeaderNames::new(names)
}

/// Reads the method, the URL and the headers `names` of `request` into a text for
/// [`Incoming::parse`].
///
/// A URL whose host is not plain is replaced by its canonical form (URL standard), which is the
/// form that will be forwarded. A URL that cannot be parsed stays as it is.
pub fn text_of(request: &Request, names: &HeaderNames) -> String {
    let text = names.request_text(request);
    let mut lines = text.splitn(3, '\n');
    match (lines.next(), lines.next(), lines.next()) {
        (Some(method), Some(url), Some(values)) if !Target::has_plain_host(url) => {
            // `OPTIONS *` asks about the whole server. Its `*` is not a path.
            let whole_server = url.strip_suffix('*').filter(|_| Target::parse(url).path_and_query.is_empty());
            let canonical =
                Url::new(whole_server.unwrap_or(url)).map_or_else(|_| url.to_owned(), |parsed| parsed.href());
            [method, &canonical, values].join("\n")
        }
        _ => text,
    }
}

impl<'a> Incoming<'a> {
    /// Parses the `text` that [`text_of`] has read with the same `request` and `names`.
    pub fn parse(request: &'a Request, names: &'a HeaderNames, text: &'a str) -> Incoming<'a> {
        let mut lines = text.splitn(3, '\n');
        let (method, url) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let values = lines.next().unwrap_or_default();
        Incoming {
            request,
            method,
            url,
            target: Target::parse(url),
            names,
            values,
            answer_values: OnceCell::new(),
            request_id: OnceCell::new(),
        }
    }

    /// This request, as log lines name it.
    pub fn logged(&self) -> LoggedRequest<'_> {
        LoggedRequest { method: self.method, path: self.target.path(), id: self.request_id() }
    }

    /// The id of this request, always the same.
    pub fn request_id(&self) -> &RequestId {
        self.request_id.get_or_init(|| RequestId::new(self.header("cf-ray").as_deref(), random_bits()))
    }
}

impl HeadersAndQuery for Incoming<'_> {
    fn header(&self, name: &str) -> Option<String> {
        if let Some(value) = self.names.find(self.values, name) {
            return value.map(str::to_owned);
        }
        let in_second_batch = ANSWER_HEADERS.with(|names| {
            names.find("", name)?;
            let values = self.answer_values.get_or_init(|| names.values(self.request));
            Some(names.find(values, name).flatten().map(str::to_owned))
        });
        in_second_batch.unwrap_or_else(|| self.request.headers().get(name).ok().flatten())
    }

    fn query(&self) -> Option<&str> {
        self.target.query()
    }
}

/// 64 random bits. Ids of requests are no secrets, so they need not be unpredictable.
fn random_bits() -> u64 {
    // A random number of the runtime has 52 random bits, with its exponent above them.
    let mix = |shift: u32| Math::random().to_bits().rotate_left(shift);
    mix(0) ^ mix(32)
}
