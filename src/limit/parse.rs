//! Reads a limit from the configuration: `N/PERIOD [burst B]` or `N/day [ZONE]`. Any other text is
//! an error that quotes the text and says what would be right. No text means "unlimited".

use crate::limit::calendar::Zone;
use crate::limit::parse_error::ParseError;
use crate::limit::rate::{Allowance, DAY, HOUR, MAX_COUNT, MAX_PERIOD, MINUTE, Quota, Rate, SECOND, check_bounds};
#[cfg(not(target_arch = "wasm32"))]
use crate::limit::suggestion;
use crate::limit::time::Span;
use core::str::FromStr;

impl FromStr for Allowance {
    type Err = ParseError;

    /// Reads `N/PERIOD [burst B]`, a rolling rate, or `N/day [ZONE]`, a calendar quota. PERIOD is
    /// `s`, `min`, `h`, or a count with one of them or `d`, such as `30s`. B is N unless it is
    /// given; the zone is UTC unless it is given. A run of ASCII white space counts as one space,
    /// and white space at the ends is ignored.
    ///
    /// # Errors
    /// One sentence that quotes `text` and says what is wrong with it.
    fn from_str(text: &str) -> Result<Allowance, ParseError> {
        read_allowance(text).map_err(|problem| ParseError::new(format!("{text:?}: {problem}")))
    }
}

fn read_allowance(text: &str) -> Result<Allowance, ParseError> {
    let mut words = text.split_ascii_whitespace();
    let amount = words.next().unwrap_or_default();
    let Some((count, period)) = amount.split_once('/') else {
        return Err(ParseError::new("expected a count and a period, such as 5/min, 100/s burst 200 or 1000/day"));
    };
    let count = read_whole_number("count", count)?;
    if period == "day" { read_quota(count, words) } else { read_rate(count, read_period(period)?, words) }
}

fn read_rate<'a>(count: u64, period: Span, mut words: impl Iterator<Item = &'a str>) -> Result<Allowance, ParseError> {
    let burst = match words.next() {
        None => count,
        Some("burst") => read_whole_number("burst", words.next().unwrap_or_default())?,
        Some(word) if word.parse::<Zone>().is_ok() => {
            return Err(ParseError::new(format!(
                "zone {word:?} goes with a calendar quota alone, such as {count}/day {word}"
            )));
        }
        Some(word) => {
            return Err(ParseError::new(format!("unexpected {word:?}, expected nothing more or burst and a number")));
        }
    };
    expect_end(words)?;
    Rate::new(count, period, burst).map(Allowance::Rate)
}

fn read_quota<'a>(count: u64, mut words: impl Iterator<Item = &'a str> + Clone) -> Result<Allowance, ParseError> {
    if words.clone().any(|word| word == "burst") {
        return Err(ParseError::new(format!(
            "a calendar quota has no burst, expected {count}/day, or a rolling rate such as {count}/24h burst {count}"
        )));
    }
    // `America/New York` is two words.
    #[cfg(not(target_arch = "wasm32"))]
    if words.clone().count() > 1 {
        let text = words.clone().collect::<Vec<_>>().join(" ");
        if let Some(meant) = suggestion::zone(&text) {
            return Err(ParseError::new(format!("unknown zone {text:?}; did you mean {meant}?")));
        }
    }
    let zone = words.next().map_or(Ok(Zone::utc()), str::parse)?;
    expect_end(words)?;
    Quota::new(count, zone).map(Allowance::Quota)
}

fn expect_end<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<(), ParseError> {
    match words.next() {
        None => Ok(()),
        Some(word) => Err(ParseError::new(format!("unexpected {word:?}, expected nothing more"))),
    }
}

/// Reads the number called `name` (a count or a burst), which consists of ASCII digits alone.
fn read_whole_number(name: &str, text: &str) -> Result<u64, ParseError> {
    if text.is_empty() {
        return Err(ParseError::new(format!("{name} is missing, expected a whole number from 1 to {MAX_COUNT}")));
    }
    // `parse` by itself would accept a plus sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::new(format!("{name} {text:?} is not a whole number, expected 1 to {MAX_COUNT}")));
    }
    let number = text
        .parse::<u64>()
        .map_err(|_| ParseError::new(format!("{name} {text} is out of bounds, expected 1 to {MAX_COUNT}")))?;
    check_bounds(name, number)?;
    Ok(number)
}

fn read_period(text: &str) -> Result<Span, ParseError> {
    let unit = text.trim_start_matches(|first: char| first.is_ascii_digit());
    let number = text.strip_suffix(unit).unwrap_or_default();
    let secs = match unit {
        "s" => SECOND,
        "min" => MINUTE,
        "h" => HOUR,
        "d" if number.is_empty() => {
            return Err(ParseError::new(
                "unknown period \"d\", expected day for a calendar quota, or 24h or 1d for a rolling rate",
            ));
        }
        "d" => DAY,
        _ => return Err(unknown_period(text)),
    };
    if number.is_empty() {
        return Ok(Span::from_secs(secs));
    }
    let period = number.parse::<u64>().ok().and_then(|number| number.checked_mul(secs)).map(Span::from_secs);
    match period {
        Some(period) if period > Span::ZERO && period <= MAX_PERIOD => Ok(period),
        _ => Err(ParseError::new(format!("period {text:?} is out of bounds, expected 1s to 366d"))),
    }
}

fn unknown_period(text: &str) -> ParseError {
    let lower = text.to_ascii_lowercase();
    if lower != text && (lower == "day" || read_period(&lower).is_ok()) {
        return ParseError::new(format!("unknown period {text:?}, expected {lower} in lower case"));
    }
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(meant) = suggestion::period(&lower) {
        return ParseError::new(format!("unknown period {text:?}; did you mean {meant}?"));
    }
    ParseError::new(format!("unknown period {text:?}, expected s, min, h, day, or a count such as 30s"))
}
