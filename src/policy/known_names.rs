//! The names that the configuration knows, and what to think of one that it does not.

/// The vars that are not limits.
pub(super) const SETTINGS: &[&str] = &[
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

/// The fields of a `LIMIT_` table.
pub(super) const FIELDS: &[&str] = &[
    "route",
    "per_ip",
    "per_key",
    "global",
    "cost",
    "mode",
    "exempt",
    "on_error",
    "key",
    "allow",
    "block",
    "message",
    "docs",
    "in_flight",
    "sockets",
    "wait",
    "timeout",
    "priority",
    "warmup",
];

/// What a var is, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Var {
    /// `LIMIT_…`, whatever follows.
    Limit,
    /// One of [`SETTINGS`].
    Setting,
    /// Somebody else's.
    Foreign,
    /// Meant for Penstock, as far as one can tell, and nothing that it knows: what is wrong.
    Wrong(String),
}

/// What the var `name` is.
pub(super) fn var(name: &str) -> Var {
    if name.starts_with("LIMIT_") {
        return Var::Limit;
    }
    if SETTINGS.contains(&name) {
        return Var::Setting;
    }
    let upper = canonical(name);
    let first_word = upper.split_once('_').map(|(word, _)| word);
    if upper.starts_with("LIMIT") || first_word.is_some_and(|word| within(word.as_bytes(), b"LIMIT", 1)) {
        return Var::Wrong(
            "reads like a limit, but a limit's name starts with `LIMIT_`, such as `LIMIT_LOGIN`".to_owned(),
        );
    }
    // Short names have many neighbours that mean something else, so there one slip is as far as a guess goes. (`BUCKET` is likely to be
    // somebody else's.)
    let slips = |known: &str| if known.len() >= 6 && known != "BUDGET" { 2 } else { 1 };
    let near = nearest(name, SETTINGS, slips);
    near.map_or(Var::Foreign, |known| Var::Wrong(format!("unknown var; did you mean `{known}`?")))
}

/// What is wrong with a field called `name`, which is none of [`FIELDS`].
pub(super) fn unknown_field(name: &str) -> String {
    match nearest(name, FIELDS, |_| 2) {
        Some(known) => format!("unknown field; did you mean `{known}`?"),
        None => format!("unknown field, expected {}", crate::policy::value::listed(FIELDS, "or")),
    }
}

/// The known name that `name` was most likely meant to be.
fn nearest<'a>(name: &str, known: &[&'a str], slips: impl Fn(&str) -> u8) -> Option<&'a str> {
    let name = canonical(name);
    (0..=2).find_map(|count| {
        known
            .iter()
            .copied()
            .find(|known| count <= slips(known) && within(name.as_bytes(), canonical(known).as_bytes(), count))
    })
}

/// Case and the kind of dash are not slips: they are never what tells two names apart.
fn canonical(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// Whether at most `slips` slips of a typist turn `left` into `right`: a letter too many, too few or wrong, or two
/// swapped.
fn within(left: &[u8], right: &[u8], slips: u8) -> bool {
    match (left, right) {
        ([], []) => return true,
        ([a, left @ ..], [b, right @ ..]) if a == b => return within(left, right, slips),
        _ => {}
    }
    let Some(slips) = slips.checked_sub(1) else { return false };
    let swapped = match (left, right) {
        ([a, b, left @ ..], [c, d, right @ ..]) => a == d && b == c && within(left, right, slips),
        _ => false,
    };
    let shorter_left = left.split_first().map(|(_, rest)| rest);
    let shorter_right = right.split_first().map(|(_, rest)| rest);
    swapped
        || shorter_left.is_some_and(|left| within(left, right, slips))
        || shorter_right.is_some_and(|right| within(left, right, slips))
        || shorter_left.zip(shorter_right).is_some_and(|(left, right)| within(left, right, slips))
}
