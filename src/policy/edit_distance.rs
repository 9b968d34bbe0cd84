//! The distance between a name and the names that are known.

/// Returns the known name with the fewest edits from `name`, and at most `max_edits` of its own.
/// `None`: all are further away.
pub(super) fn closest(name: &str, known: &[&'static str], max_edits: fn(&str) -> u8) -> Option<&'static str> {
    let name = canonical(name);
    (0..=2).find_map(|edits| {
        let is_near =
            |known: &str| edits <= max_edits(known) && is_within(name.as_bytes(), canonical(known).as_bytes(), edits);
        known.iter().find(|known| is_near(known)).copied()
    })
}

/// Returns `name` in upper case and with underscores. Two known names never differ in these alone,
/// so such a difference is no edit.
pub(super) fn canonical(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// Whether at most `edits` edits turn `left` into `right`. An edit is one letter too many, too few
/// or wrong, or two neighbours swapped (the distance of Damerau and Levenshtein).
pub(super) fn is_within(left: &[u8], right: &[u8], edits: u8) -> bool {
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
