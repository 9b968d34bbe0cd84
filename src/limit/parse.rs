//! Reads what a configuration says of a limit: `N/PERIOD [burst B]` or `N/day [ZONE]`. What is not one of these is
//! an error that names the value and says what would be right; nothing is ever taken to mean "unlimited".

use crate::limit::calendar::Zone;
use crate::limit::parse_error::Invalid;
use crate::limit::rate::{Allowance, DAY, HOUR, MAX_COUNT, MAX_PERIOD, MINUTE, Quota, Rate, SECOND, within};
use crate::limit::time::Span;
use core::str::FromStr;

impl FromStr for Allowance {
    type Err = Invalid;

    /// Reads `N/PERIOD [burst B]`, a rolling rate, or `N/day [ZONE]`, a calendar quota in UTC unless a zone is given.
    /// PERIOD is `s`, `min`, `h`, or a count with one of them or `d`; B is N where it is left out. Any run of ASCII
    /// white space counts as one space, and none counts at the ends.
    ///
    /// # Errors
    /// One sentence that quotes `text` and says what is wrong with it.
    fn from_str(text: &str) -> Result<Allowance, Invalid> {
        allowance(text).map_err(|problem| Invalid::new(format!("{text:?}: {problem}")))
    }
}

fn allowance(text: &str) -> Result<Allowance, Invalid> {
    let mut words = text.split_ascii_whitespace();
    let amount = words.next().unwrap_or_default();
    let Some((count, period)) = amount.split_once('/') else {
        return Err(Invalid::new("expected a count and a period, such as 5/min, 100/s burst 200 or 1000/day"));
    };
    let count = whole("count", count)?;
    if period == "day" { quota(count, words) } else { rate(count, read_period(period)?, words) }
}

fn rate<'a>(count: u64, period: Span, mut rest: impl Iterator<Item = &'a str>) -> Result<Allowance, Invalid> {
    let burst = match rest.next() {
        None => count,
        Some("burst") => whole("burst", rest.next().unwrap_or_default())?,
        Some(word) if word.parse::<Zone>().is_ok() => {
            return Err(Invalid::new(format!(
                "zone {word:?} goes with a calendar quota alone, such as {count}/day {word}"
            )));
        }
        Some(word) => {
            return Err(Invalid::new(format!("unexpected {word:?}, expected nothing more or burst and a number")));
        }
    };
    end(rest)?;
    Rate::new(count, period, burst).map(Allowance::Rate)
}

fn quota<'a>(count: u64, mut rest: impl Iterator<Item = &'a str> + Clone) -> Result<Allowance, Invalid> {
    if rest.clone().any(|word| word == "burst") {
        return Err(Invalid::new(format!(
            "a calendar quota has no burst, expected {count}/day, or a rolling rate such as {count}/24h burst {count}"
        )));
    }
    let zone = rest.next().map_or(Ok(Zone::utc()), str::parse)?;
    end(rest)?;
    Quota::new(count, zone).map(Allowance::Quota)
}

fn end<'a>(mut rest: impl Iterator<Item = &'a str>) -> Result<(), Invalid> {
    match rest.next() {
        None => Ok(()),
        Some(word) => Err(Invalid::new(format!("unexpected {word:?}, expected nothing more"))),
    }
}

/// Reads a count or a burst: ASCII digits alone.
fn whole(what: &str, text: &str) -> Result<u64, Invalid> {
    if text.is_empty() {
        return Err(Invalid::new(format!("{what} is missing, expected a whole number from 1 to {MAX_COUNT}")));
    }
    // `parse` alone would let a plus sign pass.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Invalid::new(format!("{what} {text:?} is not a whole number, expected 1 to {MAX_COUNT}")));
    }
    let number = text
        .parse::<u64>()
        .map_err(|_| Invalid::new(format!("{what} {text} is out of bounds, expected 1 to {MAX_COUNT}")))?;
    within(what, number)?;
    Ok(number)
}

fn read_period(text: &str) -> Result<Span, Invalid> {
    let unit = text.trim_start_matches(|first: char| first.is_ascii_digit());
    let number = text.strip_suffix(unit).unwrap_or_default();
    let secs = match unit {
        "s" => SECOND,
        "min" => MINUTE,
        "h" => HOUR,
        "d" if number.is_empty() => {
            return Err(Invalid::new(
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
        _ => Err(Invalid::new(format!("period {text:?} is out of bounds, expected 1s to 366d"))),
    }
}

fn unknown_period(text: &str) -> Invalid {
    let lower = text.to_ascii_lowercase();
    if lower != text && (lower == "day" || read_period(&lower).is_ok()) {
        return Invalid::new(format!("unknown period {text:?}, expected {lower} in lower case"));
    }
    Invalid::new(format!("unknown period {text:?}, expected s, min, h, day, or a count such as 30s"))
}
