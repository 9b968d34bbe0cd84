//! A URL's query, read as `application/x-www-form-urlencoded`: decoded once, `+` a space.

use crate::identity::percent::{self, Unit};

/// The value of the first parameter called `name` (decoded, case kept) that is not blank. Bytes, since nothing obliges a caller
/// to send UTF-8.
pub(super) fn value(query: &str, name: &str) -> Option<Vec<u8>> {
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .filter(|(found, _)| decoded(found) == name.as_bytes())
        .map(|(_, value)| decoded(value))
        .find(|value| value.iter().any(|byte| !matches!(byte, b' ' | b'\t')))
}

fn decoded(text: &str) -> Vec<u8> {
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
