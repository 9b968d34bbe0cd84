//! The `Cookie` header (RFC 6265 §4.2.1).

use crate::identity::whitespace::trim;

/// Returns the value of the first cookie `name` that is not blank, without the double quotes that
/// may enclose it. Case counts in the name. `None`: no such cookie was sent.
///
/// Several `Cookie` lines arrive as one text, joined by `, `. No value may hold a comma (RFC 6265
/// §4.1.1), so a value ends there. A cookie that stands behind such a comma is the second choice.
pub(super) fn value<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let find = |separators: &[char]| {
        header
            .split(separators)
            .filter_map(|pair| pair.split_once('='))
            .filter(|(found, _)| trim(found) == name)
            .map(|(_, value)| unquoted(trim(value.split_once(", ").map_or(value, |(value, _)| value))))
            .find(|value| !trim(value).is_empty())
    };
    find(&[';']).or_else(|| find(&[';', ',']))
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}
