//! What of a book's slots is for whom: all are for requests that leave nothing to others, and each [`Reserve`]'s are part of those of the one before.

use super::super::each::Each;
use super::super::{Answer, Reserve};
use super::{Asked, Book};
use crate::limit::time::Time;

impl Book {
    /// Whether one more may pass that leaves so much to others: it needs a slot that such may use, and those who leave less may use that too.
    pub(super) fn has_room(&mut self, leaves: Reserve, now: Time) -> bool {
        let used = self.users.each(now);
        let full = |part| used.from(part) >= self.held_for(part, now).min(self.share.of(part));
        !Reserve::ALL.into_iter().any(|part| part <= leaves && full(part))
    }

    /// What is kept: what has been of use lately to each kind, and is not over the fair share. What one has no more use for is not kept for another.
    pub(super) fn keeps(&mut self, now: Time) -> Each {
        let used = self.users.each(now);
        let recent = self.recent(used);
        let mut keeps = Each::default();
        let mut sum: u64 = 0;
        for part in Reserve::ALL.into_iter().rev() {
            sum = sum.saturating_add(with_margin(recent.of(part)));
            sum = sum.min(self.held_for(part, now)).min(self.share.of(part));
            *keeps.at(part) = sum;
        }
        let all = sum.max(used.from(Reserve::Nothing)).min(self.held(now));
        keeps.up_to(all)
    }

    /// The most of each kind under way lately.
    fn recent(&self, used: Each) -> Each {
        used.max(self.peak).max(self.last_peak)
    }

    /// How many slots it takes for `more` requests that leave so much, beside those that are under way, or lately were where there are no more,
    /// if it has `keeps`: a quarter more than there are of the kind, so that a load that grows need not ask for every step.
    pub(super) fn wants(&mut self, keeps: Each, more: u64, leaves: Reserve, now: Time) -> u64 {
        let used = self.users.each(now);
        let used = if more == 0 { self.recent(used) } else { used };
        let more = more.saturating_add(used.of(leaves).saturating_add(more) / 4);
        let mut lacks = 0;
        for part in Reserve::ALL {
            if part <= leaves {
                lacks = used.from(part).saturating_add(more).saturating_sub(keeps.of(part)).max(lacks);
            }
        }
        keeps.of(Reserve::Nothing).saturating_add(lacks)
    }

    /// Takes in what the actor has lent.
    pub(super) fn lend(&mut self, asked: &Asked, answer: &Answer, now: Time) {
        // Past its term the actor may have lent to others what was held, and what it gives back is of what they leave.
        if now >= self.until {
            self.held = Each::default();
        }
        let grown = answer.slots.saturating_sub(asked.keeps);
        for part in Reserve::ALL {
            let most = answer.cap.saturating_sub(part.of_cap(answer.cap)).min(answer.slots);
            let (held, share) = (self.held.at(part), self.share.at(part));
            if part <= asked.leaves {
                *held = held.saturating_add(grown);
                // Those who leave less have no smaller share.
                *share = if part == asked.leaves { answer.share } else { answer.share.max(*share) };
            }
            *held = most.min(*held);
        }
        *self.held.at(Reserve::Nothing) = answer.slots;
    }
}

/// A quarter more.
fn with_margin(slots: u64) -> u64 {
    slots.saturating_add(slots / 4)
}
