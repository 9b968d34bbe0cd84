//! Max-min fair shares of a cap that has too few permits for all holders.

use crate::actor::permits::holding::Holding;
use crate::limit::time::Time;
use crate::protocol::permits::PermitAsk;

/// The permits that do not divide evenly go to other holders after this many seconds.
const TURN_SECS: u64 = 10;

/// The fair share of the holder that asks and wants `wants` permits, of a cap of `cap`.
///
/// No holder's share is larger than its want, and the holders that want more share the rest
/// equally: `share = min(want, level)`, with the highest `level` for which all shares fit. Holders
/// of a higher priority come first: the larger of their wants and the part that is reserved for
/// them is taken off the cap before. If all wants fit, the share is everything that is left then.
/// Holders of a lower priority count with at most the permits that they hold.
pub(super) fn fair_share(holders: &[(u64, Holding)], ask: &PermitAsk, wants: u64, cap: u64, now: Time) -> u64 {
    let &PermitAsk { holder, reserve, .. } = ask;
    let other_holders = || holders.iter().filter(|(id, _)| *id != holder);
    let higher = other_holders().filter(|(_, other)| other.reserve < reserve).map(|(_, other)| other.wants);
    let cap = cap.saturating_sub(reserve.of_cap(cap).max(higher.fold(0, u64::saturating_add)));
    let other_wants = || {
        let others = other_holders().filter(|(_, other)| other.reserve >= reserve);
        others.map(|(id, other)| {
            (*id, if other.reserve > reserve { other.wants.min(other.permits) } else { other.wants })
        })
    };
    let sum_at =
        |level: u64| other_wants().map(|(_, other)| other.min(level)).fold(wants.min(level), u64::saturating_add);
    if sum_at(u64::MAX) <= cap {
        return cap;
    }
    // Bisection: the sum of all shares fits at `level`, and does not fit at `above`.
    let (mut level, mut above) = (0, cap.saturating_add(1));
    while above.saturating_sub(level) > 1 {
        let middle = level.midpoint(above);
        if sum_at(middle) <= cap { level = middle } else { above = middle }
    }
    if wants <= level {
        return wants;
    }
    // The remainder goes, one permit each, to the first of the holders that want more. Their order
    // changes with each turn.
    let turn = now.as_secs() / TURN_SECS;
    let order = |id: u64| (id ^ turn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let before = other_wants().filter(|(id, other)| *other > level && order(*id) < order(holder)).count() as u64;
    let remainder = cap.saturating_sub(sum_at(level));
    level.saturating_add(u64::from(before < remainder))
}
