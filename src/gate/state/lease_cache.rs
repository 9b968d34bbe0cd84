//! What an isolate can decide alone: leases to spend, and denials to remember.
//!
//! A denial is exact: a TAT only grows, so who was told "not before t" stays denied until t, whatever other isolates do. A lease is exact
//! too (see [`lease`](crate::limit::lease)). What falls out of here costs a call, never correctness.

use crate::gate::state::bucket_view::StartingPoint;
use crate::gate::state::fair_share::FairShares;
use crate::gate::state::tokens::{RoundTrip, Tokens};
use crate::identity::digest::Subject;
use crate::limit::lease::{HORIZON, StockLevel, Wish, leasable};
use crate::limit::monotonic::MonotonicClock;
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Demand, Grant, Outcome, Terms, UnusedTokens};
use hashbrown::HashMap;

mod entry;

use entry::{CachedLimit, Denied, Worth};

/// Names one bucket in the isolate's memory.
///
/// The policy of an isolate never changes, so a limit's number always means the same limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitKey {
    /// The limit's number in the policy.
    pub limit: u32,
    /// The caller; `None` at a `global` limit.
    pub subject: Option<Subject>,
}

/// Entries kept, at about 300 bytes each.
const CAPACITY: usize = 20_000;

/// Leases kept in one entry; with as many, no more are asked for. Near the limit, where grants are small, there may be several.
const LEASES: usize = 16;

/// A used-up quota is asked for again after this time: an operator may have given some back. So is an actor that had no room.
const BELIEVE: Span = Span::from_secs(60);

/// Quota tokens that have lain unused for this long go back to the actor.
pub const IDLE: Span = Span::from_secs(1);

/// Whoever looks after quota tokens has stopped by then, one way or another.
const TENDED: Span = Span::from_secs(30);

/// The entries of one isolate.
#[derive(Debug, Default)]
pub struct LeaseCache {
    entries: HashMap<LimitKey, CachedLimit>,
    clock: MonotonicClock,
    /// What callers are given of crowded rates.
    pub(crate) fair: FairShares,
}

impl LeaseCache {
    /// The isolate's time at which the wall clock reads `wall`.
    pub fn now(&mut self, wall: Time) -> Time {
        self.clock.read(wall)
    }

    /// A denial that still holds, with the wait that is left of it. Who holds slots that cannot be spent yet is denied until then
    /// as well, for the bucket's TAT lies beyond them.
    pub fn denied(&self, name: LimitKey, cost: u64, now: Time) -> Option<Outcome> {
        let entry = self.entries.get(&name)?;
        if let Some(wait) = entry.known.wait_for(cost, now) {
            // What is owed is to be told first, or other isolates would give it away once more.
            return (!entry.known.has_unreported()).then_some(Outcome::Refused { left: 0, wait, until: None });
        }
        match entry.leases.iter().filter_map(|held| held.wait(cost, now)).min() {
            Some(Span::ZERO) => return None,
            Some(wait) => return Some(Outcome::Refused { left: 0, wait, until: None }),
            None => {}
        }
        let denied = entry.denied.filter(|denied| now < denied.until)?;
        match denied.outcome {
            Outcome::Refused { left, wait, until } => {
                Some(Outcome::Refused { left, wait: wait.saturating_sub(now.since(denied.heard)), until })
            }
            Outcome::Full { wait } => Some(Outcome::Full { wait: wait.saturating_sub(now.since(denied.heard)) }),
            Outcome::Met { .. } | Outcome::Unknown => None,
        }
    }

    /// How long a limit that is not asked would refuse for at least, by what is known of it here.
    pub fn min_wait(&self, name: LimitKey, terms: &Terms, cost: u64, now: Time) -> Span {
        let denied = match self.denied(name, cost, now) {
            Some(Outcome::Refused { wait, .. } | Outcome::Full { wait }) => wait,
            _ => Span::ZERO,
        };
        let entry = self.entries.get(&name).filter(|entry| entry.leases.iter().all(|held| held.left(now) == 0));
        denied.max(entry.map_or(Span::ZERO, |entry| entry.known.min_wait(terms, cost, now)))
    }

    /// Spends `cost` tokens in hand, if there are as many.
    pub fn spend(&mut self, name: LimitKey, cost: u64, now: Time) -> Option<(Tokens, Outcome)> {
        let entry = self.entries.get_mut(&name)?;
        if entry.known.wait_for(cost, now).is_some() {
            return None;
        }
        let spent = entry.leases.iter_mut().find_map(|held| held.spend(cost, now))?;
        entry.leases.retain(|held| held.left(now) > 0);
        entry.pace.spend(cost);
        entry.spent = now;
        if let Tokens::Lease(gcra, _) = &spent {
            entry.known.pass(gcra, cost, now);
        }
        Some((spent, entry.standing(spent, now)))
    }

