//! `message` and `docs`: what an operator has to say in the refusals of a binding.

use serde_json::Value;

use crate::policy::{Binding, Policy, origin, value};

/// Room for a few sentences; what is longer belongs on the page that `docs` links to.
const LONGEST: usize = 500;

/// What the operator says besides. Both are safe in one line of text; `docs` also in a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorMessage<'p> {
    /// `message`.
    pub message: Option<&'p str>,
    /// `docs`.
    pub docs: Option<&'p str>,
}

impl Binding {
    /// What is said in its refusals.
    pub fn words(&self) -> OperatorMessage<'_> {
        OperatorMessage { message: self.message.as_deref(), docs: self.docs.as_deref() }
    }
}

impl Policy {
    /// The binding called `name`.
    pub fn binding(&self, name: &str) -> Option<&Binding> {
        self.base.iter().chain(&self.bindings).find(|binding| binding.name == name)
    }
}

/// A text of one line.
pub(super) fn message(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a sentence or two")?;
    let count = text.chars().count();
    let breaks = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    if text.trim().is_empty() {
        Err("empty, expected a sentence or two".to_owned())
    } else if count > LONGEST {
        Err(format!("{count} characters, expected at most {LONGEST}"))
    } else if let Some(letter) = text.chars().find(|letter| breaks(*letter)) {
        Err(format!("has the control character {letter:?}, expected text on one line"))
    } else {
        Ok(text.to_owned())
    }
}

/// An http or https URL.
pub(super) fn docs(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a URL such as \"https://example.com/docs/limits\"")?;
    let wrong = |what: &str| format!("{text:?}: {what}, expected a URL such as \"https://example.com/docs/limits\"");
    if text.len() > LONGEST {
        return Err(format!("{} characters, expected at most {LONGEST}", text.len()));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("not a URL"))?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(wrong("neither http nor https"));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    origin::authority_name(authority).ok_or_else(|| wrong("its host cannot be read"))?;
    // RFC 3986 §2: what is none of these has to be escaped.
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    if !rest.bytes().all(good) {
        return Err(wrong("has characters that cannot stand in a URL as they are"));
    }
    Ok(text.to_owned())
}
