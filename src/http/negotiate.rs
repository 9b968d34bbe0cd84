//! Who reads an answer of ours, by what the request asks for (RFC 9110 §12.5).
//!
//! Whatever is sent here is somebody else's text: an item that cannot be read is passed over, and reading is linear in
//! the header's length.

/// In what form an answer of ours is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// By a program: problem details. Whoever has no preference, or one for what we do not have, gets these.
    Program,
    /// By a person in a browser.
    Person,
    /// As plain text.
    Text,
    /// By a gRPC-Web client, whose answers have this content type.
    GrpcWeb(&'static str),
}

/// The languages that people are spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, in simplified characters.
    Chinese,
}

/// One item of a list with weights: `text/html;level=1;q=0.5`.
struct AcceptItem<'a> {
    range: &'a str,
    /// Whether it has parameters that narrow it down.
    narrowed: bool,
    /// In thousandths; 0 is "not at all".
    quality: u16,
}

/// How well an item speaks of a candidate, and what it says: the better match counts, then the greater weight.
type Match = (u8, u16);

const JSON: &[&str] = &["application/problem+json", "application/json"];
const READERS: [(AnswerFormat, &[&str]); 3] =
    [(AnswerFormat::Program, JSON), (AnswerFormat::Person, &["text/html"]), (AnswerFormat::Text, &["text/plain"])];

impl AnswerFormat {
    /// Who asks, by the headers `Content-Type` and `Accept`.
    ///
    /// The greatest weight wins; of equal ones the type that was named beats one that only a `*` lets in, and then
    /// problem details come before a page, and a page before text.
    pub fn of(content_type: Option<&str>, accept: Option<&str>) -> AnswerFormat {
        if let Some(reader) = content_type.and_then(grpc_web) {
            return reader;
        }
        let items: Vec<AcceptItem<'_>> = accept.map(|accept| items(accept).collect()).unwrap_or_default();
        let weighed = READERS.iter().filter_map(|(reader, names)| {
            let (how, quality) = names.iter().filter_map(|name| media_match(&items, name)).max()?;
            (quality > 0).then_some(((quality, how), *reader))
        });
        // Of equal ones `max_by_key` would take the last.
        let best = weighed.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(AnswerFormat::Program, |(_, reader)| reader)
    }
}

impl Language {
    /// The language that `Accept-Language` likes best; of equal ones the first, and English where it likes neither.
    pub fn of(accept_language: Option<&str>) -> Language {
        let items: Vec<AcceptItem<'_>> = accept_language.map(|accept| items(accept).collect()).unwrap_or_default();
        let likes = |language: Language| {
            let placed = items.iter().zip((0..=u32::MAX).rev());
            placed.filter_map(|(item, place)| Some((language.matched(item.range)?, item.quality, place))).max()
        };
        let english = likes(Language::English).map(|(_, quality, place)| (quality, place));
        let chinese = likes(Language::Chinese).map(|(_, quality, place)| (quality, place));
        match chinese {
            Some((quality, _)) if quality > 0 && chinese > english => Language::Chinese,
            _ => Language::English,
        }
    }

    /// As `lang` and `Content-Language` have it (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-Hans",
        }
    }

    /// How well a language range names it: by its own name or that of one of its kinds, or by `*`.
    fn matched(self, range: &str) -> Option<u8> {
        let primary = range.split(['-', '_']).next().unwrap_or(range);
        let name = match self {
            Language::English => "en",
            Language::Chinese => "zh",
        };
        match range {
            "*" => Some(1),
            _ => primary.eq_ignore_ascii_case(name).then_some(2),
        }
    }
}

/// gRPC-Web says what it is by its request's type alone: `application/grpc-web`, `-text` for one in base64, `+proto`.
fn grpc_web(content_type: &str) -> Option<AnswerFormat> {
    let essence = content_type.split(';').next().unwrap_or_default().trim_matches([' ', '\t']).to_ascii_lowercase();
    let rest = essence.strip_prefix("application/grpc-web")?;
    let (text, rest) = rest.strip_prefix("-text").map_or((false, rest), |rest| (true, rest));
    let known = rest.is_empty() || rest.starts_with('+');
    known.then_some(AnswerFormat::GrpcWeb(if text {
        "application/grpc-web-text+proto"
    } else {
        "application/grpc-web+proto"
    }))
}

/// What the most specific item says of the media type `name`.
fn media_match(items: &[AcceptItem<'_>], name: &str) -> Option<Match> {
    let kind = name.split('/').next().unwrap_or_default();
    let how = |item: &AcceptItem<'_>| match item.range.split_once('/') {
        _ if item.range.eq_ignore_ascii_case(name) => Some(if item.narrowed { 3 } else { 4 }),
        Some((range, "*")) if range.eq_ignore_ascii_case(kind) => Some(2),
        Some(("*", "*")) => Some(1),
        // Not RFC 9110's, but Java's for as long as one can remember.
        None if item.range == "*" => Some(1),
        _ => None,
    };
    items.iter().filter_map(|item| Some((how(item)?, item.quality))).max()
}

/// The items of a list that can be read.
fn items(header: &str) -> impl Iterator<Item = AcceptItem<'_>> {
    split(header, ',').filter_map(|item| {
        let mut parts = split(item, ';').map(|part| part.trim_matches([' ', '\t']));
        let mut read =
            AcceptItem { range: parts.next().filter(|range| !range.is_empty())?, narrowed: false, quality: 1_000 };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "q" | "Q" => read.quality = thousandths(value)?,
                // What we send is in UTF-8, and so is what is asked for.
                _ if name.eq_ignore_ascii_case("charset") => {}
                _ => read.narrowed = true,
            }
        }
        Some(read)
    })
}

/// `text` in pieces at each `separator` outside of quotes (RFC 9110 §5.6.4).
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
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

/// A weight (RFC 9110 §12.4.2) in thousandths. A missing zero and more digits than three are let pass, as clients send them.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.is_empty() || text == "." || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain([b'0'; 3]).take(3);
    let part =
        digits.fold(0_u16, |sum, digit| sum.saturating_mul(10).saturating_add(u16::from(digit.saturating_sub(b'0'))));
    match whole {
        "0" | "" => Some(part),
        "1" if part == 0 => Some(1_000),
        _ => None,
    }
}