    /// Takes back what was spent on a request that did not pass after all.
    pub fn give_back(&mut self, name: LimitKey, held: Tokens, now: Time) {
        let entry = self.cached_mut(name, now);
        match &held {
            Tokens::Lease(gcra, lease) => entry.known.take_back(gcra, lease.count()),
            Tokens::Quota { .. } => entry.known.has_back(),
        }
        entry.put(held, now);
    }

    /// Notes that a request owes tokens here that its actor has not counted, to be paid with the next question.
    pub fn add_debt(&mut self, name: LimitKey, terms: &Terms, tokens: u64, now: Time) {
        self.cached_mut(name, now).known.add_debt(terms, tokens, now);
    }

    /// Notes that a request was let pass here without its actor, and so owes its tokens.
    pub fn pass_alone(&mut self, name: LimitKey, terms: &Terms, tokens: u64, now: Time) {
        self.cached_mut(name, now).known.pass_alone(terms, tokens, now);
    }

    /// Where an isolate that has to go on alone begins.
    pub fn starting_point(&self, name: LimitKey, now: Time) -> StartingPoint {
        self.entries.get(&name).map(|entry| entry.known.starting_point(now)).unwrap_or_default()
    }

    /// How much to wish for with a question that is about to be asked anyway, and what is owed; notes that it is under way. A call
    /// under way that is older than `patience` is not counted on.
    pub fn wish_for(&mut self, name: LimitKey, terms: &Terms, cost: u64, now: Time, patience: Span) -> (Wish, u64) {
        let entry = self.cached_mut(name, now);
        let horizon = entry.horizon_for(terms);
        let may = !matches!(terms, Terms::Rate(gcra) if !leasable(gcra, cost)) && !entry.busy(now, patience);
        let mut wish = Wish::default();
        if may {
            entry.asked = Some(now);
            let waiting = core::mem::take(&mut entry.wanted).saturating_sub(cost);
            if entry.leases.len() < LEASES {
                // Whoever waits will be served by this one call.
                wish = match entry.pace.wish(now, horizon) {
                    0 => Wish { ahead: 0, waiting },
                    ahead => Wish { ahead: ahead.max(waiting), waiting: 0 },
                };
            }
        }
        (wish, entry.known.take_unreported(terms, now))
    }

    /// Whether a call is under way that may bring an answer for others too, and not older than `patience`: it may never be heard of
    /// again, since a request whose client has left may never run on.
    pub fn has_call_in_flight(&self, name: LimitKey, now: Time, patience: Span) -> bool {
        self.entries.get(&name).is_some_and(|entry| entry.busy(now, patience))
    }

