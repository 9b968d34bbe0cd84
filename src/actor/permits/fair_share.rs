//! Who is lent how many slots where there are too few for all.

use crate::actor::permits::lender::PermitLender;
use crate::limit::time::Time;
use crate::protocol::permits::PermitAsk;

impl PermitLender {
    /// The max-min fair share of who asks, which wants so many: nobody gets more than it wants, and what one does not want is shared
    /// by the others. It is all where there is enough for all; of what is left to those above, or wanted by them, nobody below has a share.
    pub(crate) fn share(&self, question: &PermitAsk, wants: u64, cap: u64, now: Time) -> u64 {
        let &PermitAsk { holder, reserve, .. } = question;
        let holders = || self.holders.iter().filter(|(id, _)| *id != holder);
        let higher = holders().filter(|(_, other)| other.reserve < reserve).map(|(_, other)| other.wants);
        let cap = cap.saturating_sub(reserve.of_cap(cap).max(higher.fold(0, u64::saturating_add)));
        let others = || {
            let others = holders().filter(|(_, other)| other.reserve >= reserve);
            others.map(|(id, other)| {
                (*id, if other.reserve > reserve { other.wants.min(other.slots) } else { other.wants })
            })
        };
        let at_level =
            |level: u64| others().map(|(_, other)| other.min(level)).fold(wants.min(level), u64::saturating_add);
        if at_level(u64::MAX) <= cap {
            return cap;
        }
        // The highest level up to which all can have what they want: below `above`, where they cannot.
        let (mut level, mut above) = (0, cap.saturating_add(1));
        while above.saturating_sub(level) > 1 {
            let middle = level.midpoint(above);
            if at_level(middle) <= cap { level = middle } else { above = middle }
        }
        if wants <= level {
            return wants;
        }
        // What does not divide goes to some of those who want more, and to others after a while.
        let turn = now.as_secs() / 10;
        let place = |id: u64| (id ^ turn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let before = others().filter(|(id, other)| *other > level && place(*id) < place(holder)).count() as u64;
        let over = cap.saturating_sub(at_level(level));
        level.saturating_add(u64::from(before < over))
    }
}
