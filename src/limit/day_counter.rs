//! A calendar quota counted in memory.

use crate::limit::calendar::Day;
use crate::limit::time::Time;

/// What has been used of one day.
///
/// A clock that steps back to an earlier day keeps counting on the later one: no day is handed out twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCounter {
    day: Day,
    used: u64,
}

/// Whether a take was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It was.
    Taken {
        /// What is left of the day's tokens.
        left: u64,
    },
    /// It was not: the day has less left than was asked for, and is as it was.
    Exhausted {
        /// What is left of the day's tokens.
        left: u64,
        /// The end of the day that is counted: the later one, where the clock has stepped back.
        until: Time,
    },
}

impl DayCounter {
    /// A count that has not begun.
    pub fn new() -> DayCounter {
        // Earlier than every date, so that the first day begins as every other does.
        DayCounter { day: Day { date: String::new(), end: Time::default() }, used: 0 }
    }

    /// Whether the day that it counts has ended by `now`, in whatever zone.
    pub fn is_over(&self, now: Time) -> bool {
        self.day.end <= now
    }

    /// Notes that at least `used` tokens of `day` are used, whoever counted them.
    pub fn note(&mut self, day: &Day, used: u64) {
        self.begin(day);
        if self.day.date == day.date {
            self.used = self.used.max(used);
        }
    }

    /// Takes `cost` tokens of `limit` on `day`, where that many are left.
    pub fn take(&mut self, day: &Day, cost: u64, limit: u64) -> Counted {
        self.begin(day);
        let left = limit.saturating_sub(self.used);
        match left.checked_sub(cost) {
            Some(left) => {
                self.used = self.used.saturating_add(cost);
                Counted::Taken { left }
            }
            None => Counted::Exhausted { left, until: self.day.end },
        }
    }

    /// Gives back `cost` tokens that were taken of `day`, unless another is counted by now.
    pub fn give_back(&mut self, day: &Day, cost: u64) {
        if self.day.date == day.date {
            self.used = self.used.saturating_sub(cost);
        }
    }

    fn begin(&mut self, day: &Day) {
        if day.date > self.day.date {
            *self = DayCounter { day: day.clone(), used: 0 };
        }
    }
}

impl Default for DayCounter {
    fn default() -> DayCounter {
        DayCounter::new()
    }
}
