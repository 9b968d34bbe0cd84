//! The `Cookie` header (RFC 6265 §4.2.1).

use super::trim;

/// The value of the first cookie called `name`, case and all, that is not blank, without the double quotes that may enclose it.
pub(super) fn value<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .filter(|(found, _)| trim(found) == name)
        .map(|(_, value)| unquoted(trim(value)))
        .find(|value| !trim(value).is_empty())
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}
