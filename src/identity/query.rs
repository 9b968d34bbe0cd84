//! A URL's query as `application/x-www-form-urlencoded`: decoded once, with `+` as a space.

use crate::identity::percent::{self, Unit};

/// Returns the decoded value of the first parameter `name` that is not blank. Case counts in the
/// name. The value is bytes, because a client may send any. `None`: no such parameter was sent.
pub(super) fn value(query: &str, name: &str) -> Option<Vec<u8>> {
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .filter(|(found, _)| decode(found) == name.as_bytes())
        .map(|(_, value)| decode(value))
        .find(|value| value.iter().any(|byte| !matches!(byte, b' ' | b'\t')))
}

fn decode(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((unit, after)) = percent::next(rest) {
        bytes.push(match unit {
            Unit::Plain(b'+') => b' ',
            Unit::Plain(byte) | Unit::Escaped(byte) => byte,
        });
        rest = after;
    }
    bytes
}
