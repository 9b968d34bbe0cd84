//! Lists with weights: the headers `Accept` and `Accept-Language` (RFC 9110 §12.5).
//!
//! The headers are the client's text. An item that cannot be parsed is skipped, and parsing takes
//! time linear in the header's length.

/// One item of a list with weights, such as `text/html;level=1;q=0.5`.
pub(super) struct AcceptItem<'a> {
    /// The media type or language range: `text/html`, `text/*`, `en-US`, `*`.
    pub range: &'a str,
    /// True when parameters narrow the range down.
    pub has_parameters: bool,
    /// The weight in thousandths; 0 means "not acceptable".
    pub quality: u16,
}

/// Parses a list with weights. Items that cannot be parsed are left out.
pub(super) fn accept_items(header: &str) -> impl Iterator<Item = AcceptItem<'_>> {
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
