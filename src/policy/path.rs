//! The canonical spelling of a path, in which it is matched: the path as an origin would read it.
//!
//! This spelling serves matching alone. A request is forwarded as the platform hands it over. The
//! platform's URL parser has resolved dot segments and escaped some characters before.
//!
//! - Escapes of plain characters are decoded, once: `%6C` is `l`, and `%256C` stays `%256C`. Plain
//!   are the characters that a segment may hold unescaped (`pchar`, RFC 3986 §3.3: letters, digits
//!   and ``-._~!$&'()*+,;=:@``). RFC 3986 has `%40` and `@` differ, and routers do not: Fastify
//!   decodes `%21`, nginx decodes all of them, and both take a parameter `%40me` for `@me`.
//! - All other escapes stay, in upper-case hex. `%2F` and `%5C` are never a slash: `/api%2Flogin`
//!   is one segment.
//! - Bytes that no path may hold unescaped are escaped: a space, `"`, non-ASCII letters in UTF-8,
//!   and a `%` that begins no escape.
//! - Dot segments are removed (RFC 3986 §5.2.4). `%2e` is a dot.
//! - Several slashes are one. A slash at the end is left out.
//! - A backslash is a slash, as URL parsers read it for `http` (a "special" scheme in the URL
//!   standard).
//! - Case counts, and `;` is an ordinary character.

use crate::identity::percent::{self, Unit};

/// A path in its canonical spelling. It begins with `/`, and ends with one only if it is `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(String);

impl Path {
    /// Reads a path as sent. A query or fragment after it is left out. The time is linear in the
    /// length.
    pub fn read(raw: &str) -> Path {
        Path::decode(raw, is_pchar)
    }

    /// Reads the path of a pattern. In a pattern `:` and `*` are syntax, so their escapes stay and
    /// stand for the characters themselves.
    pub(super) fn read_pattern(raw: &str) -> Path {
        Path::decode(raw, |byte| is_pchar(byte) && !SYNTAX.contains(&byte))
    }

    /// Brings a path into the canonical spelling. Escapes of `plain` bytes are decoded.
    fn decode(raw: &str, plain: fn(u8) -> bool) -> Path {
        let raw = raw.split(['?', '#']).next().unwrap_or_default();
        let raw = raw.strip_prefix(['/', '\\']).unwrap_or(raw);
        let mut read = String::with_capacity(raw.len().saturating_add(1));
        for segment in raw.split(['/', '\\']) {
            let start = read.len();
            read.push('/');
            push_segment(&mut read, segment, plain);
            match read.get(start..) {
                Some("/.") => read.truncate(start),
                Some("/..") => {
                    read.truncate(start);
                    // As in URL parsers, `..` may remove the empty segment between two slashes.
                    read.truncate(read.rfind('/').unwrap_or(0));
                }
                _ => {}
            }
        }
        if read.contains("//") || read.ends_with('/') {
            read = read.split('/').filter(|segment| !segment.is_empty()).fold(String::new(), |mut path, segment| {
                path.push('/');
                path.push_str(segment);
                path
            });
        }
        if read.is_empty() {
            read.push('/');
        }
        Path(read)
    }

    /// Returns the canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether some origins read a parent segment in the path that others do not: `..%2F`, `..%5C`
    /// or `..;`. An origin that decodes these before it resolves dot segments, or that removes
    /// parameters, leaves the prefix that the path seems to lie in.
    pub(super) fn hides_parent_segment(&self) -> bool {
        let pieces = self.segments().flat_map(|segment| segment.split("%2F")).flat_map(|piece| piece.split("%5C"));
        let mut names = pieces.filter_map(|piece| piece.split(';').next());
        names.any(|name| name == "..")
    }

    /// The segments, each with at least one character. `/` has no segments.
    pub(super) fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }
}

/// The characters with a meaning in a pattern.
const SYNTAX: &[u8] = b":*";

/// Appends one segment in the canonical spelling.
fn push_segment(read: &mut String, segment: &str, plain: fn(u8) -> bool) {
    let mut rest = segment.as_bytes();
    while let Some((unit, after)) = percent::next(rest) {
        match unit {
            Unit::Plain(byte) if is_pchar(byte) => read.push(char::from(byte)),
            Unit::Escaped(byte) if plain(byte) => read.push(char::from(byte)),
            Unit::Plain(byte) | Unit::Escaped(byte) => read.extend(percent::escape(byte)),
        }
        rest = after;
    }
}

/// Whether the byte may stand in a segment unescaped (`pchar`, RFC 3986 §3.3).
pub(super) fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}
