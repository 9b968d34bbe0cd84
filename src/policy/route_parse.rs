//! The text of a route pattern → a [`Pattern`], or the problem with it.

use std::collections::BTreeSet;

use crate::identity::key::is_token;
use crate::policy::host::HostPattern;
use crate::policy::path::Path;
use crate::policy::route::{Pattern, Segment, Tail};

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// One sentence on the problem, if the text is no pattern or could never match a request.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (methods, target) = match *words.as_slice() {
            [target] => (BTreeSet::new(), target),
            [methods, target] => (parse_methods(methods)?, target),
            _ => return Err("expected [METHOD[,METHOD]] [HOST]/PATH, such as \"POST /login\"".to_owned()),
        };
        if target.contains("://") {
            return Err("a route has no scheme: leave out what stands before the host".to_owned());
        }
        if let Some(mark) = target.chars().find(|mark| matches!(mark, '?' | '#')) {
            return Err(format!(
                "a route ends with its path: the query and the fragment play no part, leave out {mark:?} and what follows"
            ));
        }
        // A character that no URL can hold is most often a piece of a regular expression, or of the
        // syntax of another router.
        if let Some(stray) =
            target.chars().find(|c| c.is_ascii() && !c.is_ascii_graphic() || r#"\^{}[]<>|"`"#.contains(*c))
        {
            return Err(format!(
                "{stray:?} stands in no path: a route is no regular expression; use `:name` for one segment and a final `/*` for all below"
            ));
        }
        let Some((host, path)) = target.split_once('/') else {
            return Err(
                "has no path, expected one that starts with a slash, such as /login or example.com/*".to_owned()
            );
        };
        if METHODS.contains(&host) {
            return Err(format!("{host} is a method, and reads as a host here: expected \"{host} /{path}\""));
        }
        let host = HostPattern::parse(host)?;
        let path = Path::read_pattern(path);
        let mut segments: Vec<&str> = path.segments().collect();
        let tail = if segments.pop_if(|last| *last == "*").is_some() { Tail::Anything } else { Tail::End };
        let segments = segments.into_iter().map(Segment::parse).collect::<Result<_, _>>()?;
        Ok(Pattern { methods, host, segments, tail })
    }
}

impl Segment {
    fn parse(text: &str) -> Result<Segment, String> {
        let Some(name) = text.strip_prefix(':') else {
            if text.contains('*') {
                return Err("`*` can only be the whole last segment, as in /api/*; one segment is `:name`".to_owned());
            }
            return Ok(Segment::Literal(text.replace("%3A", ":").replace("%2A", "*")));
        };
        let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() {
            return Err("`:` needs a name, such as :id".to_owned());
        }
        if !name.bytes().all(good) {
            return Err(format!(
                "`:{name}` is no name for a segment, expected letters, digits and underscores, such as :id"
            ));
        }
        Ok(Segment::Name(name.to_owned()))
    }
}

/// The methods that the runtime accepts. It answers 501 to all others, so a route for another
/// method would never match; most often it is a misspelling.
const METHODS: &[&str] = &[
    "ACL",
    "CHECKOUT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCOL",
    "MOVE",
    "MSEARCH",
    "NOTIFY",
    "OPTIONS",
    "PATCH",
    "POST",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "PUT",
    "QUERY",
    "REPORT",
    "SEARCH",
    "SUBSCRIBE",
    "TRACE",
    "UNLOCK",
    "UNSUBSCRIBE",
];

/// Reads a list of methods such as `GET,POST`.
fn parse_methods(text: &str) -> Result<BTreeSet<String>, String> {
    let mut methods = BTreeSet::new();
    for method in text.split(',') {
        if method.is_empty() {
            return Err(format!("{text:?} has an empty method, expected a list such as GET,POST without spaces"));
        }
        if !method.bytes().all(is_token) {
            return Err(format!("{method:?} is not a method, expected one such as POST"));
        }
        if method.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return Err(format!("methods are in upper case, expected {}", method.to_ascii_uppercase()));
        }
        if !METHODS.contains(&method) {
            return Err(format!(
                "no request has the method {method:?}, expected one such as GET, POST, PUT, PATCH or DELETE"
            ));
        }
        if !methods.insert(method.to_owned()) {
            return Err(format!("the method {method} is there twice"));
        }
    }
    if methods.remove("HEAD") && !methods.contains("GET") {
        return Err("HEAD counts as GET, so HEAD alone never matches: expected GET".to_owned());
    }
    Ok(methods)
}
