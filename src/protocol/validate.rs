//! Rejects answers about rates and quotas that no correct actor could give.
//!
//! An answer may come from another version, through a fault, or from a damaged actor. If it is
//! impossible for its question, the isolate believes no part of it, and `on_error` decides. That
//! keeps the guarantee of the limit; a lease of made-up slots would break it. A number that is only
//! unusual is cut down to its bound, so that it neither admits a request nor refuses one for too
//! long.

use crate::limit::debt::SIDE_BY_SIDE;
use crate::limit::gcra::Gcra;
use crate::limit::lease::{HORIZON, LONGEST_HORIZON};
use crate::limit::share::{self, Part};
use crate::limit::time::{Span, Time};
use crate::limit::warmup;
use crate::protocol::rates::{Ask, CallError, Demand, Grant, Outcome, Reply, Terms};

/// No calendar day is longer, even one on which its time zone moves across the date line.
const LONGEST_DAY: Span = Span::from_secs(49 * 60 * 60);

/// The most rows that an actor writes for one demand, and the most statements that it sends to D1.
const MOST_WORK: u32 = 8;

/// The longest time for which an actor's word that it is full is believed.
const LONGEST_FULL: Span = Span::from_secs(60);

/// The most that the clocks of isolate and actor may differ, where the end of a day is compared.
const CLOCK_SKEW: Span = Span::from_secs(60 * 60);

/// Returns the answer to `ask`, with unusual numbers cut down to their bounds. `wall` is the time
/// of the isolate's wall clock.
///
/// # Errors
/// [`CallError::Nonsense`], which names the limit and the part that cannot be.
pub fn valid_reply(ask: &Ask, mut reply: Reply, wall: Time) -> Result<Reply, CallError> {
    if reply.outcomes.len() != ask.demands.len() {
        return Err(CallError::Nonsense("it is the answer to another question".into()));
    }
    reply.grants.resize(ask.demands.len(), None);
    reply.horizon = reply.horizon.max(HORIZON).min(LONGEST_HORIZON);
    // Rows and statements count against `BUDGET`, and one answer must not spend a whole day's.
    let most = MOST_WORK.saturating_mul(u32::try_from(ask.demands.len()).unwrap_or(u32::MAX));
    (reply.rows, reply.d1) = (reply.rows.min(most), reply.d1.min(most));
    reply.parts.resize(ask.demands.len(), None);
    let mut wrong = None;
    let demands = ask.demands.iter().zip(&mut reply.outcomes).zip(&reply.grants).zip(&reply.parts);
    for (((demand, outcome), grant), part) in demands {
        if let (Terms::Quota(count, _), Outcome::Met { left, .. } | Outcome::Refused { left, .. }) =
            (&demand.terms, &mut *outcome)
        {
            // An actor learns of a smaller daily count only when it asks D1 again.
            *left = (*left).min(*count);
        }
        if let Outcome::Full { wait } = outcome {
            *wait = (*wait).min(LONGEST_FULL);
        }
        // The actor of a `global` limit keeps that limit's bucket alone.
        let full_of_one = ask.subject.is_none() && matches!(outcome, Outcome::Full { .. });
        let full = full_of_one.then_some("it is full of one bucket");
        let problem = full
            .or_else(|| outcome_problem(demand, outcome, wall))
            .or_else(|| grant_problem(demand, (*grant)?))
            .or_else(|| part_problem(demand, (*part)?.part?));
        wrong = wrong.or(problem.map(|problem| (demand, problem)));
    }
    match wrong {
        None => Ok(reply),
        Some((demand, problem)) => {
            let mut said = demand.limit.clone();
            said.push_str(": ");
            said.push_str(problem);
            Err(CallError::Nonsense(said))
        }
    }
}

/// The furthest that an actor's TAT of a limit may lie ahead of its now.
fn furthest(gcra: &Gcra) -> Span {
    gcra.capacity().plus(LONGEST_HORIZON)
}

/// The reason why no actor can have this outcome for `demand`; `None` if an actor can.
fn outcome_problem(demand: &Demand, outcome: &Outcome, wall: Time) -> Option<&'static str> {
    let (burst, longest) = match &demand.terms {
        Terms::Rate(gcra) => {
            // During a warm-up, a rate needs up to a ramp longer to regain a token. The ramp may be
            // of other settings than this isolate's.
            let ramp = if demand.warmup == Span::ZERO { Span::ZERO } else { warmup::LONGEST };
            // A bucket whose parts hold most of it regains tokens when their terms end.
            let term = if share::is_cut(gcra, demand.per_request) { Part::LONGEST_TERM } else { Span::ZERO };
            (gcra.burst(), furthest(gcra).plus(gcra.interval()).plus(ramp).plus(term))
        }
        Terms::Quota(count, _) => (*count, LONGEST_DAY),
    };
    let (left, wait, slot, until) = match *outcome {
        Outcome::Met { left, more, slot, until } => (left, more, slot, until),
        // After an edit, tokens of the old terms may be in the way for a while.
        Outcome::Refused { left, wait, until: None } => (left, wait.saturating_sub(SIDE_BY_SIDE), Span::ZERO, None),
        Outcome::Refused { left, wait, until } => (left, wait, Span::ZERO, until),
        Outcome::Full { .. } | Outcome::Unknown => return None,
    };
    let end = until.map(|until| Time::from_millis(until.saturating_mul(1_000)));
    let is_rate = matches!(demand.terms, Terms::Rate(_));
    let no_day =
        end.is_some_and(|end| is_rate || end.plus(CLOCK_SKEW) < wall || wall.plus(LONGEST_DAY).plus(CLOCK_SKEW) < end);
    match () {
        () if left > burst => Some("more is left than there can be"),
        () if wait > longest => Some("a longer wait than there can be"),
        () if slot > longest => Some("a slot further ahead than there can be"),
        () if no_day => Some("the end of a day that there is not"),
        () => None,
    }
}

/// The reason why no actor can give this part to `demand`; `None` if an actor can.
fn part_problem(demand: &Demand, part: Part) -> Option<&'static str> {
    let possible =
        matches!(&demand.terms, Terms::Rate(gcra) if demand.part.is_some() && part.is_possible(gcra.burst()));
    (!possible).then_some("a part that there cannot be")
}

/// The reason why no actor can grant this to `demand`; `None` if an actor can.
fn grant_problem(demand: &Demand, grant: Grant) -> Option<&'static str> {
    if grant.count > demand.wish.ahead.max(demand.wish.waiting) {
        return Some("more is granted than was wished for");
    }
    let Terms::Rate(gcra) = &demand.terms else { return None };
    let last = grant.first.plus(gcra.interval().times(grant.count));
    (last > furthest(gcra)).then_some("slots further ahead than there can be")
}
