//! A count and its noun in English: `1 request`, `2 requests`.

use std::fmt::Display;

/// Writes `count` and `noun`, which is in the singular and takes an `s` in the plural.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
