//! The host of a request, and the host of a pattern. Case, the port and a dot at the end do not
//! count.

use core::fmt;

/// The hosts that a pattern matches. Greater is more specific.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostPattern {
    /// The pattern has no host, and matches all.
    Any,
    /// `*.example.com`: one label or more before the suffix.
    Under(Suffix),
    /// `example.com`: this host alone.
    Exactly(String),
}

/// A suffix with its dot: `.example.com`. The longer one is greater.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suffix(String);

impl HostPattern {
    /// Reads the part of a pattern before its path. An empty text matches all hosts.
    pub(super) fn parse(text: &str) -> Result<HostPattern, String> {
        if text.is_empty() {
            return Ok(HostPattern::Any);
        }
        let host = read(text);
        let name = match host.strip_prefix("*.") {
            Some(suffix) => suffix,
            None => &host,
        };
        if name == "*" {
            return Err("the host \"*\" is any host, which is said by leaving it out".to_owned());
        }
        if name.contains('*') {
            return Err(format!(
                "`*` in the host {text:?} can only stand for whole labels at the front, as in *.example.com"
            ));
        }
        let port = text.split_once(':').map_or("0", |(_, port)| port);
        if !is_name(name) || port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("{text:?} is not a host, expected one such as api.example.com or *.example.com"));
        }
        Ok(match host.strip_prefix('*') {
            Some(suffix) => HostPattern::Under(Suffix(suffix.to_owned())),
            None => HostPattern::Exactly(host),
        })
    }

    /// Whether the pattern matches `host`, as [`read`] returned it.
    pub(super) fn matches(&self, host: &str) -> bool {
        match self {
            HostPattern::Any => true,
            HostPattern::Under(Suffix(suffix)) => {
                host.strip_suffix(suffix.as_str()).is_some_and(|label| !label.is_empty())
            }
            HostPattern::Exactly(name) => host == name,
        }
    }
}

/// Reads a host as sent (`Host`, or a URL's authority). Returns it in lower case, without its port
/// and without a dot at the end.
pub(super) fn read(host: &str) -> String {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether `name` is made of DNS labels, which may have underscores. A name in another script must
/// be in the ASCII form (`xn--…`) that requests carry.
pub(super) fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()) && label.bytes().all(good))
}

impl Ord for Suffix {
    fn cmp(&self, other: &Suffix) -> core::cmp::Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Suffix {
    fn partial_cmp(&self, other: &Suffix) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Any => Ok(()),
            HostPattern::Under(Suffix(suffix)) => write!(f, "*{suffix}"),
            HostPattern::Exactly(name) => f.write_str(name),
        }
    }
}
