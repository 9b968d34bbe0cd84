//! A date of the proleptic Gregorian calendar.

use core::fmt;

/// The seconds of a day without a clock change.
pub(super) const DAY: i64 = 86_400;

/// A date, as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CivilDate(i64);

impl CivilDate {
    /// The date on a clock that shows `wall` seconds since 1970-01-01T00:00:00.
    pub fn of_wall(wall: i64) -> CivilDate {
        CivilDate(wall.div_euclid(DAY))
    }

    /// The next date.
    pub fn tomorrow(self) -> CivilDate {
        CivilDate(self.0.saturating_add(1))
    }

    /// The date's midnight on a clock, in seconds since 1970-01-01T00:00:00.
    pub fn midnight(self) -> i64 {
        self.0.saturating_mul(DAY)
    }

    /// The year, the month from 1, and the day of the month from 1.
    ///
    /// This is `civil_from_days` of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms"
    /// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>). Its years begin in
    /// March, so a leap day is the last day of its year. An era is 400 such years.
    fn year_month_day(self) -> (i64, i64, i64) {
        const ERA: i64 = 146_097;
        /// The days from 0000-03-01 to 1970-01-01.
        const EPOCH: i64 = 719_468;
        let days = self.0.saturating_add(EPOCH);
        let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let leap_days = (day_of_era / 1_460).saturating_sub(day_of_era / 36_524).saturating_add(day_of_era / 146_096);
        let year_of_era = day_of_era.saturating_sub(leap_days) / 365;
        let before = year_of_era.saturating_mul(365).saturating_add(year_of_era / 4).saturating_sub(year_of_era / 100);
        let day_of_year = day_of_era.saturating_sub(before);
        // Five months from March, June and so on have 153 days.
        let month = day_of_year.saturating_mul(5).saturating_add(2) / 153;
        let before = month.saturating_mul(153).saturating_add(2) / 5;
        let day = day_of_year.saturating_sub(before).saturating_add(1);
        let (month, next_year) = if month < 10 { (month.saturating_add(3), 0) } else { (month.saturating_sub(9), 1) };
        (era.saturating_mul(400).saturating_add(year_of_era).saturating_add(next_year), month, day)
    }
}

/// Prints `YYYY-MM-DD`.
impl fmt::Display for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.year_month_day();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
