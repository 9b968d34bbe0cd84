//! Percent-encoding (RFC 3986 §2.1), one unit at a time.

/// One unit of percent-encoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A byte that stands for itself. A `%` that begins no escape is one.
    Plain(u8),
    /// The byte that an escape such as `%2F` stands for.
    Escaped(u8),
}

/// Returns the first unit of `text` and the text after it. `None`: `text` is empty.
pub(crate) fn next(text: &[u8]) -> Option<(Unit, &[u8])> {
    if let [b'%', high, low, rest @ ..] = text
        && let Some(byte) = byte(*high, *low)
    {
        return Some((Unit::Escaped(byte), rest));
    }
    text.split_first().map(|(first, rest)| (Unit::Plain(*first), rest))
}

/// Returns `byte` as an escape with upper-case digits, the form that RFC 3986 §2.1 asks for.
pub(crate) fn escape(byte: u8) -> [char; 3] {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(byte >> 4), digit(byte & 0xF)]
}

/// Reads two hexadecimal digits. `None`: one of them is not a digit.
fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)?.checked_mul(16)?.checked_add(digit(low)?)?).ok()
}