    /// Notes that a request waits for the call under way, and for as many tokens.
    pub fn note_waiting(&mut self, name: LimitKey, tokens: u64) {
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.wanted = entry.wanted.saturating_add(tokens);
        }
    }

    /// How much is in hand of what is used; enough where no more may be asked for now.
    pub fn stock_level(&self, name: LimitKey, now: Time, patience: Span) -> StockLevel {
        let Some(entry) = self.entries.get(&name) else { return StockLevel::Enough };
        let denied = entry.denied.is_some_and(|denied| now < denied.until);
        if entry.busy(now, patience) || entry.leases.len() >= LEASES || denied {
            return StockLevel::Enough;
        }
        entry.pace.stock_level(entry.leases.iter().map(|held| held.left(now)).sum())
    }

    /// Takes in what an actor said of a question, and says what it comes to: where this isolate has been on its own, the actor may let pass
    /// what is too much for it.
    pub fn observe(
        &mut self,
        name: LimitKey,
        demand: &Demand,
        outcome: &Outcome,
        horizon: Span,
        round_trip: RoundTrip,
    ) -> Outcome {
        let entry = self.cached_mut(name, round_trip.heard);
        entry.horizon = horizon.max(HORIZON);
        entry.known.observe(&demand.terms, demand.cost, outcome, round_trip.heard);
        match *outcome {
            Outcome::Met { .. } => {
                entry.denied = None;
                entry.pace.spend(demand.cost);
                entry.spent = round_trip.heard;
                if let (Terms::Rate(gcra), 1..) = (&demand.terms, demand.cost) {
                    if let Some(wait) = entry.known.wait_for(demand.cost, round_trip.heard) {
                        return Outcome::Refused { left: 0, wait, until: None };
                    }
                    entry.known.pass(gcra, demand.cost, round_trip.heard);
                }
            }
            Outcome::Refused { wait, .. } | Outcome::Full { wait } => {
                let rate = matches!((&demand.terms, outcome), (Terms::Rate(_), Outcome::Refused { .. }));
                let until = round_trip.heard.plus(if rate { wait } else { wait.min(BELIEVE) });
                entry.denied = Some(Denied { until, outcome: *outcome, heard: round_trip.heard });
            }
            // It would have been spent; the next wish is for as much as is asked for here, answered or not.
            Outcome::Unknown => entry.pace.spend(demand.cost),
        }
        *outcome
    }

    /// Takes in what an actor granted of a wish, if anything.
    pub fn accept_grant(
        &mut self,
        name: LimitKey,
        terms: &Terms,
        grant: Option<Grant>,
        outcome: &Outcome,
        round_trip: RoundTrip,
    ) {
        let entry = self.cached_mut(name, round_trip.heard);
        entry.asked = None;
        if let (Terms::Rate(gcra), Some(grant)) = (terms, grant) {
            entry.known.leased(round_trip.heard.plus(grant.first).plus(gcra.interval().times(grant.count)));
        }
        entry.leases.retain(|held| held.left(round_trip.heard) > 0);
        match grant.and_then(|grant| Tokens::granted(terms, grant, outcome, round_trip)) {
            Some(held) => {
                if let Err(held) = entry.join(held)
                    && entry.leases.len() < LEASES
                {
                    entry.leases.push(held);
                }
            }
            None if entry.leases.is_empty() && !matches!(outcome, Outcome::Met { .. }) => entry.pace.back_off(),
            None => {}
        }
    }

    /// Notes that a question, which told of `owed` tokens, was not answered.
    pub fn note_lost(&mut self, name: LimitKey, owed: u64) {
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.asked = None;
            entry.known.restore_unreported(owed);
        }
    }

    /// Whether quota tokens are held.
    pub fn holds_quota(&self, name: LimitKey, now: Time) -> bool {
        self.entries.get(&name).is_some_and(|entry| entry.holds_quota(now))
    }

    /// Whether quota tokens are held that nobody looks after; whoever asks has to, from now on.
    pub fn claim_return(&mut self, name: LimitKey, now: Time) -> bool {
        let Some(entry) = self.entries.get_mut(&name) else { return false };
        let untended = entry.tended.is_none_or(|since| since.plus(TENDED) <= now);
        let tend = untended && entry.holds_quota(now);
        if tend {
            entry.tended = Some(now);
        }
        tend
    }

    /// Notes that nobody looks after them any more.
    pub fn release_return(&mut self, name: LimitKey) {
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.tended = None;
        }
    }

    /// Takes out a quota's tokens that have lain unused for [`IDLE`]. Whoever gets them must give them back once, and never try again.
    pub fn take_idle_quota(&mut self, name: LimitKey, now: Time) -> Option<UnusedTokens> {
        let entry = self.entries.get_mut(&name).filter(|entry| entry.spent.plus(IDLE) <= now)?;
        let place = entry.leases.iter().position(|held| matches!(held, Tokens::Quota { .. }))?;
        match entry.leases.swap_remove(place) {
            Tokens::Quota { tokens, until, .. } => Some(UnusedTokens { tokens, until }),
            Tokens::Lease(..) => None,
        }
    }

    fn cached_mut(&mut self, name: LimitKey, now: Time) -> &mut CachedLimit {
        if self.entries.len() >= CAPACITY && !self.entries.contains_key(&name) {
            self.make_room(now);
        }
        self.entries.entry(name).or_insert_with(|| CachedLimit::new(now))
    }

    /// Drops a quarter of what there may be, what is worth least first: room for many, or a flood of callers could have all entries looked
    /// through for each of them. Of what is worth as much, those that happen to come first.
    fn make_room(&mut self, now: Time) {
        let most = CAPACITY / 4 * 3;
        for least in [Worth::Knowledge, Worth::Calls, Worth::Tokens] {
            let mut over = self.entries.len().saturating_sub(most);
            self.entries.retain(|_, entry| {
                let stays = over == 0 && least > Worth::Knowledge || entry.worth(now) >= least;
                over = over.saturating_sub(usize::from(!stays));
                stays
            });
        }
        let mut over = self.entries.len().saturating_sub(most);
        self.entries.retain(|_, _| {
            let stays = over == 0;
            over = over.saturating_sub(1);
            stays
        });
    }
}
