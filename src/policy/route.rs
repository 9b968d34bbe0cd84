//! Route patterns: `[METHOD[,METHOD]] [HOST]/PATH`.
//!
//! The path is exact, or a prefix where its last segment is `*` (the prefix itself matches too); a segment `:name`
//! stands for one segment. It goes through the same reading as a request's path (see [`path`](crate::policy::path)).
//!
//! **Precedence.** Of all patterns that match a request the greatest wins, by these criteria in this order:
//!
//! 1. the kind of its path: exact beats one with a `:name`, which beats a prefix;
//! 2. the length of its path, in segments: longer beats shorter;
//! 3. its segments from the left: at the first where two differ in kind, a literal beats `:name`;
//! 4. the host: a name beats `*.example.com`, which beats `*.com`, which beats no host;
//! 5. the method: one that is listed beats none.
//!
//! Two patterns of one configuration that match the same request and tie in all five have the same host, the same
//! path and a method in common: that is a fault. So there always is exactly one winner, whatever the order of bindings.

use core::fmt;
use std::collections::BTreeSet;

use crate::identity::key::is_token;
use crate::policy::host::HostPattern;
use crate::policy::path::Path;

/// One parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Empty: any method. Never `HEAD`, which counts as `GET`.
    methods: BTreeSet<String>,
    host: HostPattern,
    segments: Vec<Segment>,
    tail: Tail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    End,
    /// `/*`
    Anything,
}

/// What the precedence of a pattern is decided by; greater is more specific.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    kind: PathKind,
    length: usize,
    literal: Vec<bool>,
    host: HostPattern,
    method: bool,
}

/// The kind of a path; greater is more specific.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathKind {
    Prefix,
    Named,
    Exact,
}

/// A request as patterns see it.
#[derive(Debug)]
pub(super) struct RouteTarget<'a> {
    method: &'a str,
    host: String,
    path: Path,
}

impl<'a> RouteTarget<'a> {
    pub(super) fn read(method: &'a str, host: &str, path: &str) -> RouteTarget<'a> {
        let method = if method == "HEAD" { "GET" } else { method };
        RouteTarget { method, host: crate::policy::host::read(host), path: Path::read(path) }
    }

    /// See [`Path::hides_a_climb`].
    pub(super) fn hides_a_climb(&self) -> bool {
        self.path.hides_a_climb()
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// One sentence on what is wrong with it, where it is no pattern or could never match a request.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (methods, target) = match *words.as_slice() {
            [target] => (BTreeSet::new(), target),
            [methods, target] => (read_methods(methods)?, target),
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
        // What a URL cannot hold is most often a piece of a regular expression or of another router's syntax.
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
        let host = HostPattern::parse(host)?;
        let path = Path::read_pattern(path);
        let mut segments: Vec<&str> = path.segments().collect();
        let tail = if segments.pop_if(|last| *last == "*").is_some() { Tail::Anything } else { Tail::End };
        let segments = segments.into_iter().map(Segment::parse).collect::<Result<_, _>>()?;
        Ok(Pattern { methods, host, segments, tail })
    }

    /// Whether it is for this request: takes no longer than the shorter of the two paths, and never looks back.
    pub(super) fn matches(&self, target: &RouteTarget<'_>) -> bool {
        self.matches_path(&target.path) && self.host.matches(&target.host) && self.takes(target.method)
    }

    fn matches_path(&self, path: &Path) -> bool {
        let mut sent = path.segments();
        let start = self.segments.iter().all(|segment| match (segment, sent.next()) {
            (Segment::Literal(text), Some(segment)) => text == segment,
            (Segment::Name(_), Some(_)) => true,
            (_, None) => false,
        });
        start && (self.tail == Tail::Anything || sent.next().is_none())
    }

    pub(super) fn rank(&self) -> Rank {
        let literal: Vec<bool> = self.segments.iter().map(|segment| matches!(segment, Segment::Literal(_))).collect();
        Rank {
            kind: match self.tail {
                Tail::Anything => PathKind::Prefix,
                Tail::End if literal.contains(&false) => PathKind::Named,
                Tail::End => PathKind::Exact,
            },
            length: literal.len(),
            literal,
            host: self.host.clone(),
            method: !self.methods.is_empty(),
        }
    }

    /// Whether it is for requests of this method, whatever their path.
    pub(super) fn takes(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.contains(method)
    }

    /// The patterns of at most one method that this one stands for, printed without what plays no part in matching:
    /// two patterns that have one in common are the same pattern there.
    pub(super) fn identities(&self) -> Vec<String> {
        let place = self.printed(|_| "");
        match self.methods.is_empty() {
            true => vec![place],
            false => self.methods.iter().map(|method| format!("{method} {place}")).collect(),
        }
    }

    fn printed(&self, name: fn(&str) -> &str) -> String {
        let mut text = self.host.to_string();
        for segment in &self.segments {
            text.push('/');
            match segment {
                Segment::Literal(literal) => {
                    let rest = literal.strip_prefix(':').inspect(|_| text.push_str("%3A")).unwrap_or(literal);
                    text.push_str(&rest.replace('*', "%2A"));
                }
                Segment::Name(given) => text.extend([":", name(given)]),
            }
        }
        match self.tail {
            Tail::Anything => text.push_str("/*"),
            Tail::End if self.segments.is_empty() => text.push('/'),
            Tail::End => {}
        }
        text
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

/// The methods that the runtime takes; a request with any other never reaches a Worker (it answers 501), so a route for one
/// would be dead. Most often it is a slip of the pen.
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

fn read_methods(text: &str) -> Result<BTreeSet<String>, String> {
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

impl fmt::Display for Pattern {
    /// Prints the canonical form: `GET,POST api.example.com/v1/:id/*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, method) in self.methods.iter().enumerate() {
            write!(f, "{}{method}", if index == 0 { "" } else { "," })?;
        }
        let space = if self.methods.is_empty() { "" } else { " " };
        write!(f, "{space}{}", self.printed(|name| name))
    }
}
