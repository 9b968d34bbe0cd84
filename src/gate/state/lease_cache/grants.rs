//! The tokens of one bucket that an isolate has in hand, as its actor granted them.

use crate::gate::state::tokens::Tokens;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::UnusedTokens;

/// Grants kept of one bucket. While there are this many, the isolate asks for no more.
///
/// Near the limit grants are small, so several may be in hand at once. A larger number costs memory
/// in each entry, and time in each request that looks through them.
const MOST: usize = 16;

/// Runs of slots kept of one bucket while tokens come back. Requests side by side give theirs back
/// in any order, and the runs join again as the gaps between them close.
///
/// With fewer, tokens of requests that were refused would be lost. More cost as [`MOST`] does.
const MOST_RUNS: usize = 32;

/// Tokens in hand, in the order in which requests spend them.
#[derive(Debug, Default)]
pub(super) struct Grants(Vec<Tokens>);

impl Grants {
    /// Whether there is no room for another grant.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Whether no grant is kept. Tokens of a kept grant may have lapsed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of tokens that can still be spent, now or later.
    pub fn left(&self, now: Time) -> u64 {
        self.0.iter().map(|held| held.left(now)).sum()
    }

    /// Whether any token can still be spent, now or later.
    pub fn any_left(&self, now: Time) -> bool {
        self.0.iter().any(|held| held.left(now) > 0)
    }

    /// Whether any token of a quota can still be spent.
    pub fn any_quota_left(&self, now: Time) -> bool {
        self.0.iter().any(|held| matches!(held, Tokens::Quota { .. }) && held.left(now) > 0)
    }

    /// Returns how long until `cost` tokens of one grant may be spent; `None` if no grant has as
    /// many.
    pub fn wait(&self, cost: u64, now: Time) -> Option<Span> {
        self.0.iter().filter_map(|held| held.wait(cost, now)).min()
    }

    /// Takes `cost` tokens from the first grant that has them; `None` if there is none.
    pub fn spend(&mut self, cost: u64, now: Time) -> Option<Tokens> {
        let spent = self.0.iter_mut().find_map(|held| held.spend(cost, now))?;
        self.drop_lapsed(now);
        Some(spent)
    }

    /// Drops grants of which nothing can be spent any more.
    pub fn drop_lapsed(&mut self, now: Time) {
        self.0.retain(|held| held.left(now) > 0);
    }

    /// Adds a new grant behind the others. Its tokens are lost if there is no room.
    pub fn add(&mut self, grant: Tokens) {
        if let Err(grant) = self.join(grant)
            && !self.is_full()
        {
            self.0.push(grant);
        }
    }

    /// Puts spent tokens back in front of the others: requests spend from there, and these have the
    /// earliest slots. They are lost if they have lapsed or there is no room.
    pub fn put_back(&mut self, spent: Tokens, now: Time) {
        if self.0.len() >= MOST_RUNS {
            self.drop_lapsed(now);
        }
        if let Err(spent) = self.join(spent)
            && spent.left(now) > 0
            && self.0.len() < MOST_RUNS
        {
            self.0.insert(0, spent);
        }
    }

    /// Adds tokens to a grant whose slots are next to theirs, or whose day they share. If they
    /// close the gap between two grants, these become one.
    ///
    /// All tokens of one day join into one grant, and so do all slots of one run. Otherwise many
    /// small grants would fill the list, and the tokens of the next one would be lost.
    ///
    /// # Errors
    /// Returns the tokens if there is no such grant.
    fn join(&mut self, tokens: Tokens) -> Result<(), Tokens> {
        let Some(index) = self.rejoin(tokens) else { return Err(tokens) };
        if self.0.len() > 1 {
            let joined = self.0.remove(index);
            if self.rejoin(joined).is_none() {
                self.0.insert(index, joined);
            }
        }
        Ok(())
    }

    /// Joins tokens to the first grant that takes them, and returns its index; `None` if there is
    /// none.
    fn rejoin(&mut self, tokens: Tokens) -> Option<usize> {
        self.0.iter_mut().position(|held| held.rejoin(tokens).is_ok())
    }

    /// Takes out the first grant of a quota; `None` if there is none.
    pub fn take_quota(&mut self) -> Option<UnusedTokens> {
        let index = self.0.iter().position(|held| matches!(held, Tokens::Quota { .. }))?;
        match self.0.swap_remove(index) {
            Tokens::Quota { tokens, until, .. } => Some(UnusedTokens { tokens, until }),
            Tokens::Lease(..) | Tokens::Part { .. } => None,
        }
    }
}
