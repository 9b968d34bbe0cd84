//! The periods and zones that were probably meant. `make check` suggests them; the Worker does
//! without, because they would make its module larger.

use jiff::tz;

/// Cities and abbreviations that the IANA database has no zone of, each with its zone.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("peking", "Asia/Shanghai"),
    ("beijing", "Asia/Shanghai"),
    ("shenzhen", "Asia/Shanghai"),
    ("guangzhou", "Asia/Shanghai"),
    ("hangzhou", "Asia/Shanghai"),
    ("osaka", "Asia/Tokyo"),
    ("jst", "Asia/Tokyo"),
    ("mumbai", "Asia/Kolkata"),
    ("bombay", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("new_delhi", "Asia/Kolkata"),
    ("bangalore", "Asia/Kolkata"),
    ("bengaluru", "Asia/Kolkata"),
    ("hanoi", "Asia/Ho_Chi_Minh"),
    ("san_francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("boston", "America/New_York"),
    ("washington", "America/New_York"),
    ("miami", "America/New_York"),
    ("atlanta", "America/New_York"),
    ("edt", "America/New_York"),
    ("dallas", "America/Chicago"),
    ("houston", "America/Chicago"),
    ("frankfurt", "Europe/Berlin"),
    ("munich", "Europe/Berlin"),
    ("hamburg", "Europe/Berlin"),
    ("cologne", "Europe/Berlin"),
    ("geneva", "Europe/Zurich"),
    ("milan", "Europe/Rome"),
    ("barcelona", "Europe/Madrid"),
    ("rio_de_janeiro", "America/Sao_Paulo"),
    ("gmt", "UTC"),
    ("z", "UTC"),
];

/// Returns the period that `text`, in lower case, calls by another word: `minute` is `min`.
pub(super) fn period(text: &str) -> Option<String> {
    let word = text.trim_start_matches(|first: char| first.is_ascii_digit());
    let number = text.strip_suffix(word).unwrap_or_default();
    let unit = match word {
        "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "mins" | "minute" | "minutes" => "min",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "day" | "days" if !number.is_empty() => "d",
        "days" | "daily" => "day",
        "w" | "week" | "weeks" if number.is_empty() => "7d",
        "mo" | "month" | "months" if number.is_empty() => "30d",
        "y" | "year" | "years" if number.is_empty() => "365d",
        _ => return None,
    };
    Some(format!("{number}{unit}"))
}

/// Returns the zone that `text` was probably meant to name: by another name, by its city alone, or
/// by a name that is nearly the same.
pub(super) fn zone(text: &str) -> Option<String> {
    let name = text.to_ascii_lowercase().replace([' ', '-'], "_");
    let city = name.rsplit_once('/').map_or(name.as_str(), |(_, city)| city);
    if let Some((_, zone)) = OTHER_NAMES.iter().find(|(other, _)| *other == city) {
        return Some((*zone).to_owned());
    }
    if let Some(offset) = name.strip_prefix("utc").or(name.strip_prefix("gmt")) {
        return offset_text(text.get(text.len().checked_sub(offset.len())?..)?);
    }
    // Without a place and its slash, a name is a short form, or a placeholder for no zone.
    let zones = tz::db().available().map(|zone| zone.as_str().to_owned());
    let zones: Vec<String> = zones.filter(|zone| zone.contains('/') && !zone.starts_with("Etc/")).collect();
    let by_city = zones.iter().find(|zone| {
        let zone = zone.to_ascii_lowercase();
        zone.rsplit_once('/').is_some_and(|(_, its)| its == city)
    });
    let distance = |zone: &str| edits(&zone.to_ascii_lowercase(), &name);
    let nearest =
        || zones.iter().min_by_key(|zone| distance(zone)).filter(|zone| distance(zone) <= 2 && name.len() > 5);
    by_city.or_else(nearest).cloned()
}

/// Returns `+8`, `-3` or `+0530` as the configuration writes them: `+08:00`.
fn offset_text(text: &str) -> Option<String> {
    let (sign, digits) = text.split_at_checked(1)?;
    let digits = digits.replace([':', '_'], "");
    if !["+", "-"].contains(&sign) || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) =
        if digits.len() > 2 { digits.split_at_checked(digits.len().checked_sub(2)?)? } else { (digits.as_str(), "00") };
    (hours.len() <= 2).then(|| format!("{sign}{hours:0>2}:{minutes}"))
}

/// Returns the number of edits that turn `left` into `right`: letters too many, too few or wrong.
fn edits(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, a) in left.bytes().enumerate() {
        let mut diagonal = index;
        let mut before = index.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (b, cell) in right.bytes().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal.saturating_add(usize::from(a != b));
            diagonal = *cell;
            before = replaced.min(before.saturating_add(1)).min(cell.saturating_add(1));
            *cell = before;
        }
    }
    row.last().copied().unwrap_or_default()
}
