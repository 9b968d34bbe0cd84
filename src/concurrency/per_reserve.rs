//! A number for each [`Reserve`].

use crate::protocol::permits::Reserve;

/// A number for each reserve: of slots, or of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerReserve {
    nothing: u64,
    tenth: u64,
    fifth: u64,
}

impl PerReserve {
    /// `number` for each.
    pub const fn all(number: u64) -> PerReserve {
        PerReserve { nothing: number, tenth: number, fifth: number }
    }

    /// That of `reserve`.
    #[inline(never)]
    pub fn of(mut self, reserve: Reserve) -> u64 {
        *self.at(reserve)
    }

    /// The same, to be changed.
    pub fn at(&mut self, reserve: Reserve) -> &mut u64 {
        match reserve {
            Reserve::Nothing => &mut self.nothing,
            Reserve::Tenth => &mut self.tenth,
            Reserve::Fifth => &mut self.fifth,
        }
    }

    /// Adds `more` to that of `reserve`.
    #[inline(never)]
    pub fn add(&mut self, reserve: Reserve, more: u64) {
        let number = self.at(reserve);
        *number = number.saturating_add(more);
    }

    /// What all come to together.
    pub fn sum(self) -> u64 {
        self.below(Reserve::Fifth).saturating_add(self.fifth)
    }

    /// What those that leave less than `reserve` come to together.
    pub fn below(self, reserve: Reserve) -> u64 {
        let PerReserve { nothing, tenth, .. } = self;
        match reserve {
            Reserve::Nothing => 0,
            Reserve::Tenth => nothing,
            Reserve::Fifth => nothing.saturating_add(tenth),
        }
    }

    /// None of them more than `most`.
    pub fn up_to(self, most: u64) -> PerReserve {
        PerReserve { nothing: self.nothing.min(most), tenth: self.tenth.min(most), fifth: self.fifth.min(most) }
    }

    /// The greater of both, for each.
    pub fn max(self, other: PerReserve) -> PerReserve {
        PerReserve {
            nothing: self.nothing.max(other.nothing),
            tenth: self.tenth.max(other.tenth),
            fifth: self.fifth.max(other.fifth),
        }
    }
}
