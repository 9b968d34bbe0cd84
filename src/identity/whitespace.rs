//! Optional whitespace in headers (RFC 9110 §5.6.3).

/// Returns `text` without the spaces and tabs at either end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}
