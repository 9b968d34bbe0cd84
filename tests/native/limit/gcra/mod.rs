//! GCRA: cases worked out by hand, laws for every bucket, and a token bucket to compare with.

mod laws;
mod table;
mod token_bucket;

use super::rate;
use penstock::limit::gcra::Gcra;
use penstock::limit::time::{Span, Time};

/// One caller's bucket as an actor keeps it: the TAT alone, clamped before each request.
struct Bucket {
    gcra: Gcra,
    tat: Time,
}

impl Bucket {
    fn new(text: &str) -> Bucket {
        Bucket { gcra: rate(text).gcra(), tat: Time::default() }
    }

    /// Takes `cost` tokens at `now`; the error is the time to wait.
    fn take(&mut self, now: Time, cost: u64) -> Result<(), Span> {
        self.tat = self.gcra.clamp_tat(self.tat, now, Span::ZERO);
        self.tat = self.gcra.take(self.tat, now, cost).map_err(|no| no.wait)?;
        Ok(())
    }

    /// How many of `asked` requests of one token pass at `now`.
    fn passes(&mut self, now: Time, asked: usize) -> usize {
        (0..asked).filter(|_| self.take(now, 1).is_ok()).count()
    }
}

/// `many` thousandths of `whole`, rounded down.
fn thousandths(whole: u64, many: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(many) / 1_000).unwrap_or(u64::MAX)
}
