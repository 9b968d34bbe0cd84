//! What an isolate knows and holds of one limit for one caller.

use crate::gate::state::bucket_view::BucketView;
use crate::gate::state::lease_cache::LEASES;
use crate::gate::state::tokens::Tokens;
use crate::limit::lease::{HORIZON, SlowStart};
use crate::limit::time::{Span, Time};
use crate::protocol::rates::{Outcome, Terms};

/// What would be lost with an entry, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// A call or two.
    Nothing,
    /// Where an isolate on its own would begin.
    Knowledge,
    /// A remembered denial: each request of a flood would ask.
    Calls,
    /// Tokens: those in hand would be lost, those owed given away once more.
    Tokens,
}

#[derive(Debug)]
pub(super) struct CachedLimit {
    pub denied: Option<Denied>,
    pub leases: Vec<Tokens>,
    pub pace: SlowStart,
    pub horizon: Span,
    /// When the call that is under way was made.
    pub asked: Option<Time>,
    /// Tokens that requests wait for since then.
    pub wanted: u64,
    pub known: BucketView,
    pub spent: Time,
    /// Since when somebody has looked after its quota tokens.
    pub tended: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Denied {
    pub until: Time,
    pub outcome: Outcome,
    pub heard: Time,
}

impl CachedLimit {
    /// Nothing is known, and nothing is in hand.
    pub fn new(now: Time) -> CachedLimit {
        CachedLimit {
            denied: None,
            leases: Vec::new(),
            pace: SlowStart::new(now),
            horizon: HORIZON,
            asked: None,
            wanted: 0,
            known: BucketView::default(),
            spent: now,
            tended: None,
        }
    }

    /// What would be lost with it.
    pub fn worth(&self, now: Time) -> Worth {
        let holds = self.leases.iter().any(|held| held.left(now) > 0);
        match () {
            () if self.known.has_unreported() || holds => Worth::Tokens,
            () if self.denied.is_some_and(|denied| now < denied.until) => Worth::Calls,
            () if self.known.matters(now) => Worth::Knowledge,
            () => Worth::Nothing,
        }
    }

    pub fn holds_quota(&self, now: Time) -> bool {
        self.leases.iter().any(|held| matches!(held, Tokens::Quota { .. }) && held.left(now) > 0)
    }

    pub fn busy(&self, now: Time, patience: Span) -> bool {
        self.asked.is_some_and(|asked| now < asked.plus(patience))
    }

    /// How long what is wished for should last: no longer than half the tolerance, or its slots would be past.
    pub fn horizon_for(&self, terms: &Terms) -> Span {
        match terms {
            Terms::Rate(gcra) => self.horizon.min(Span::from_nanos(gcra.tolerance().as_nanos() / 2)),
            Terms::Quota(..) => self.horizon,
        }
    }

    /// Takes back what was spent. Tokens are spent from the front: what came back has the earliest slots.
    pub fn put(&mut self, held: Tokens, now: Time) {
        if let Err(held) = self.join(held)
            && held.left(now) > 0
            && self.leases.len() < LEASES
        {
            self.leases.insert(0, held);
        }
    }

    /// Adds tokens to those that they go on from, or gives them back. A day's tokens all go together, or many small
    /// grants would leave no room for the next, and its tokens would be lost.
    pub fn join(&mut self, mut held: Tokens) -> Result<(), Tokens> {
        for known in &mut self.leases {
            match known.rejoin(held) {
                Ok(()) => return Ok(()),
                Err(other) => held = other,
            }
        }
        Err(held)
    }

    /// Where the caller stands by what is known of the bucket, and what is in hand.
    pub fn standing(&self, spent: Tokens, now: Time) -> Outcome {
        let held: u64 = self.leases.iter().map(|held| held.left(now)).sum();
        let (left, more) = match spent {
            Tokens::Lease(gcra, _) => {
                let left = self.known.available(&gcra, now).saturating_add(held);
                (left.min(gcra.burst().saturating_sub(1)), gcra.interval())
            }
            Tokens::Quota { end, .. } => (self.known.left().saturating_add(held), end.since(now)),
        };
        Outcome::Met { left, more, slot: Span::ZERO, until: None }
    }
}
