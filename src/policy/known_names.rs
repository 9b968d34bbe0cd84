//! The names that the configuration knows, and the meaning of a name that it does not know.

use crate::policy::value;

/// The vars that are not limits. [`settings`](crate::policy::settings) reads them.
const SETTINGS: &[&str] = &[
    "ORIGIN",
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
    ("in_flight", Effect::Limits),
    ("sockets", Effect::Limits),
    ("wait", Effect::Limits),
    ("timeout", Effect::Acts),
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

/// Returns the kind of the var `name`.
pub(super) fn classify(name: &str) -> Var {
    if name.starts_with("LIMIT_") {
        return Var::Limit;
    }
    if SETTINGS.contains(&name) {
        return Var::Setting;
    }
    let upper = canonical(name);
    let first_word = upper.split_once('_').map(|(word, _)| word);
    if upper.starts_with("LIMIT") || first_word.is_some_and(|word| is_within(word.as_bytes(), b"LIMIT", 1)) {
        return Var::Misspelt(
            "reads like a limit, but a limit's name starts with `LIMIT_`, such as `LIMIT_LOGIN`".to_owned(),
        );
    }
    // Short names have many neighbours with another meaning, so a guess goes one edit far. The same
    // holds near BUDGET: a BUCKET is likely to belong to another program.
    let max_edits = |known: &str| if known.len() >= 6 && known != "BUDGET" { 2 } else { 1 };
    let closest = closest(name, SETTINGS.iter().copied(), max_edits);
    closest.map_or(Var::Foreign, |known| Var::Misspelt(format!("unknown var; did you mean `{known}`?")))
}

/// Whether a `LIMIT_` table knows the field `name`.
pub(super) fn is_field(name: &str) -> bool {
    field_names().any(|known| known == name)
}

/// The names of the fields with this effect, in the order of messages.
pub(super) fn fields_with(effect: Effect) -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(move |(_, its)| *its == effect).map(|(name, _)| *name)
}

/// Returns the problem with a field `name` that no table knows.
pub(super) fn unknown_field(name: &str) -> String {
    match closest(name, field_names(), |_| 2) {
        Some(known) => format!("unknown field; did you mean `{known}`?"),
        None => {
            let names: Vec<&str> = field_names().collect();
            format!("unknown field, expected {}", value::join_names(&names, "or"))
        }
    }
}

fn field_names() -> impl Iterator<Item = &'static str> + Clone {
    FIELDS.iter().map(|(name, _)| *name)
}

/// Returns the known name with the fewest edits from `name`, and at most `max_edits` of its own.
/// `None`: all are further away.
fn closest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    max_edits: impl Fn(&str) -> u8,
) -> Option<&'a str> {
    let name = canonical(name);
    (0..=2).find_map(|edits| {
        known
            .clone()
            .find(|known| edits <= max_edits(known) && is_within(name.as_bytes(), canonical(known).as_bytes(), edits))
    })
}

/// Returns `name` in upper case and with underscores. Two known names never differ in these alone,
/// so such a difference is no edit.
fn canonical(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// Whether at most `edits` edits turn `left` into `right`. An edit is one letter too many, too few
/// or wrong, or two neighbours swapped (the distance of Damerau and Levenshtein).
fn is_within(left: &[u8], right: &[u8], edits: u8) -> bool {
    match (left, right) {
        ([], []) => return true,
        ([a, left @ ..], [b, right @ ..]) if a == b => return is_within(left, right, edits),
        _ => {}
    }
    let Some(edits) = edits.checked_sub(1) else { return false };
    let swapped = match (left, right) {
        ([a, b, left @ ..], [c, d, right @ ..]) => a == d && b == c && is_within(left, right, edits),
        _ => false,
    };
    let shorter_left = left.split_first().map(|(_, rest)| rest);
    let shorter_right = right.split_first().map(|(_, rest)| rest);
    swapped
        || shorter_left.is_some_and(|left| is_within(left, right, edits))
        || shorter_right.is_some_and(|right| is_within(left, right, edits))
        || shorter_left.zip(shorter_right).is_some_and(|(left, right)| is_within(left, right, edits))
}
