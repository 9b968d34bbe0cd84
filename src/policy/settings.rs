//! The vars that are not limits: [`Settings`], and reading them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::identity::{KeySources, Secret};
use crate::limit::time::Span;
use crate::policy::access::{self, Access};
use crate::policy::cors::Cors;
use crate::policy::fault::Faults;
use crate::policy::limit::{MODES, Mode};
use crate::policy::{origin, value};

/// `HEADERS`: the rate headers that answers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderStyle {
    /// `RateLimit-Policy` and `RateLimit`, lists of all limits of the caller
    /// (draft-ietf-httpapi-ratelimit-headers-11).
    Draft11,
    /// `RateLimit-Policy` and `RateLimit` about one limit, in the form of that draft's version 7.
    Draft7,
    /// `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` and `RateLimit-Policy`, the form
    /// of version 6.
    Draft6,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining`, and `X-RateLimit-Reset` in seconds from now.
    Legacy,
    /// The same with `X-RateLimit-Reset` as a Unix time in seconds.
    LegacyEpoch,
    /// `Draft11` and `Legacy`.
    Both,
    /// No rate headers. A refusal still has `Retry-After`.
    None,
}

/// `MISCONFIGURED`: the fate of requests while the configuration has a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misconfigured {
    /// Every request is answered with 500.
    Closed,
    /// Requests go on to the origin and meet no limit.
    Open,
}

/// The vars that are not limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `MODE`: whether any limit or cap of the deployment refuses. `None` is `off`: none is asked.
    pub mode: Option<Mode>,
    /// `MISCONFIGURED`: the fate of requests while the configuration has a fault.
    pub misconfigured: Misconfigured,
    /// `ORIGIN` with its path prefix and without a slash at the end:
    /// `https://origin.example.com/v2`. `None`: requests go on to the origin of their route.
    pub origin: Option<String>,
    /// `ORIGIN_SECRET`: sent to `ORIGIN` with every request, and to nobody else. `None`: the origin
    /// knows Penstock's requests by other means, if at all.
    pub origin_secret: Option<Secret>,
    /// `FORWARDED`: whether `ORIGIN` is told the client's host, scheme and address.
    pub forwarded: bool,
    /// `HEADERS`: the rate headers that answers carry.
    pub headers: HeaderStyle,
    /// `CORS_ORIGINS`: the web pages that may read a refusal.
    pub cors: Cors,
    /// `ALLOW` and `BLOCK`: address lists for all requests.
    pub access: Access,
    /// `TRACE = "header"`: answers carry `Penstock-Trace`.
    pub trace: bool,
    /// `SECRET`: the key of all digests. `None`: everybody can compute the digests.
    pub secret: Option<Secret>,
    /// `IPV6_PREFIX`: the number of leading bits of an IPv6 address that are one caller, 32 to 128.
    pub ipv6_prefix: u8,
    /// `DURABLE_AFTER`: an actor keeps debt shorter than this in memory alone, 0 s to 10 s.
    pub durable_after: Span,
    /// `DEADLINE`: how long the whole decision about one request may take, 10 ms to 10 s.
    pub deadline: Span,
    /// `BUDGET`: calls to actors that the deployment may make in a UTC day, 1,000 or more. `None`:
    /// their number is not bounded.
    pub budget: Option<u64>,
    /// `RETENTION`: the days of quota counts that D1 keeps, 2 to 400.
    pub retention_days: u16,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mode: Some(Mode::Enforce),
            misconfigured: Misconfigured::Closed,
            origin: None,
            origin_secret: None,
            forwarded: true,
            headers: HeaderStyle::Draft11,
            cors: Cors::default(),
            access: Access::default(),
            trace: false,
            secret: None,
            ipv6_prefix: 64,
            durable_after: Span::from_secs(10),
            deadline: Span::from_millis(250),
            budget: None,
            retention_days: 35,
        }
    }
}

impl Settings {
    /// The secrets that can be guessed or that protect nothing, each with its problem. No problem
    /// quotes a secret.
    pub fn weak_secrets(&self) -> Vec<(&'static str, String)> {
        let secrets = [("SECRET", &self.secret), ("ORIGIN_SECRET", &self.origin_secret)];
        let weak = secrets.into_iter().filter_map(|(name, secret)| Some((name, secret.as_ref()?.weakness()?)));
        let idle = self.origin_secret.is_some() && self.origin.is_none();
        let idle = idle.then(|| ("ORIGIN_SECRET", "is sent to nobody, because there is no ORIGIN".to_owned()));
        weak.chain(idle).collect()
    }
}

