//! `message` and `docs`: the operator's own words in the refusals of a binding.

use serde_json::Value;

use crate::policy::{origin, value};

/// The longest `message` in characters, and the longest `docs` in bytes. It has room for a few
/// sentences; a longer text belongs on the page that `docs` links to.
const MAX_LENGTH: usize = 500;

/// The operator's own words in a refusal. Both are safe in one line of text, and `docs` also in a
/// header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorMessage<'p> {
    /// `message`: a sentence or two. `None`: the binding has no such field.
    pub message: Option<&'p str>,
    /// `docs`: an http or https URL. `None`: the binding has no such field.
    pub docs: Option<&'p str>,
}

/// Reads `message`: a text of one line.
pub(super) fn message(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a sentence or two")?;
    let count = text.chars().count();
    let breaks_lines = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    if text.trim().is_empty() {
        Err("empty, expected a sentence or two".to_owned())
    } else if count > MAX_LENGTH {
        Err(format!("{count} characters, expected at most {MAX_LENGTH}"))
    } else if let Some(letter) = text.chars().find(|letter| breaks_lines(*letter)) {
        Err(format!("has the control character {letter:?}, expected text on one line"))
    } else {
        Ok(text.to_owned())
    }
}

/// Reads `docs`: an http or https URL.
pub(super) fn docs(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a URL such as \"https://example.com/docs/limits\"")?;
    let wrong =
        |problem: &str| format!("{text:?}: {problem}, expected a URL such as \"https://example.com/docs/limits\"");
    if text.len() > MAX_LENGTH {
        return Err(format!("{} characters, expected at most {MAX_LENGTH}", text.len()));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("not a URL"))?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(wrong("neither http nor https"));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    origin::authority_name(authority).ok_or_else(|| wrong("its host cannot be read"))?;
    // The characters of a URL (RFC 3986 §2). All others have to be escaped.
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    if !rest.bytes().all(good) {
        return Err(wrong("has characters that cannot stand in a URL as they are"));
    }
    Ok(text.to_owned())
}
