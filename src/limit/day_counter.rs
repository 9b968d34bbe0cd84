//! The tokens used of one day's quota, counted in memory.

use crate::limit::calendar::Day;
use crate::limit::time::Time;

/// Counter of the tokens used on one local day.
///
/// After a clock has stepped back to an earlier day, the counter goes on with the later one. No
/// day's quota is handed out twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCounter {
    /// The latest day counted so far.
    day: Day,
    used: u64,
}

/// The result of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The tokens were taken.
    Taken {
        /// The tokens left of the day.
        left: u64,
    },
    /// The day has fewer tokens left than the cost. The counter is unchanged.
    Exhausted {
        /// The tokens left of the day.
        left: u64,
        /// The end of the counted day: the later day, if the clock has stepped back.
        until: Time,
    },
}

impl DayCounter {
    /// A counter of no day yet. The first take begins its day.
    pub fn new() -> DayCounter {
        // The empty date sorts before every other, so the first take begins a new day.
        DayCounter { day: Day { date: String::new(), end: Time::default() }, used: 0 }
    }

    /// Whether the counted day has ended by `now`; true if no day has begun.
    pub fn is_over(&self, now: Time) -> bool {
        self.day.end <= now
    }

    /// Raises the count of `day` to `used` tokens, which another counter has seen. A higher count
    /// stays.
    pub fn raise_to(&mut self, day: &Day, used: u64) {
        self.begin(day);
        if self.day.date == day.date {
            self.used = self.used.max(used);
        }
    }

    /// Takes `cost` tokens on `day`, which has `limit` tokens in all, if so many are left.
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

    /// Gives back `cost` tokens taken on `day`, unless the counter has moved on to another day.
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
