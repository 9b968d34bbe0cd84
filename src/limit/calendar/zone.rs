//! Time zones, and the local days of a zone.

use crate::limit::calendar::civil_date::{CivilDate, DAY};
use crate::limit::calendar::named_zone::NamedZone;
use crate::limit::calendar::offsets::Offsets;
use crate::limit::parse_error::ParseError;
#[cfg(not(target_arch = "wasm32"))]
use crate::limit::suggestion;
use crate::limit::time::{Span, Time};
use core::fmt;
use core::str::FromStr;
use std::rc::Rc;

/// An IANA zone or a fixed offset from UTC. Clones share the rules of a zone.
///
/// It is read from `Asia/Shanghai` (in any case), `UTC`, or `+08:00` (up to 14 hours either way);
/// `+00:00` is UTC. It prints the same text, with a name spelled as IANA spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(Rules);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rules {
    /// An offset in seconds east of UTC; zero for UTC.
    Fixed(i32),
    /// A zone whose offsets change.
    Named(Rc<NamedZone>),
}

/// One local day, such as `2026-11-29`: from its first instant to the first instant of the next
/// day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    /// The local date as `YYYY-MM-DD`. Dates in this form compare as texts do.
    pub date: String,
    /// The first instant after the day.
    pub end: Time,
}

impl Zone {
    /// Coordinated universal time.
    pub const fn utc() -> Zone {
        Zone(Rules::Fixed(0))
    }

    /// The local day at `at`.
    ///
    /// Dates never go back, and each day ends where the next one starts. A date that the zone
    /// skipped is not a day. `end` is later than `at`, unless both are [`Time::MAX`].
    pub fn day(&self, at: Time) -> Day {
        let at = to_seconds(at.as_secs());
        let (date, end) = match &self.0 {
            Rules::Fixed(offset) => Offsets::fixed(*offset).day(at),
            Rules::Named(zone) => zone.offsets_around(at).day(at),
        };
        Day { date: date.to_string(), end: to_time(end) }
    }

    /// `at` in RFC 3339 with this zone's offset: `2026-11-30T00:00:00+08:00`, `…Z` for UTC. A
    /// fraction of a second is rounded up, so a client that waits until then waits long enough.
    pub fn rfc3339(&self, at: Time) -> String {
        let at = to_seconds(at.as_nanos().div_ceil(1_000_000_000));
        let offset = match &self.0 {
            Rules::Fixed(0) => return format!("{}Z", WallText(at)),
            Rules::Fixed(offset) => *offset,
            Rules::Named(zone) => zone.offset_at(at),
        };
        // RFC 3339 has no seconds in offsets. A zone that has them (Liberia until 1972) gets the
        // same instant in the offset of the whole minute below.
        let offset = offset.div_euclid(60).saturating_mul(60);
        format!("{}{}", WallText(at.saturating_add(i64::from(offset))), OffsetText(offset))
    }
}

impl FromStr for Zone {
    type Err = ParseError;

    /// # Errors
    /// No zone has this name, or the offset is not `+HH:MM` or `-HH:MM` within 14 hours.
    fn from_str(text: &str) -> Result<Zone, ParseError> {
        if text.starts_with(['+', '-']) {
            return read_offset(text).map(|offset| Zone(Rules::Fixed(offset))).ok_or_else(|| {
                ParseError::new(format!(
                    "unknown offset {text:?}, expected hours and minutes such as +08:00 or -03:30, at most 14:00"
                ))
            });
        }
        if text.eq_ignore_ascii_case("UTC") {
            return Ok(Zone::utc());
        }
        NamedZone::find(text).map(|zone| Zone(Rules::Named(zone))).ok_or_else(|| {
            #[cfg(not(target_arch = "wasm32"))]
            if let Some(meant) = suggestion::zone(text) {
                return ParseError::new(format!("unknown zone {text:?}; did you mean {meant}?"));
            }
            ParseError::new(format!(
                "unknown zone {text:?}, expected an IANA name such as Asia/Shanghai or an offset such as +08:00"
            ))
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Rules::Fixed(0) => f.write_str("UTC"),
            Rules::Fixed(offset) => OffsetText(*offset).fmt(f),
            Rules::Named(zone) => f.write_str(zone.name()),
        }
    }
}

/// An offset of whole minutes, in seconds east of UTC. It prints as RFC 3339 writes it: `+08:00`.
struct OffsetText(i32);

impl fmt::Display for OffsetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.unsigned_abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// The date and time of a clock that shows so many seconds since 1970-01-01T00:00:00. It prints as
/// RFC 3339 writes it, without an offset: `2026-11-30T00:00:00`.
struct WallText(i64);

impl fmt::Display for WallText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.0.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}", CivilDate::of_wall(self.0))
    }
}

/// Reads `+HH:MM` or `-HH:MM`, at most 14:00, as seconds east of UTC. `None` for any other text.
fn read_offset(text: &str) -> Option<i32> {
    let (sign, digits) = text.split_at_checked(1)?;
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    let size = hours.checked_mul(60)?.checked_add(minutes)?;
    if minutes > 59 || size > 14 * 60 {
        return None;
    }
    size.checked_mul(if sign == "-" { -60 } else { 60 })
}

fn two_digits(text: &str) -> Option<i32> {
    let right = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

/// Every [`Time`] in seconds fits, since times reach to the year 2554.
fn to_seconds(secs: u64) -> i64 {
    i64::try_from(secs).unwrap_or(i64::MAX)
}

/// [`Time::MAX`] for an instant that a [`Time`] cannot express.
fn to_time(secs: i64) -> Time {
    Time::default().plus(Span::from_secs(u64::try_from(secs).unwrap_or_default()))
}
