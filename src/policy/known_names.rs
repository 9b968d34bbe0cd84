//! The names that the configuration knows, and the meaning of a name that it does not know.

use serde_json::Value;

use crate::policy::edit_distance::{canonical, closest, is_within};
use crate::policy::value;

/// The vars that are not limits. [`settings`](crate::policy::settings) reads them.
const SETTINGS: &[&str] = &[
    "MODE",
    "MISCONFIGURED",
    "ORIGIN",
    "ORIGIN_SECRET",
    "FORWARDED",
    "KEY",
    "HEADERS",
    "CORS_ORIGINS",
    "ALLOW",
    "BLOCK",
    "TRACE",
    "SECRET",
    "IPV6_PREFIX",
    "DURABLE_AFTER",
    "DEADLINE",
    "RETENTION",
    "BUDGET",
];

/// The fields of a `LIMIT_` table, in the order in which messages list them.
const FIELDS: &[(&str, Effect)] = &[
    ("route", Effect::Modifies),
    ("per_ip", Effect::Limits),
    ("per_key", Effect::Limits),
    ("global", Effect::Limits),
    ("cost", Effect::Modifies),
    ("mode", Effect::Modifies),
    ("exempt", Effect::Modifies),
    ("on_error", Effect::Modifies),
    ("key", Effect::Modifies),
    ("allow", Effect::Limits),
    ("block", Effect::Acts),
    ("message", Effect::Modifies),
    ("docs", Effect::Modifies),
    ("support", Effect::Modifies),
    ("name", Effect::Modifies),
    ("in_flight", Effect::Limits),
    ("sockets", Effect::Limits),
    ("wait", Effect::Limits),
    ("timeout", Effect::Acts),
    ("upload", Effect::Acts),
    ("socket_idle", Effect::Limits),
    ("priority", Effect::Limits),
    ("warmup", Effect::Limits),
];

/// The effect of a field on the requests of its binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It is or shapes a limit, so it contradicts `exempt`.
    Limits,
    /// It does something by itself, for exempt requests too.
    Acts,
    /// It changes other fields, and does nothing by itself.
    Modifies,
}

/// The kind of a var, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Var {
    /// Begins with `LIMIT_`.
    Limit,
    /// One of [`SETTINGS`].
    Setting,
    /// A var of another program.
    Foreign,
    /// Most likely meant for Penstock, but unknown. The text is the problem, for a fault.
    Misspelt(String),
}

/// Returns the kind of the var `name`, which holds `value`.
pub(super) fn classify(name: &str, value: &Value) -> Var {
    if name.starts_with("LIMIT_") {
        return Var::Limit;
    }
    if SETTINGS.contains(&name) {
        return Var::Setting;
    }
    // A platform binding has a name of its operator's choice.
    let problem = if value.is_null() { None } else { near_miss(name, value) };
    problem.map_or(Var::Foreign, Var::Misspelt)
}

/// Whether `name` is a var of Penstock: one of its settings, or a limit.
pub fn is_own_var(name: &str) -> bool {
    SETTINGS.contains(&name) || name.starts_with("LIMIT_")
}

/// Whether `value` is a table that can only be a limit.
pub fn has_limit_fields(value: &Value) -> bool {
    value.as_object().is_some_and(|table| table.keys().any(|key| is_limit_field(key)))
}

/// Returns the problem with a var that most likely is meant for Penstock. `None`: it is not.
fn near_miss(name: &str, value: &Value) -> Option<String> {
    let upper = canonical(name);
    let text_table = value.as_str().filter(|text| text.trim_start().starts_with('{'));
    let text_table = text_table.and_then(|text| serde_json::from_str(text).ok());
    let table = text_table.as_ref().or(Some(value)).and_then(Value::as_object);
    if let Some(inner) = table.and_then(|table| table.keys().find(|key| key.starts_with("LIMIT_"))) {
        return Some(format!("holds {inner}, which means nothing in here: its heading is [vars.{inner}]"));
    }
    let (first, rest) = upper.split_once('_').unwrap_or((&upper, ""));
    let is_limit = upper.starts_with("LIMIT") || (!rest.is_empty() && is_within(first.as_bytes(), b"LIMIT", 1));
    if is_limit || table.is_some_and(|table| table.keys().any(|key| is_limit_field(key))) {
        let rest = if is_limit && !rest.is_empty() { rest } else { upper.strip_prefix("LIMIT").unwrap_or(&upper) };
        let rest = rest.strip_suffix("_LIMIT").unwrap_or(rest).trim_start_matches('_');
        let example = if rest.len() < 2 { "LOGIN" } else { rest };
        return Some(format!("reads like a limit, but a limit's name starts with `LIMIT_`, such as `LIMIT_{example}`"));
    }
    let meant = |known: &str| format!("unknown var; did you mean `{known}`?");
    if SETTINGS.contains(&upper.as_str()) {
        return Some(meant(&upper));
    }
    let lower = upper.to_ascii_lowercase();
    if FIELDS.iter().any(|(field, effect)| *field == name || (*field == lower && *effect != Effect::Modifies)) {
        return Some(format!(
            "`{lower}` is a field of a binding, and this is none: write it below [vars.LIMIT_BASE] or another binding"
        ));
    }
    // Short names have many neighbours with another meaning, so a guess goes one edit far. The same
    // holds near BUDGET: a BUCKET is likely to belong to another program, as a MODEL or NODE is.
    let max_edits: fn(&str) -> u8 = |known| match known {
        "MODE" => 0,
        "BUDGET" => 1,
        _ if known.len() >= 6 => 2,
        _ => 1,
    };
    other_word(&upper).or_else(|| closest(name, SETTINGS, max_edits)).map(meant)
}

/// Whether a table with the field `name` can only be a limit.
fn is_limit_field(name: &str) -> bool {
    ["per_ip", "per_key", "global", "in_flight", "sockets", "exempt"].contains(&name)
}

/// Returns the address list that `name`, in upper case, calls by another word.
fn other_word(name: &str) -> Option<&'static str> {
    let name = name.replace('_', "");
    let ends = ["", "ED", "LIST", "LISTED", "IPS", "EDIPS"];
    let begins =
        |words: &[&str]| words.iter().any(|word| name.strip_prefix(word).is_some_and(|end| ends.contains(&end)));
    if begins(&["ALLOW", "WHITE"]) {
        Some("ALLOW")
    } else if begins(&["BLOCK", "BLACK", "DENY", "BAN", "BANN"]) {
        Some("BLOCK")
    } else {
        None
    }
}

/// Whether a `LIMIT_` table knows the field `name`.
pub(super) fn is_field(name: &str) -> bool {
    field_names().any(|known| known == name)
}

/// The names of the fields with this effect, in the order of messages.
pub(super) fn fields_with(effect: Effect) -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(move |(_, its)| *its == effect).map(|(name, _)| *name)
}

/// Returns the problem with a field `name` of the binding in `var` that no table knows.
pub(super) fn unknown_field(var: &str, name: &str) -> String {
    if SETTINGS.contains(&name) {
        return format!(
            "a var of the whole deployment, and lines below [vars.{var}] belong to {var}: move it up, directly below [vars]"
        );
    }
    if name.starts_with("LIMIT_") {
        return format!("a limit within {var}, where it means nothing: its heading is [vars.{name}]");
    }
    let names: Vec<&str> = field_names().collect();
    match closest(name, &names, |_| 2) {
        Some(known) => format!("unknown field; did you mean `{known}`?"),
        None => format!("unknown field, expected {}", value::join_names(&names, "or")),
    }
}

fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, _)| *name)
}
