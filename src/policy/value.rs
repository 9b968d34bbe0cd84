//! Readers of single values.
//!
//! Each returns the value in its own type, or one sentence that quotes the value and gives the
//! expected form.

use serde_json::Value;

use crate::limit::time::Span;
use crate::policy::edit_distance::closest;
use crate::policy::fault::excerpt;

/// 2^53. A double holds every whole number up to here, and skips some above.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a text. `expected` names its right form in the message.
pub(super) fn text<'a>(value: &'a Value, expected: &str) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("{}: not a text, expected {expected}", excerpt(value)))
}

/// Reads `true` or `false`.
pub(super) fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("{}: expected true or false", excerpt(value)))
}

/// Reads a whole number from `least` to `most`. JavaScript has one kind of number, so `2.0` is 2.
pub(super) fn whole_number(value: &Value, least: u64, most: u64) -> Result<u64, String> {
    value
        .as_u64()
        .or_else(|| {
            value
                .as_f64()
                .filter(|number| number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(number))
                .map(|number| number as u64)
        })
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| not_a_whole_number(value, least, most))
}

fn not_a_whole_number(value: &Value, least: u64, most: u64) -> String {
    match most {
        u64::MAX => format!("{}: expected a whole number, {least} or more", excerpt(value)),
        _ => format!("{}: expected a whole number from {least} to {most}", excerpt(value)),
    }
}

/// Reads a whole number from `least` to `most`, or the text of one, with or without `suffix`.
pub(super) fn whole_number_or_text(value: &Value, least: u64, most: u64, suffix: &str) -> Result<u64, String> {
    let Some(text) = value.as_str() else { return whole_number(value, least, most) };
    digits(text.strip_suffix(suffix).unwrap_or(text))
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| not_a_whole_number(value, least, most))
}

/// Reads the name of one of the `choices`. The message suggests the one that is nearly spelt so.
pub(super) fn choice<T: Copy>(value: &Value, choices: &[(&'static str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| value.as_str() == Some(name)).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let max_edits: fn(&str) -> u8 = |known| if known.len() >= 6 { 2 } else { 1 };
        let near = value.as_str().and_then(|text| closest(text, &names, max_edits));
        let suggestion = near.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
        format!("{}: expected {}{suggestion}", excerpt(value), join_names(&quoted, "or"))
    })
}

/// Reads a whole number with its unit, from `least` to `most`: `250ms`, `10s`, `5min`, `1h`.
pub(super) fn duration(value: &Value, least: Span, most: Span) -> Result<Span, String> {
    if let Ok(number) = whole_number_or_text(value, 0, u64::MAX, "") {
        return Err(format!("{}: a duration needs its unit, such as \"{number}s\" or \"{number}ms\"", excerpt(value)));
    }
    let written = text(value, "a duration such as \"250ms\" or \"10s\"")?;
    let unit = written.trim_start_matches(|first: char| first.is_ascii_digit());
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => {
            return Err(format!(
                "{written:?}: not a duration, expected a whole number with ms, s, min or h, such as \"250ms\""
            ));
        }
    };
    let number = digits(written.strip_suffix(unit).unwrap_or_default());
    number
        .and_then(|number| number.checked_mul(millis))
        .map(Span::from_millis)
        .filter(|span| (least..=most).contains(span))
        .ok_or_else(|| format!("{written:?}: out of bounds, expected {least} to {most}"))
}

/// Joins names for a sentence: `a`, `a or b`, `a, b or c`.
pub(super) fn join_names(names: &[impl AsRef<str>], last: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Reads a text of digits alone. `parse` by itself would accept a plus sign.
fn digits(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
