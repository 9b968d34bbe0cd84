//! Content negotiation (RFC 9110 §12.5): the format and the language of an answer that Penstock
//! makes itself, by the headers of the request.
//!
//! The headers are the client's text. An item that cannot be parsed is skipped, and parsing takes
//! time linear in the header's length.

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
}

/// The languages of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, in simplified characters.
    Chinese,
    /// Chinese, in traditional characters.
    TraditionalChinese,
}

/// One item of a list with weights, such as `text/html;level=1;q=0.5`.
struct AcceptItem<'a> {
    /// The media type or language range: `text/html`, `text/*`, `en-US`, `*`.
    range: &'a str,
    /// True when parameters narrow the range down.
    has_parameters: bool,
    /// The weight in thousandths; 0 means "not acceptable".
    quality: u16,
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
    /// Reads a request's method and headers. `header` gets names in lower case.
    pub fn read(method: &str, header: impl Fn(&str) -> Option<String>, request_id: RequestId) -> Recipient {
        // A gRPC-Web call always has a body. A HEAD request has no body, so it is not such a call,
        // and its content type is ignored.
        let content_type = header("content-type").filter(|_| method != "HEAD");
        let accept_language = header("accept-language");
        Recipient {
            request_id,
            format: AnswerFormat::choose(content_type.as_deref(), header("accept").as_deref()),
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
}

impl Recipient {
    /// Chooses among an operator's `texts`, each with its language tag (BCP 47): the text that the
    /// client's languages prefer (RFC 4647 §3.4, lookup), else the English one, else the first.
    pub fn choose_text<'t>(&self, texts: &'t [(String, String)]) -> Option<&'t str> {
        let accept = self.accept_language.as_deref().unwrap_or_default();
        let mut best: Option<(u16, &(String, String))> = None;
        for item in accept_items(accept) {
            // Of equal weights the first in the header counts.
            if item.quality > best.map_or(0, |(quality, _)| quality)
                && let Some(found) = lookup(item.range, texts)
            {
                best = Some((item.quality, found));
            }
        }
        let found = best.map(|(_, found)| found).or_else(|| lookup("en", texts)).or(texts.first());
        found.map(|(_, text)| text.as_str())
    }
}

/// Returns the text for a language range: one with its tag, or with the tag cut short from the end,
/// or with a narrower tag.
fn lookup<'t>(range: &str, texts: &'t [(String, String)]) -> Option<&'t (String, String)> {
    let mut range = range;
    loop {
        let narrower = |tag: &str| {
            let head = tag.get(..range.len()).filter(|head| head.eq_ignore_ascii_case(range));
            head.is_some() && tag.as_bytes().get(range.len()).is_none_or(|next| *next == b'-')
        };
        if let Some(found) = texts.iter().find(|(tag, _)| narrower(tag)) {
            return Some(found);
        }
        range = range.rsplit_once('-')?.0;
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

impl Language {
    /// Chooses the language with the greatest weight in the header `Accept-Language`. At equal
    /// weights the first in the header wins. English when the header accepts neither language.
    pub fn choose(accept_language: Option<&str>) -> Language {
        let items: Vec<AcceptItem<'_>> =
            accept_language.map(|accept| accept_items(accept).collect()).unwrap_or_default();
        let best = |language: Language| {
            // Earlier items get the greater number, so `max` takes the first of equal items.
            let numbered = items.iter().zip((0..=u32::MAX).rev());
            numbered.filter_map(|(item, number)| Some((language.specificity(item.range)?, item.quality, number))).max()
        };
        let rank = |language| best(language).map(|(_, quality, number)| (quality, number));
        let better = |known: Language, next: Language| match rank(next) {
            Some((quality, _)) if quality > 0 && rank(next) > rank(known) => next,
            _ => known,
        };
        [Language::Chinese, Language::TraditionalChinese].into_iter().fold(Language::English, better)
    }

    /// The language tag for `lang` and `Content-Language` (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-Hans",
            Language::TraditionalChinese => "zh-Hant",
        }
    }

    /// Returns how specifically a language range names this language: 2 by its subtags, as in `zh`
    /// or `zh-TW`; 1 by `*`; `None` when the range is for another language.
    fn specificity(self, range: &str) -> Option<u8> {
        if range == "*" {
            return Some(1);
        }
        let mut subtags = range.split(['-', '_']);
        let primary = subtags.next().unwrap_or(range);
        let named = match self {
            Language::English => primary.eq_ignore_ascii_case("en"),
            Language::Chinese => primary.eq_ignore_ascii_case("zh") && !is_traditional(subtags),
            Language::TraditionalChinese => primary.eq_ignore_ascii_case("zh") && is_traditional(subtags),
        };
        named.then_some(2)
    }
}

