//! The `Cookie` header (RFC 6265 §4.2.1).

use super::trim;

/// The value of the first cookie called `name`, case and all, without the double quotes that may enclose it.
pub(super) fn value<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .find(|(found, _)| trim(found) == name)
        .map(|(_, value)| unquoted(trim(value)))
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}
