//! `Retry-After`: how long a refused client is told to wait.
//!
//! The first limit that refuses ends a decision. A client that comes back as soon as that limit has
//! room may be refused by another one: a limit that was not asked; one whose tokens stay paid; or
//! one whose tokens came back and have lapsed with their slots by then. So the wait covers all
//! limits of the plan, as far as this isolate knows them. A wait that is too short gets a client
//! refused again. The same holds for the second and third of several requests that are refused at
//! once: each is told the wait of its own [place](crate::gate::state::retry_places).

use crate::gate::decide::Gate;
use crate::gate::decision::{Decision, LimitWait, Reason, Refusal};
use crate::gate::plan::Plan;
use crate::gate::state::retry_places::Schedule;
use crate::gate::state::retry_spread::{RetrySpread, wait_while_unchecked};
use crate::identity::digest::Subject;
use crate::limit::time::{Span, Time};
use crate::policy::Scope;
use crate::protocol::rates::{Actors, Terms};

/// How many times the limits are looked at for the shortest wait. More would matter only where one
/// limit's wait after another outlasts the tokens of yet another limit.
const LOOKS: u32 = 3;

/// Sets the wait that the client is told: the wait of the limit that refused, the caller's turn
/// among all that this limit refused, the request's place among those that were refused with it,
/// and no less than the time for which other limits would refuse.
pub fn set_wait(decision: &mut Decision<'_>, spread: &mut RetrySpread, caller: Subject, wall: Time) {
    let min_wait = decision.min_wait;
    if let Some(refusal) = &mut decision.refusal {
        let Refusal { limit, wait, .. } = *refusal;
        refusal.wait = match refusal.reason {
            Reason::LimiterUnavailable => wait_while_unchecked(wait, caller),
            _ => spread.wait_for_turn(limit, wait, caller, wall),
        };
        refusal.wait_at_least(min_wait);
        if is_for_lack_of_tokens(refusal)
            && let Some((place, step)) = spread.place(limit, refusal.wait, refusal.subject.unwrap_or(caller), wall)
        {
            let others = decision.waits.iter().map(|other| other.of_place(place.ahead));
            refusal.wait = others.fold(place.first.plus(step.times(place.ahead)), Span::max);
        }
    }
    if let Some(refusal) = &mut decision.caps.refusal {
        refusal.wait = refusal.wait.max(min_wait);
    }
}

/// Whether the limit was asked and has too few tokens. An actor that keeps as many buckets as it
/// can refuses for another reason.
fn is_for_lack_of_tokens(refusal: &Refusal<'_>) -> bool {
    match refusal.reason {
        Reason::RateLimited => true,
        Reason::OverCapacity => refusal.limit.scope == Scope::Global,
        Reason::QuotaExhausted | Reason::LimiterUnavailable => false,
    }
}

impl<A: Actors> Gate<'_, A> {
    /// Sets how long the limits of `plan` would refuse the request for, at least. The limit or cap
    /// that refused it does so for `told`.
    pub(super) fn set_min_wait(&self, plan: &Plan<'_>, decision: &mut Decision<'_>) {
        let mut lease_cache = self.state.lease_cache.borrow_mut();
        let now = lease_cache.now((self.wall)());
        let groups = || plan.caller_limits.iter().chain(&plan.shared_limits);
        let mut wait = decision.wait();
        // A longer wait outlasts more tokens, so the limits are looked at again with it.
        for _ in 0..LOOKS {
            let mut least = Span::ZERO;
            decision.waits.clear();
            for (group, limit) in groups().flat_map(|group| group.limits.iter().map(move |limit| (group, limit))) {
                if limit.enforces() {
                    let (key, terms) = (group.key(limit), Terms::of(limit));
                    let wait = lease_cache.min_wait(key, &terms, limit.cost, now, now.plus(wait));
                    least = least.max(wait);
                    if wait > Span::ZERO {
                        let step = Schedule::of(limit).map_or(Span::ZERO, |schedule| schedule.step);
                        decision.waits.push(LimitWait { wait, step });
                    }
                }
            }
            decision.min_wait = decision.min_wait.max(least);
            if least <= wait {
                break;
            }
            wait = least;
        }
    }
}
