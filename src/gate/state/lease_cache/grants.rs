//! The tokens of one bucket that an isolate has in hand, as its actor granted them.

use crate::gate::state::tokens::Tokens;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::UnusedTokens;

/// Grants kept of one bucket. While there are this many, the isolate asks for no more.
///
/// Near the limit grants are small, so several may be in hand at once. A larger number costs memory
/// in each entry, and time in each request that looks through them.
const MOST: usize = 16;

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
        if let Err(spent) = self.join(spent)
            && spent.left(now) > 0
            && !self.is_full()
        {
            self.0.insert(0, spent);
        }
    }

    /// Adds tokens to the grant that they came from, or whose day they share.
    ///
    /// All tokens of one day join into one grant. Otherwise many small grants would fill the list,
    /// and the tokens of the next one would be lost.
    ///
    /// # Errors
    /// Returns the tokens if there is no such grant.
    fn join(&mut self, mut tokens: Tokens) -> Result<(), Tokens> {
        for held in &mut self.0 {
            match held.rejoin(tokens) {
                Ok(()) => return Ok(()),
                Err(other) => tokens = other,
            }
        }
        Err(tokens)
    }

    /// Takes out the first grant of a quota; `None` if there is none.
    pub fn take_quota(&mut self) -> Option<UnusedTokens> {
        let index = self.0.iter().position(|held| matches!(held, Tokens::Quota { .. }))?;
        match self.0.swap_remove(index) {
            Tokens::Quota { tokens, until, .. } => Some(UnusedTokens { tokens, until }),
            Tokens::Lease(..) => None,
        }
    }
}
