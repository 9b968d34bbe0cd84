//! A zone's offsets from UTC in the days around one day, and that day's end.
//!
//! All instants are whole seconds since the Unix epoch, and all offsets are seconds east of UTC.
//! Midnights and clock changes fall on whole seconds, so a fraction of a second changes no date.

use crate::limit::calendar::civil_date::{CivilDate, DAY};

/// How far back a clock change can still affect today's date. Two days, since some zones have moved
/// by a whole day.
const REACH: i64 = 2 * DAY;

/// How far after the start of an instant's UTC day that instant's local day can end. The local day
/// ends at most 49 hours after the instant.
const HORIZON: i64 = 3 * DAY + 3_600;

/// The time between two samples of a zone's offset. A zone that leaves its offset and returns to it
/// between two samples would seem unchanged; since 1970 all changes of a zone are at least 6 days
/// apart. A longer step saves calls, a shorter one would see quicker changes.
const STEP: i64 = DAY;

/// A zone's offsets over a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offsets {
    /// The offset before the first change.
    first: i32,
    /// The changes within the stretch, from the earliest to the latest.
    changes: Vec<Change>,
}

/// A clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// The first instant of the new offset.
    at: i64,
    /// The new offset.
    offset: i32,
}

impl Offsets {
    /// The offsets of a zone without clock changes.
    pub fn fixed(offset: i32) -> Offsets {
        Offsets { first: offset, changes: Vec::new() }
    }

    /// The offsets that [`day`](Offsets::day) needs for instants of the UTC day that begins at
    /// `midnight`.
    pub fn around(midnight: i64, offset_at: impl Fn(i64) -> i32) -> Offsets {
        let from = midnight.saturating_sub(REACH);
        let until = midnight.saturating_add(HORIZON);
        let first = offset_at(from);
        let mut known = Change { at: from, offset: first };
        let mut changes = Vec::new();
        while known.at < until {
            let sample = known.at.saturating_add(STEP).min(until);
            let offset = offset_at(sample);
            while known.offset != offset {
                known = next_change(known, sample, &offset_at);
                changes.push(known);
            }
            known.at = sample;
        }
        Offsets { first, changes }
    }

    /// Whether [`around`](Offsets::around) `midnight` gives the offset at `at`.
    pub fn covers(midnight: i64, at: i64) -> bool {
        midnight.saturating_sub(REACH) <= at && at <= midnight.saturating_add(HORIZON)
    }

    /// The offset at `at`, if `at` lies within the stretch.
    pub fn at(&self, at: i64) -> i32 {
        self.changes.iter().rev().find(|change| change.at <= at).map_or(self.first, |change| change.offset)
    }

    /// The local day at `at`: its date, and the first instant after it.
    pub fn day(&self, at: i64) -> (CivilDate, i64) {
        let date = self.date(at);
        (date, self.day_end(date, at))
    }

    /// The date at `at`: the latest date that the wall has shown so far. A clock that is set back
    /// across midnight shows yesterday again for a while (in St. John's, for years, at 00:01). The
    /// new date goes on once it has begun, or its quota would be handed out twice.
    fn date(&self, at: i64) -> CivilDate {
        let recent = |change: &&Change| change.at <= at && at.saturating_sub(change.at) < REACH;
        self.changes
            .iter()
            .filter(recent)
            .map(|change| self.wall_date(change.at.saturating_sub(1)))
            .fold(self.wall_date(at), CivilDate::max)
    }

    /// The date that the zone's offset gives at `at`.
    fn wall_date(&self, at: i64) -> CivilDate {
        CivilDate::of_wall(at.saturating_add(i64::from(self.at(at))))
    }

    /// The first instant after `at` at which the wall shows a later date than `date`. Between two
    /// changes of the offset that is midnight; if a change skips midnight, it is that change.
    fn day_end(&self, date: CivilDate, at: i64) -> i64 {
        let midnight = |offset: i32| date.tomorrow().midnight().saturating_sub(i64::from(offset));
        let mut end = midnight(self.at(at));
        for change in self.changes.iter().filter(|change| change.at > at) {
            if end < change.at {
                break;
            }
            end = change.at.max(midnight(change.offset));
        }
        end
    }
}

/// The first change after `known`, found by bisection. The zone has another offset at `later`.
fn next_change(known: Change, later: i64, offset_at: impl Fn(i64) -> i32) -> Change {
    let (mut before, mut after) = (known.at, later);
    while after.saturating_sub(before) > 1 {
        let middle = before.saturating_add(after.saturating_sub(before) / 2);
        if offset_at(middle) == known.offset {
            before = middle;
        } else {
            after = middle;
        }
    }
    Change { at: after, offset: offset_at(after) }
}
