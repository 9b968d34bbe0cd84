//! Calendar days: the local day of a time zone, and its end. Most days have 23, 24 or 25 hours, and
//! a few have other lengths, so each end comes from the zone database.

use crate::limit::parse_error::ParseError;
use crate::limit::time::Time;
use core::fmt;
use core::str::FromStr;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// An IANA zone or a fixed offset from UTC. Clones share the rules of a zone.
///
/// It is read from `Asia/Shanghai` (in any case), `UTC`, or `+08:00` (up to 14 hours either way);
/// `+00:00` is UTC. It prints the same text, with a name spelled as IANA spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// One local day, such as `2026-11-29`: from its first instant to the first instant of the next
/// day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    /// The local date as `YYYY-MM-DD`. Dates in this form compare as texts do.
    pub date: String,
    /// The first instant after the day.
    pub end: Time,
}

/// How far back a clock change can still affect today's date. Two days, since some zones have moved
/// by a whole day.
const TWO_DAYS: SignedDuration = SignedDuration::from_hours(48);

impl Zone {
    /// Coordinated universal time.
    pub const fn utc() -> Zone {
        Zone(TimeZone::UTC)
    }

    /// The local day at `at`.
    ///
    /// Dates never go back, and each day ends where the next one starts. A date that the zone
    /// skipped is not a day. `end` is later than `at`, unless both are [`Time::MAX`].
    pub fn day(&self, at: Time) -> Day {
        let at = to_timestamp(at);
        let date = self.date(at);
        Day { date: date.to_string(), end: to_time(self.day_end(date, at)) }
    }

    /// `at` in RFC 3339 with this zone's offset: `2026-11-30T00:00:00+08:00`, `…Z` for UTC. A
    /// fraction of a second is rounded up, so a client that waits until then waits long enough.
    pub fn rfc3339(&self, at: Time) -> String {
        let secs = at.as_nanos().div_ceil(1_000_000_000);
        let at = i64::try_from(secs).ok().and_then(|secs| Timestamp::from_second(secs).ok());
        let at = at.unwrap_or(Timestamp::MAX);
        if self.0 == TimeZone::UTC {
            return format!("{}Z", Offset::UTC.to_datetime(at));
        }
        // RFC 3339 has no seconds in offsets. A zone that has them (Liberia until 1972) gets the
        // same instant in the offset of the whole minute below.
        let offset = whole_minutes(self.0.to_offset(at));
        format!("{}{}", offset.to_datetime(at), OffsetText(offset))
    }

    /// The date at `at`: the latest date that the wall has shown so far. A clock that is set back
    /// across midnight shows yesterday again for a while (in St. John's, for years, at 00:01). The
    /// new date goes on once it has begun, or its quota would be handed out twice.
    fn date(&self, at: Timestamp) -> Date {
        let just_after = at.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(at);
        self.0
            .preceding(just_after)
            .take_while(|change| at.duration_since(change.timestamp()) < TWO_DAYS)
            .filter_map(|change| change.timestamp().checked_sub(SignedDuration::from_nanos(1)).ok())
            .fold(self.wall_date(at), |latest, before| latest.max(self.wall_date(before)))
    }

    /// The date that the zone's offset gives at `at`.
    fn wall_date(&self, at: Timestamp) -> Date {
        self.0.to_datetime(at).date()
    }

    /// The first instant after `at` at which the wall shows a later date than `date`. Between two
    /// changes of the offset that is midnight; if a change skips midnight, it is that change.
    fn day_end(&self, date: Date, at: Timestamp) -> Timestamp {
        let Ok(next) = date.tomorrow() else {
            return Timestamp::MAX;
        };
        let midnight = |offset: Offset| offset.to_timestamp(next.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX);
        let mut end = at.max(midnight(self.0.to_offset(at)));
        for change in self.0.following(at) {
            if end < change.timestamp() {
                break;
            }
            end = change.timestamp().max(midnight(change.offset()));
        }
        end
    }
}

impl FromStr for Zone {
    type Err = ParseError;

    /// # Errors
    /// No zone has this name, or the offset is not `+HH:MM` or `-HH:MM` within 14 hours.
    fn from_str(text: &str) -> Result<Zone, ParseError> {
        if text.starts_with(['+', '-']) {
            return read_offset(text).map(|offset| Zone(TimeZone::fixed(offset))).ok_or_else(|| {
                ParseError::new(format!(
                    "unknown offset {text:?}, expected hours and minutes such as +08:00 or -03:30, at most 14:00"
                ))
            });
        }
        match TimeZone::get(text) {
            // The database has `Etc/Unknown` and `Factory` as placeholders for "no zone is set".
            Ok(zone) if !zone.is_unknown() && zone.iana_name() != Some("Factory") => Ok(Zone(zone)),
            _ => Err(ParseError::new(format!(
                "unknown zone {text:?}, expected an IANA name such as Asia/Shanghai or an offset such as +08:00"
            ))),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => OffsetText(offset).fmt(f),
            (None, Err(_)) => f.write_str("UTC"),
        }
    }
}

/// An offset from UTC that prints as RFC 3339 writes it: `+08:00`.
struct OffsetText(Offset);

impl fmt::Display for OffsetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.is_negative() { '-' } else { '+' };
        let minutes = self.0.seconds().unsigned_abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Reads `+HH:MM` or `-HH:MM`, at most 14:00. `None` for any other text.
fn read_offset(text: &str) -> Option<Offset> {
    let (sign, digits) = text.split_at_checked(1)?;
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    let size = hours.checked_mul(60)?.checked_add(minutes)?;
    if minutes > 59 || size > 14 * 60 {
        return None;
    }
    let seconds = size.checked_mul(if sign == "-" { -60 } else { 60 })?;
    Offset::from_seconds(seconds).ok()
}

fn two_digits(text: &str) -> Option<i32> {
    let right = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if right { text.parse().ok() } else { None }
}

fn whole_minutes(offset: Offset) -> Offset {
    let minutes = offset.seconds().div_euclid(60);
    Offset::from_seconds(minutes.saturating_mul(60)).unwrap_or(offset)
}

/// Every [`Time`] has a timestamp, since timestamps reach to the year 9999.
fn to_timestamp(at: Time) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(at.as_nanos())).unwrap_or(Timestamp::MAX)
}

/// [`Time::MAX`] for a timestamp that a [`Time`] cannot express.
fn to_time(at: Timestamp) -> Time {
    u64::try_from(at.as_nanosecond()).map_or(Time::MAX, Time::from_nanos)
}
