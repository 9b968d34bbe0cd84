//! What of a book's slots is for whom: all are for requests that leave nothing to others, and each [`Reserve`]'s are part of those of the one before.

use crate::concurrency::per_reserve::PerReserve;
use crate::concurrency::permit_lease::{Asked, PermitLease};
use crate::limit::time::Time;
use crate::protocol::permits::{PermitReply, Reserve};
use core::cmp::Ordering;

impl PermitLease {
    /// Whether one more may pass that leaves so much to others: not before all that is under way, whatever its priority, leaves room for
    /// it, and for those of a higher one that go first.
    pub(super) fn has_room(&mut self, reserve: Reserve, now: Time) -> bool {
        let before = self.first(reserve, now).saturating_add(self.users.count(now));
        before < self.held_for(reserve, now).min(self.share.of(reserve))
    }

    /// How many go before one that leaves so much to others: those of a higher priority that wait, or found no slot a moment ago and will come again.
    fn first(&mut self, reserve: Reserve, now: Time) -> u64 {
        self.roll(now);
        self.waiting.each(now).below(reserve).saturating_add(self.unmet.below(reserve))
    }

    /// What is kept: what has been of use lately to each kind, and is not over the fair share. What one has no more use for is not kept for another.
    pub(super) fn keeps(&mut self, now: Time) -> PerReserve {
        let used = self.users.each(now);
        let recent = self.recent(used);
        let mut sum: u64 = 0;
        for part in Reserve::ALL.into_iter().rev() {
            let most = self.held_for(part, now).min(self.share.of(part));
            sum = sum.saturating_add(with_margin(recent.of(part))).min(most);
        }
        let held = if now < self.until { self.held } else { PerReserve::default() };
        held.up_to(sum.max(used.sum()))
    }

    /// The most of each kind under way lately.
    fn recent(&self, used: PerReserve) -> PerReserve {
        used.max(self.peak).max(self.last_peak)
    }

    /// How many slots it takes for `more` requests that leave so much, beside those that are under way, or lately were where there are no more:
    /// a quarter more than there are of the kind, so that a load that grows need not ask for every step, and those that go first.
    pub(super) fn wants(&mut self, more: u64, reserve: Reserve, now: Time) -> u64 {
        let used = self.users.each(now);
        let used = if more == 0 { self.recent(used) } else { used };
        let more = more.saturating_add(used.of(reserve).saturating_add(more) / 4);
        used.sum().saturating_add(more).saturating_add(self.first(reserve, now))
    }

    /// Takes in what the actor has lent.
    pub(super) fn lend(&mut self, asked: &Asked, answer: &PermitReply, now: Time) {
        // Past its term the actor may have lent to others what was held, and what it gives back is of what they leave.
        if now >= self.until {
            self.held = PerReserve::default();
        }
        for part in Reserve::ALL {
            let left = part.of_cap(answer.cap);
            let (held, share) = (self.held.at(part), self.share.at(part));
            // What all that others hold leaves of this is theirs, even if all of it is used.
            let known = answer.slots.saturating_add(answer.free).saturating_sub(left);
            *held = known.max(*held).min(answer.slots).min(answer.cap.saturating_sub(left));
            // Those who leave less have no smaller share.
            *share = match part.cmp(&asked.reserve) {
                Ordering::Less => answer.share.max(*share),
                Ordering::Equal => answer.share,
                Ordering::Greater => answer.share.min(*share),
            };
        }
        *self.held.at(Reserve::Nothing) = answer.slots;
    }
}

/// A quarter more.
fn with_margin(slots: u64) -> u64 {
    slots.saturating_add(slots / 4)
}
