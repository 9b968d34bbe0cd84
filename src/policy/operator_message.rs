//! `message`, `docs` and `support`: the operator's own words in the refusals of a binding.

use serde_json::Value;

use crate::limit::counted::counted;
use crate::policy::{origin, value};

/// The longest `message` in characters, and the longest `docs` in bytes. It has room for a few
/// sentences; a longer text belongs on the page that `docs` links to.
const MAX_LENGTH: usize = 500;

/// The operator's own words in a refusal. All are safe in one line of text, and `docs` also in a
/// header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorMessage<'p> {
    /// `message`: a sentence or two, each with its language tag (BCP 47). A text that is for every
    /// language is alone and has an empty tag. Empty: the binding has no such field.
    pub messages: &'p [(String, String)],
    /// `support`: how a person reaches the operator. `None`: the binding has no such field.
    pub support: Option<&'p str>,
    /// `docs`: an http or https URL. `None`: the binding has no such field.
    pub docs: Option<&'p str>,
}

/// Reads `message`: a text of one line, or a table of such texts by their language tags.
pub(super) fn messages(value: &Value) -> Result<Vec<(String, String)>, String> {
    let Some(table) = value.as_object() else { return Ok(vec![(String::new(), line(value)?)]) };
    if table.is_empty() {
        return Err("{}: an empty table, expected texts such as en = \"…\"".to_owned());
    }
    let read = |(tag, text): (&String, &Value)| {
        let good = |subtag: &str| (1..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric());
        if !tag.split('-').all(good) {
            return Err(format!("{tag:?}: not a language tag, expected one such as \"en\" or \"zh-Hant\""));
        }
        Ok((tag.clone(), line(text).map_err(|problem| format!("{tag}: {problem}"))?))
    };
    table.iter().map(read).collect()
}

/// Reads a text of one line: a sentence or two.
pub(super) fn line(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a sentence or two")?;
    let count = text.chars().count();
    let breaks_lines = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    if text.trim().is_empty() {
        Err("empty, expected a sentence or two".to_owned())
    } else if count > MAX_LENGTH {
        Err(format!("{}, expected at most {MAX_LENGTH}", counted(count, "character")))
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
        return Err(format!("{}, expected at most {MAX_LENGTH}", counted(text.len(), "character")));
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
