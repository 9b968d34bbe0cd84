//! One number for each [`Reserve`]: of permits, or of requests.

use crate::protocol::permits::Reserve;

/// One number for each reserve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerReserve {
    nothing: u64,
    tenth: u64,
    fifth: u64,
}

impl PerReserve {
    /// The same `number` for each reserve.
    pub const fn all(number: u64) -> PerReserve {
        PerReserve { nothing: number, tenth: number, fifth: number }
    }

    /// The number for `reserve`.
    pub fn of(mut self, reserve: Reserve) -> u64 {
        *self.at(reserve)
    }

    /// The number for `reserve`, to be changed.
    pub fn at(&mut self, reserve: Reserve) -> &mut u64 {
        match reserve {
            Reserve::Nothing => &mut self.nothing,
            Reserve::Tenth => &mut self.tenth,
            Reserve::Fifth => &mut self.fifth,
        }
    }

    /// Adds `more` to the number for `reserve`.
    pub fn add(&mut self, reserve: Reserve, more: u64) {
        let number = self.at(reserve);
        *number = number.saturating_add(more);
    }

    /// The sum of the numbers for all reserves.
    pub fn sum(self) -> u64 {
        self.below(Reserve::Fifth).saturating_add(self.fifth)
    }

    /// The sum of the numbers for reserves smaller than `reserve`: of the higher priorities.
    pub fn below(self, reserve: Reserve) -> u64 {
        let PerReserve { nothing, tenth, .. } = self;
        match reserve {
            Reserve::Nothing => 0,
            Reserve::Tenth => nothing,
            Reserve::Fifth => nothing.saturating_add(tenth),
        }
    }

    /// Each number, but not more than `most`.
    pub fn up_to(self, most: u64) -> PerReserve {
        PerReserve { nothing: self.nothing.min(most), tenth: self.tenth.min(most), fifth: self.fifth.min(most) }
    }

    /// For each reserve the larger of the two numbers.
    pub fn max(self, other: PerReserve) -> PerReserve {
        PerReserve {
            nothing: self.nothing.max(other.nothing),
            tenth: self.tenth.max(other.tenth),
            fifth: self.fifth.max(other.fifth),
        }
    }
}
