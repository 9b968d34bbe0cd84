//! The `Cookie` header (RFC 6265 §4.2.1).

use crate::identity::trim;

/// The value of the first cookie called `name`, case and all, that is not blank, without the double quotes that may enclose it.
///
/// Several `Cookie` lines arrive as one, with ", " between them, which no value may hold (RFC 6265 §4.1.1): it ends there, and one that is
/// found in no other way is looked for behind it.
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
