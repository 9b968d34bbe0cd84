//! Route patterns: `[METHOD[,METHOD]] [HOST]/PATH`.
//!
//! A path is exact, or a prefix if its last segment is `*`. A prefix matches itself too. A segment
//! `:name` stands for one segment. A pattern's path and a request's path are read alike (see
//! [`path`](crate::policy::path)).
//!
//! **Precedence.** Of all patterns that match a request the greatest wins. The first difference
//! decides:
//!
//! 1. the kind of the path: exact beats one with a `:name`, which beats a prefix;
//! 2. the length of the path in segments: longer beats shorter;
//! 3. the segments from the left: at the first where two differ in kind, a literal beats `:name`;
//! 4. the host: a name beats `*.example.com`, which beats `*.com`, which beats no host;
//! 5. the method: a listed method beats no method.
//!
//! **Invariant:** each request has at most one winner, in any order of bindings. Two patterns that
//! match the same request and tie in all five have the same host, the same path and a method in
//! common. Two such patterns in one configuration are a fault.

use core::fmt;
use std::collections::BTreeSet;

use crate::policy::host::{self, HostPattern};
use crate::policy::path::Path;

/// One route pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The methods of its requests. Empty: all methods. Never `HEAD`, which counts as `GET`.
    pub(super) methods: BTreeSet<String>,
    pub(super) host: HostPattern,
    pub(super) segments: Vec<Segment>,
    pub(super) tail: Tail,
}

/// One segment of a pattern's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// This segment alone, in the canonical spelling.
    Literal(String),
    /// `:name`: each segment.
    Name(String),
}

/// The end of a pattern's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The path is exact.
    End,
    /// `/*`: the path is a prefix.
    Anything,
}

/// The order of patterns. Greater is more specific.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Precedence {
    kind: PathKind,
    /// The number of segments.
    length: usize,
    /// Whether each segment is a literal.
    literal: Vec<bool>,
    host: HostPattern,
    /// Whether methods are listed.
    method: bool,
}

/// The kind of a path. Greater is more specific.
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
        RouteTarget { method, host: host::read(host), path: Path::read(path) }
    }

    /// See [`Path::hides_parent_segment`].
    pub(super) fn hides_parent_segment(&self) -> bool {
        self.path.hides_parent_segment()
    }
}

impl Pattern {
    /// Returns the host as the configuration writes it, in lower case: `api.example.com`, or
    /// `*.example.com`. `None`: the pattern matches all hosts.
    pub fn host(&self) -> Option<String> {
        (self.host != HostPattern::Any).then(|| self.host.to_string())
    }

    /// Whether the pattern matches this request. The time is linear in the shorter of the two
    /// paths: each segment is compared once.
    pub(super) fn matches(&self, target: &RouteTarget<'_>) -> bool {
        self.matches_path(&target.path) && self.host.matches(&target.host) && self.accepts_method(target.method)
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

    /// Whether requests of this method can match, on any path.
    pub(super) fn accepts_method(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.contains(method)
    }

    pub(super) fn precedence(&self) -> Precedence {
        let literal: Vec<bool> = self.segments.iter().map(|segment| matches!(segment, Segment::Literal(_))).collect();
        Precedence {
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

    /// Returns one text for each method of the pattern, or one text if it has none. Two patterns
    /// that have a text in common match the same requests of that method. The names of `:name`
    /// segments are left out, since they play no part in matching.
    pub(super) fn identities(&self) -> Vec<String> {
        let url = self.printed_url(|_| "");
        match self.methods.is_empty() {
            true => vec![url],
            false => self.methods.iter().map(|method| format!("{method} {url}")).collect(),
        }
    }

    /// Prints host and path, with each `:name` as `printed_name` returns it.
    fn printed_url(&self, printed_name: fn(&str) -> &str) -> String {
        let mut text = self.host.to_string();
        for segment in &self.segments {
            text.push('/');
            match segment {
                Segment::Literal(literal) => {
                    let rest = literal.strip_prefix(':').inspect(|_| text.push_str("%3A")).unwrap_or(literal);
                    text.push_str(&rest.replace('*', "%2A"));
                }
                Segment::Name(name) => text.extend([":", printed_name(name)]),
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

impl fmt::Display for Pattern {
    /// Prints the canonical form: `GET,POST api.example.com/v1/:id/*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, method) in self.methods.iter().enumerate() {
            write!(f, "{}{method}", if index == 0 { "" } else { "," })?;
        }
        let space = if self.methods.is_empty() { "" } else { " " };
        write!(f, "{space}{}", self.printed_url(|name| name))
    }
}
