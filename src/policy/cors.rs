//! `CORS_ORIGINS`: the web pages that may read a refusal.

use serde_json::Value;

use crate::policy::fault::Faults;
use crate::policy::{json_table, origin};

/// The web pages that may read a refusal. By default pages of all origins may, without credentials:
/// a refusal tells nothing of other callers, and a page that cannot read it cannot wait for the
/// right time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cors {
    /// `*`: pages of all origins may, without credentials.
    any: bool,
    /// Origins that may read it with credentials too: `https://app.example`, in lower case and
    /// without the scheme's usual port; or `capacitor://localhost`, as an app's pages have.
    listed: Vec<String>,
}

/// Whether the pages of one origin may read a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable<'a> {
    /// They may not read it.
    No,
    /// They may read it if they ask without credentials.
    Anonymously,
    /// They may read it with credentials too. The text is the origin's name, which the answer
    /// repeats.
    WithCredentials(&'a str),
}

impl Default for Cors {
    fn default() -> Cors {
        Cors { any: true, listed: Vec::new() }
    }
}

impl Cors {
    /// Whether pages of `origin` may read a refusal. `origin` is spelt as a browser spells it.
    pub fn readable(&self, origin: &str) -> Readable<'_> {
        match self.listed.iter().find(|listed| *listed == origin) {
            Some(listed) => Readable::WithCredentials(listed),
            None if self.any => Readable::Anonymously,
            None => Readable::No,
        }
    }

    /// Reads origins and `*`, or `none` alone. An origin at fault is recorded and left out.
    pub(super) fn read(location: &str, value: &Value, faults: &mut Faults) -> Cors {
        if value.as_str() == Some("none") {
            return Cors { any: false, listed: Vec::new() };
        }
        let example = "an origin such as \"https://app.example.com\", \"*\", a list of them, or \"none\"";
        let mut cors = Cors { any: false, listed: Vec::new() };
        for (location, text) in json_table::list(location, value, example, faults) {
            if text == "*" {
                cors.any = true;
            } else if let Some(origin) = faults.value_or_record(&location, page_origin(text)) {
                cors.listed.push(origin);
            }
        }
        cors
    }
}

/// Reads an origin, and returns it as a browser writes it in `Origin` (RFC 6454 §6.2).
fn page_origin(text: &str) -> Result<String, String> {
    let wrong = |problem: &str| {
        format!("{text:?}: {problem}, expected an origin such as \"https://app.example.com\", or \"*\"")
    };
    let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("not an origin"))?;
    let scheme = scheme.to_ascii_lowercase();
    let usual_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        "file" | "data" | "blob" | "about" | "javascript" | "ws" | "wss" => {
            return Err(wrong("no page has an origin of this scheme"));
        }
        _ => return app_origin(&scheme, rest).ok_or_else(|| wrong("not an origin")),
    };
    if rest.contains(['/', '?', '#']) {
        return Err(wrong("an origin ends with its host or port"));
    }
    let host = origin::authority_name(rest).ok_or_else(|| wrong("its host cannot be read"))?;
    Ok(format!("{scheme}://{}", host.strip_suffix(usual_port).unwrap_or(&host)))
}

/// Reads the origin of an app's own pages, such as `capacitor://localhost`. A browser sends its
/// host as the app writes it, because only `http` and its kin have hosts without case.
fn app_origin(scheme: &str, host: &str) -> Option<String> {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    let good = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && !host.is_empty()
        && host.bytes().all(is_host);
    good.then(|| format!("{scheme}://{host}"))
}
