//! The places where callers put their key (`header:x-api-key, bearer`), and reading it.
//!
//! A key is a claim: a client can send a fresh one with each request.

use core::fmt;

use crate::identity::digest::{DigestKind, Digester, Subject};
use crate::identity::request::HeadersAndQuery;
use crate::identity::whitespace::trim;
use crate::identity::{cookie, query};

/// The places to look for a key, in order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySources(pub(crate) Vec<KeySource>);

/// One place that may hold a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// `header:NAME`, lower case.
    Header(String),
    /// `bearer`: the token of an `Authorization: Bearer` header.
    Bearer,
    /// `token`: the token of an `Authorization: token` header, as clients of GitHub and of Django
    /// REST framework send it.
    Token,
    /// `cookie:NAME`, case kept.
    Cookie(String),
    /// `query:NAME`, case kept.
    Query(String),
}

/// A key as a client sent it, never blank. A [`Subject`] is all that can be made of it: `Debug` and
/// `Display` print none of it. A key is the same caller wherever in a request it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct RawKey(Vec<u8>);

impl KeySources {
    /// Reads a list such as `header:x-api-key, bearer`.
    ///
    /// # Errors
    /// One message for each item that is not a source, or that is there twice.
    pub fn parse(text: &str) -> Result<KeySources, Vec<String>> {
        let mut sources = Vec::new();
        let mut problems = Vec::new();
        for item in text.split(',').map(trim) {
            match KeySource::parse(item) {
                Err(problem) => problems.push(problem),
                Ok(source) if sources.contains(&source) => problems.push(format!("`{source}` is there twice")),
                Ok(source) => sources.push(source),
            }
        }
        if problems.is_empty() { Ok(KeySources(sources)) } else { Err(problems) }
    }

    /// The sources, in order of preference.
    pub fn iter(&self) -> impl Iterator<Item = &KeySource> {
        self.0.iter()
    }

    /// Reads the key of the first source that has one. A blank key does not count. `None`: the
    /// request has no key.
    pub fn read(&self, request: &impl HeadersAndQuery) -> Option<RawKey> {
        self.0.iter().find_map(|source| source.read(request))
    }
}

impl Default for KeySources {
    /// The sources of a configuration that names none: `header:x-api-key, bearer`.
    fn default() -> KeySources {
        KeySources(vec![KeySource::Header("x-api-key".to_owned()), KeySource::Bearer])
    }
}

impl KeySource {
    fn parse(item: &str) -> Result<KeySource, String> {
        let kinds = "a key source is `header:NAME`, `bearer`, `token`, `cookie:NAME` or `query:NAME`";
        let (kind, name) = match item.split_once(':') {
            Some((kind, name)) => (kind, Some(name)),
            None => (item, None),
        };
        let named = |wants: &str, good: fn(u8) -> bool| match name {
            None | Some("") => Err(format!("`{item}` names no {kind}: write `{kind}:NAME`")),
            Some(name) if name.bytes().all(good) => Ok(name.to_owned()),
            Some(name) => Err(format!("`{name}` is not the name of a {kind}: {wants}")),
        };
        let token = "letters, digits and any of !#$%&'*+-.^_`|~";
        match kind {
            "header" => named(token, is_token).map(|name| KeySource::Header(name.to_ascii_lowercase())),
            "cookie" => named(token, is_token).map(KeySource::Cookie),
            "query" => named("no spaces, and none of &=+%#", is_query_name).map(KeySource::Query),
            "bearer" if name.is_none() => Ok(KeySource::Bearer),
            "token" if name.is_none() => Ok(KeySource::Token),
            "" if name.is_none() => Err(format!("an empty item; {kinds}")),
            _ => Err(format!("`{item}` is not a key source; {kinds}")),
        }
    }

    /// The name of the header that holds the key, in lower case. `None`: the key is in the query.
    pub fn header(&self) -> Option<&str> {
        match self {
            KeySource::Header(name) => Some(name),
            KeySource::Bearer | KeySource::Token => Some("authorization"),
            KeySource::Cookie(_) => Some("cookie"),
            KeySource::Query(_) => None,
        }
    }

    fn read(&self, request: &impl HeadersAndQuery) -> Option<RawKey> {
        let header = || request.header(self.header()?);
        match self {
            KeySource::Header(_) => RawKey::new(first_item(&header()?)),
            KeySource::Bearer => RawKey::new(credentials(first_item(&header()?), "bearer")?),
            KeySource::Token => RawKey::new(credentials(first_item(&header()?), "token")?),
            KeySource::Cookie(name) => RawKey::new(cookie::value(&header()?, name)?),
            KeySource::Query(name) => RawKey::from_bytes(&query::value(request.query()?, name)?),
        }
    }
}

impl RawKey {
    /// The digest that stands for this caller outside of this folder.
    pub fn subject(&self, digester: &Digester) -> Subject {
        digester.subject(DigestKind::Key, &self.0)
    }

    fn new(text: &str) -> Option<RawKey> {
        RawKey::from_bytes(text.as_bytes())
    }

    /// Removes spaces and tabs around the key. `None`: the key is blank.
    fn from_bytes(bytes: &[u8]) -> Option<RawKey> {
        let padding = |byte: &&u8| matches!(**byte, b' ' | b'\t');
        let after = bytes.iter().take_while(padding).count();
        let bytes = bytes.get(after..)?;
        let kept = bytes.len().saturating_sub(bytes.iter().rev().take_while(padding).count());
        let key = bytes.get(..kept)?;
        (!key.is_empty()).then(|| RawKey(key.to_vec()))
    }
}

/// Returns the first item of a list header that is not blank, or an empty text.
///
/// A header that was sent twice arrives as `A, B`. The key is one of the two: counted as `A, B`,
/// each combination of two keys would be a caller of its own. A blank first item is skipped,
/// because it would hide the key behind it.
fn first_item(header: &str) -> &str {
    header.split(',').find(|item| !trim(item).is_empty()).unwrap_or_default()
}

/// Returns the credentials after `scheme` and at least one space (RFC 6750 §2.1). The scheme may be
/// in any case (RFC 9110 §11.1). `None`: the scheme is another one, or has no credentials.
fn credentials<'h>(header: &'h str, scheme: &str) -> Option<&'h str> {
    let (sent, credentials) = trim(header).split_once([' ', '\t'])?;
    sent.eq_ignore_ascii_case(scheme).then_some(credentials)
}

/// Whether the byte may stand in a token, such as a header's name (`tchar`, RFC 9110 §5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_query_name(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"&=+%#".contains(&byte)
}

impl fmt::Display for KeySources {
    /// Prints the list as it can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, source) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{source}")?;
        }
        Ok(())
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Header(name) => write!(f, "header:{name}"),
            KeySource::Bearer => f.write_str("bearer"),
            KeySource::Token => f.write_str("token"),
            KeySource::Cookie(name) => write!(f, "cookie:{name}"),
            KeySource::Query(name) => write!(f, "query:{name}"),
        }
    }
}

impl fmt::Display for RawKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("REDACTED")
    }
}

impl fmt::Debug for RawKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawKey(REDACTED)")
    }
}
