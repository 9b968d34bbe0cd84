//! `CORS_ORIGINS`: whose web pages may read a refusal.

use serde_json::Value;

use crate::policy::fault::Faults;
use crate::policy::{json_table, origin};

/// Whose pages may read a refusal. By default anyone's, without credentials: a refusal says nothing of anybody but the one that
/// is refused, and a page that cannot read it cannot wait for the right time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cors {
    /// Whether all may.
    any: bool,
    /// Those that may also when they ask with cookies: `https://app.example`, in lower case, without the usual port.
    listed: Vec<String>,
}

/// Whether the pages of one origin may read a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable<'a> {
    /// They may not.
    No,
    /// When they ask without credentials.
    Anonymously,
    /// Also with credentials: the origin's name, to be repeated.
    WithCredentials(&'a str),
}

impl Default for Cors {
    fn default() -> Cors {
        Cors { any: true, listed: Vec::new() }
    }
}

impl Cors {
    /// What holds for the pages of `origin`, as a browser writes it.
    pub fn readable(&self, origin: &str) -> Readable<'_> {
        match self.listed.iter().find(|listed| *listed == origin) {
            Some(listed) => Readable::WithCredentials(listed),
            None if self.any => Readable::Anonymously,
            None => Readable::No,
        }
    }

    /// Reads origins and `*`, or `none` alone.
    pub(super) fn read(place: &str, value: &Value, faults: &mut Faults) -> Cors {
        if value.as_str() == Some("none") {
            return Cors { any: false, listed: Vec::new() };
        }
        let example = "an origin such as \"https://app.example.com\", \"*\", a list of them, or \"none\"";
        let mut cors = Cors { any: false, listed: Vec::new() };
        for (place, text) in json_table::list(place, value, example, faults) {
            if text == "*" {
                cors.any = true;
            } else if let Some(origin) = faults.keep(&place, page_origin(text)) {
                cors.listed.push(origin);
            }
        }
        cors
    }
}

/// An origin as a browser writes it in `Origin` (RFC 6454 §6.2).
fn page_origin(text: &str) -> Result<String, String> {
    let wrong =
        |what: &str| format!("{text:?}: {what}, expected an origin such as \"https://app.example.com\", or \"*\"");
    let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("not an origin"))?;
    let scheme = scheme.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return Err(wrong("neither http nor https")),
    };
    if rest.contains(['/', '?', '#']) {
        return Err(wrong("an origin ends with its host or port"));
    }
    let host = origin::authority_name(rest).ok_or_else(|| wrong("its host cannot be read"))?;
    Ok(format!("{scheme}://{}", host.strip_suffix(usual).unwrap_or(&host)))
}
