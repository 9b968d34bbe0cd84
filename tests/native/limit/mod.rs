//! What a limit is, tested against tables, laws and models of its own.
mod day;
mod day_table;
mod gcra_laws;
mod gcra_model;
mod gcra_table;
mod prepay;
mod rate;
mod rate_errors;
mod tally;
mod warm;
mod zone;

use penstock::limit::gcra::Gcra;
use penstock::limit::rate::{Allowance, Rate};
use penstock::limit::time::{Span, Time};

/// The rate that `text` reads as.
fn rate(text: &str) -> Rate {
    match text.parse() {
        Ok(Allowance::Rate(rate)) => rate,
        other => panic!("{text:?} is no rate: {other:?}"),
    }
}

/// One caller's bucket, as an actor keeps it: the TAT alone, settled before each look.
struct Bucket {
    gcra: Gcra,
    tat: Time,
}

impl Bucket {
    fn new(text: &str) -> Bucket {
        Bucket { gcra: rate(text).gcra(), tat: Time::default() }
    }

    /// Takes `cost` at `now`, or says how long to wait.
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

/// A moment of an ordinary year, and `millis` milliseconds later.
fn at(millis: u64) -> Time {
    Time::from_millis(1_795_000_000_000 + millis)
}
