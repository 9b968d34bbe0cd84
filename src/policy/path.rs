//! How a path is read before it is matched: as an origin would read it, in one canonical spelling. A request is
//! forwarded as it came; this reading serves matching alone.
//!
//! - Escapes of what a segment may hold as it is (RFC 3986 §3.3, `pchar`: letters, digits, ``-._~!$&'()*+,;=:@``) are
//!   decoded, once: `%6C` is `l`, but `%256C` stays `%256C`. RFC 3986 has `%40` and `@` differ; routers do not (Fastify
//!   decodes `%21`, nginx all of them, and both take a parameter `%40me` for `@me`).
//! - All other escapes stay, in upper-case hex. So `%2F` and `%5C` are never a slash: `/api%2Flogin` is one segment.
//! - What no path may hold as it is (a space, `"`, non-ASCII letters in UTF-8, a `%` that begins no escape) is escaped.
//! - Dot segments are removed (RFC 3986 §5.2.4), `%2e` being a dot.
//! - Several slashes are one, and one at the end is none.
//! - A backslash is a slash, as URL parsers read it for `http` (the URL standard's "special" schemes).
//! - Case counts, and `;` is an ordinary character.

use crate::identity::percent::{self, Unit};

/// A path in its canonical spelling: begins with `/`, and ends with one only where it is `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(String);

impl Path {
    /// Reads a path as sent. A query or fragment after it is left out. Linear in its length.
    pub fn read(raw: &str) -> Path {
        Path::decode(raw, is_pchar)
    }

    /// Reads the path of a pattern: in it `:` and `*` mean something, and their escapes are how they are said themselves.
    pub(super) fn read_pattern(raw: &str) -> Path {
        Path::decode(raw, |byte| is_pchar(byte) && !MARKS.contains(&byte))
    }

    /// `plain` are those whose escapes are decoded.
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
                    // The empty segment between two slashes is a segment for `..` to take away, as for URL parsers.
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

    /// The canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether some origins read a way up in it that others do not: `..%2F`, `..%5C` and `..;`. Whoever decodes those before it resolves dot
    /// segments, or leaves out parameters, is led out of the prefix that such a path seems to lie in.
    pub fn hides_a_climb(&self) -> bool {
        let pieces = self.segments().flat_map(|segment| segment.split("%2F")).flat_map(|piece| piece.split("%5C"));
        let mut names = pieces.filter_map(|piece| piece.split(';').next());
        names.any(|name| name == "..")
    }

    /// The segments, none of them empty; there are none in `/`.
    pub(super) fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }
}

/// What means something in a pattern.
const MARKS: &[u8] = b":*";

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

/// What may stand in a segment as it is, but for escapes (RFC 3986 §3.3).
pub(super) fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}