/// Whether Chinese with these subtags (BCP 47) is written in traditional characters: by its script,
/// else by its region.
fn is_traditional<'a>(subtags: impl Iterator<Item = &'a str>) -> bool {
    let known = [("hans", false), ("hant", true), ("tw", true), ("hk", true), ("mo", true)];
    let named = |subtag: &str| known.iter().find(|(name, _)| subtag.eq_ignore_ascii_case(name));
    subtags.filter_map(named).next().is_some_and(|(_, traditional)| *traditional)
}

/// Returns the format of the answer to a gRPC-Web call; `None` for any other request. The content
/// type alone marks such a call: `application/grpc-web`, then `-text` when its body is in base64,
/// then a suffix such as `+proto`.
fn grpc_web(content_type: &str) -> Option<AnswerFormat> {
    let essence = content_type.split(';').next().unwrap_or_default().trim_matches([' ', '\t']).to_ascii_lowercase();
    let rest = essence.strip_prefix("application/grpc-web")?;
    let (is_base64, suffix) = rest.strip_prefix("-text").map_or((false, rest), |rest| (true, rest));
    let is_grpc_web = suffix.is_empty() || suffix.starts_with('+');
    is_grpc_web.then_some(AnswerFormat::GrpcWeb(if is_base64 {
        "application/grpc-web-text+proto"
    } else {
        "application/grpc-web+proto"
    }))
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

/// Parses a list with weights. Items that cannot be parsed are left out.
fn accept_items(header: &str) -> impl Iterator<Item = AcceptItem<'_>> {
    split_unquoted(header, ',').filter_map(|text| {
        let mut parts = split_unquoted(text, ';').map(|part| part.trim_matches([' ', '\t']));
        let range = parts.next().filter(|range| !range.is_empty())?;
        let mut item = AcceptItem { range, has_parameters: false, quality: 1_000 };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "q" | "Q" => item.quality = parse_quality(value)?,
                // A charset narrows nothing down: each answer is in UTF-8, and clients ask for
                // UTF-8.
                _ if name.eq_ignore_ascii_case("charset") => {}
                _ => item.has_parameters = true,
            }
        }
        Some(item)
    })
}

/// Splits `text` at each `separator` outside of quoted strings (RFC 9110 §5.6.4).
fn split_unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |letter: char| {
        if core::mem::take(&mut escaped) {
            return false;
        }
        match letter {
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return letter == separator && !quoted,
        }
        false
    })
}

/// Parses a weight (RFC 9110 §12.4.2) into thousandths. Accepts a missing leading zero and more
/// than three digits, since clients send both. `None` when it is not a number from 0 to 1.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.is_empty() || text == "." || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain([b'0'; 3]).take(3);
    let thousandths =
        digits.fold(0_u16, |sum, digit| sum.saturating_mul(10).saturating_add(u16::from(digit.saturating_sub(b'0'))));
    match whole {
        "0" | "" => Some(thousandths),
        "1" if thousandths == 0 => Some(1_000),
        _ => None,
    }
}
