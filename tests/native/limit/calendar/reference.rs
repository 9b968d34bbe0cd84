//! Local days from the rules of a zone: the list of all its clock changes, where the library sees
//! single offsets alone. The tests in wasm share this file.

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// How far back a clock change can still affect today's date.
const TWO_DAYS: SignedDuration = SignedDuration::from_hours(48);

/// The names of all zones, aliases too, without the placeholder for "no zone is set".
pub fn names() -> Vec<String> {
    jiff::tz::db().available().map(|name| name.to_string()).filter(|name| name != "Factory").collect()
}

/// A zone, and the changes of its offset within a stretch of time.
pub struct ZoneChanges {
    pub name: String,
    pub rules: TimeZone,
    /// The first offset, in seconds.
    pub first: i32,
    /// Of each change the first second since the epoch, and the offset from then on.
    pub changes: Vec<(i64, i32)>,
}

/// All zones, with their changes in these seconds since the epoch.
pub fn zones(from: i64, until: i64) -> impl Iterator<Item = ZoneChanges> {
    names().into_iter().map(move |name| {
        let rules = TimeZone::get(&name).unwrap();
        ZoneChanges { first: offset(&rules, from), changes: changes(&rules, from, until), name, rules }
    })
}

/// The zones without each whose changes another zone has as well.
pub fn different_zones(from: i64, until: i64) -> impl Iterator<Item = ZoneChanges> {
    let mut seen = BTreeSet::new();
    zones(from, until).filter(move |zone| seen.insert((zone.first, zone.changes.clone())))
}

fn changes(zone: &TimeZone, from: i64, until: i64) -> Vec<(i64, i32)> {
    let mut offset = zone.to_offset(instant(from)).seconds();
    zone.following(instant(from))
        .map(|change| (change.timestamp().as_second(), change.offset().seconds()))
        .take_while(|(at, _)| *at < until)
        .filter(|(_, to)| core::mem::replace(&mut offset, *to) != *to)
        .collect()
}

/// The date at `at`, and the first second after that day.
pub fn day(zone: &TimeZone, at: i64) -> (String, i64) {
    let at = instant(at);
    let date = date(zone, at);
    (date.to_string(), day_end(zone, date, at).as_second())
}

/// The offset at `at`, in seconds.
pub fn offset(zone: &TimeZone, at: i64) -> i32 {
    zone.to_offset(instant(at)).seconds()
}

fn instant(at: i64) -> Timestamp {
    Timestamp::from_second(at).unwrap()
}

/// The latest date that the wall has shown so far.
fn date(zone: &TimeZone, at: Timestamp) -> Date {
    let wall_date = |at: Timestamp| zone.to_datetime(at).date();
    zone.preceding(at + SignedDuration::from_nanos(1))
        .take_while(|change| at.duration_since(change.timestamp()) < TWO_DAYS)
        .map(|change| wall_date(change.timestamp() - SignedDuration::from_nanos(1)))
        .fold(wall_date(at), Date::max)
}

/// The first instant at which the wall shows a later date than `date`.
fn day_end(zone: &TimeZone, date: Date, at: Timestamp) -> Timestamp {
    let next = date.tomorrow().unwrap();
    let midnight = |offset: Offset| offset.to_timestamp(next.at(0, 0, 0, 0)).unwrap();
    let mut end = midnight(zone.to_offset(at));
    for change in zone.following(at) {
        if end < change.timestamp() {
            break;
        }
        end = change.timestamp().max(midnight(change.offset()));
    }
    end
}