/// Reads the settings among `vars`, all but `KEY`. A var that is missing or at fault has its
/// default.
pub(super) fn read(vars: &BTreeMap<String, Value>, faults: &mut Faults) -> Settings {
    let mut read = Settings::default();
    for (name, value) in vars.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "ALLOW" => read.access.allow = access::nets(name, value, faults),
            "BLOCK" => read.access.block = access::nets(name, value, faults),
            "CORS_ORIGINS" => read.cors = Cors::read(name, value, faults),
            _ => {
                if let Err(problem) = set(&mut read, name, value) {
                    faults.add(name, problem);
                }
            }
        }
    }
    read
}

/// Reads one var into its field.
fn set(settings: &mut Settings, name: &str, value: &Value) -> Result<(), String> {
    match name {
        "ORIGIN" => {
            // No message quotes ORIGIN or a secret: each may hold a password.
            let text = value.as_str().ok_or("not a text, expected a URL such as \"https://origin.example.com\"")?;
            settings.origin = Some(origin::parse(text)?);
        }
        "ORIGIN_SECRET" => {
            let text = value.as_str().ok_or("not a text, expected a long random one")?;
            settings.origin_secret = Some(origin::parse_secret(text)?);
        }
        "FORWARDED" => settings.forwarded = value::choice(value, &[("x-forwarded", true), ("none", false)])?,
        "SECRET" => {
            let text = value.as_str().ok_or("not a text, expected a long random one")?;
            settings.secret = Some(Secret::new(text).ok_or("empty, expected a long random text, or no SECRET at all")?);
        }
        "MODE" => settings.mode = value::choice(value, MODES)?,
        "MISCONFIGURED" => settings.misconfigured = value::choice(value, MISCONFIGURED)?,
        "HEADERS" => settings.headers = value::choice(value, HEADERS)?,
        "TRACE" => settings.trace = value::choice(value, &[("header", true), ("off", false)])?,
        "IPV6_PREFIX" => {
            let bits = value::whole_number_or_text(value, 32, 128, "")?;
            settings.ipv6_prefix = u8::try_from(bits).unwrap_or(u8::MAX);
        }
        "DURABLE_AFTER" => {
            // The platform may remove an actor from memory after ten idle seconds, and with it all
            // state that is in memory alone.
            settings.durable_after = value::duration(value, Span::ZERO, Span::from_secs(10))?;
        }
        "DEADLINE" => settings.deadline = value::duration(value, Span::from_millis(10), Span::from_secs(10))?,
        "BUDGET" => settings.budget = Some(value::whole_number_or_text(value, 1_000, 1_000_000_000, "/day")?),
        "RETENTION" => {
            let days = value::whole_number_or_text(value, 2, 400, "d")?;
            settings.retention_days = u16::try_from(days).unwrap_or(u16::MAX);
        }
        _ => {}
    }
    Ok(())
}

const MISCONFIGURED: &[(&str, Misconfigured)] = &[("closed", Misconfigured::Closed), ("open", Misconfigured::Open)];

const HEADERS: &[(&str, HeaderStyle)] = &[
    ("draft-11", HeaderStyle::Draft11),
    ("draft-7", HeaderStyle::Draft7),
    ("draft-6", HeaderStyle::Draft6),
    ("legacy", HeaderStyle::Legacy),
    ("legacy-epoch", HeaderStyle::LegacyEpoch),
    ("both", HeaderStyle::Both),
    ("none", HeaderStyle::None),
];

/// Reads key sources, for `KEY` and for `key` of a binding. `None`: they cannot be read, and each
/// problem is recorded as a fault.
pub(super) fn key_sources(location: &str, value: &Value, faults: &mut Faults) -> Option<KeySources> {
    let text =
        faults.value_or_record(location, value::text(value, "key sources such as \"header:x-api-key, bearer\""))?;
    match KeySources::parse(text) {
        Ok(sources) => Some(sources),
        Err(problems) => {
            for problem in problems {
                faults.add(location, format!("{text:?}: {problem}"));
            }
            None
        }
    }
}
