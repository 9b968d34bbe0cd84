//! `ORIGIN`: the server that requests are forwarded to; and `ORIGIN_SECRET`, by which it tells them
//! from others.

use crate::identity::Secret;
use crate::policy::host::is_name;
use crate::policy::path::is_pchar;

/// Reads a URL: `http://` or `https://`, a host, and optionally a port and a path prefix. Returns
/// it with scheme and host in lower case, and without a slash at the end.
///
/// A message never quotes the whole value, because a URL may hold a password.
pub(super) fn parse(url: &str) -> Result<String, String> {
    let example = "expected one such as \"https://origin.example.com\"";
    let (scheme, rest) = url.split_once("://").ok_or_else(|| format!("not a URL, {example}"))?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(format!("the scheme {scheme:?} is neither http nor https, {example}"));
    }
    if rest.contains(['?', '#']) {
        return Err(format!("a query or a fragment: they belong to each request, {example}"));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        return Err(format!("a user name or a password before the host: they would be sent to nobody, {example}"));
    }
    let host = authority_name(authority).ok_or_else(|| format!("the host {authority:?} cannot be read, {example}"))?;
    if !path.bytes().all(|byte| is_pchar(byte) || byte == b'/' || byte == b'%') {
        return Err(format!(
            "the path {:?} cannot stand in a URL as it is: escape what is no letter or digit",
            format!("/{path}")
        ));
    }
    let origin = format!("{scheme}://{host}/{path}");
    Ok(origin.trim_end_matches('/').to_owned())
}

/// Reads `HOST` or `HOST:PORT`, with an IPv6 address in brackets. Returns it in lower case. `None`:
/// it is not such a name.
pub(super) fn authority_name(authority: &str) -> Option<String> {
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, after)) => {
            let address: std::net::Ipv6Addr = address.parse().ok()?;
            (format!("[{address}]"), after)
        }
        None => {
            let port = authority.find(':').and_then(|colon| authority.get(colon..)).unwrap_or_default();
            (authority.strip_suffix(port)?.to_ascii_lowercase(), port)
        }
    };
    if !host.starts_with('[') && !is_name(host.strip_suffix('.').unwrap_or(&host)) {
        return None;
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Some(host),
        Some(number) if number.parse::<core::num::NonZeroU16>().is_ok() && !number.starts_with('+') => {
            Some(host + port)
        }
        _ => None,
    }
}

/// Reads `ORIGIN_SECRET`, the value of a header. Space around it does not count, because stores of
/// secrets often keep the end of the line.
///
/// A message never quotes the value.
pub(super) fn parse_secret(text: &str) -> Result<Secret, String> {
    let example = "such as `openssl rand -base64 32` prints";
    let text = text.trim();
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("a space, or a character that cannot stand in a header, expected a text {example}"));
    }
    Secret::new(text).ok_or_else(|| format!("empty, expected a long random text {example}, or no ORIGIN_SECRET at all"))
}
