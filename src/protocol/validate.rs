//! Whether an actor can have said what it is heard to say.
//!
//! An answer may come from another version, through a fault, or from a damaged actor. What no actor can have said to this question is not
//! believed at all: then `on_error` decides, which keeps its guarantee, where a lease of made-up slots would not. What is only
//! unusual is read so that nobody is let in or locked out by it.

use crate::limit::gcra::Gcra;
use crate::limit::lease::{HORIZON, LONGEST_HORIZON, max_lead};
use crate::limit::time::{Span, Time};
use crate::limit::warmup;
use crate::protocol::rates::{Ask, CallError, Demand, Grant, Outcome, Reply, Terms};

/// No calendar day is longer, by whatever clock.
const DAY: Span = Span::from_secs(49 * 60 * 60);

/// More rows than this no actor writes for one demand, nor asks D1 as often.
const WORK: u32 = 8;

/// Who is full may say so for no longer, whatever else it has in its table: nobody believes it for longer either.
const FULL: Span = Span::from_secs(60);

/// How far wrong a clock may be by which a day's end is judged.
const SKEW: Span = Span::from_secs(60 * 60);

/// The answer to `ask`, if it can be one.
///
/// # Errors
/// [`CallError::Nonsense`], which says what cannot be.
pub fn believe(ask: &Ask, mut reply: Reply, wall: Time) -> Result<Reply, CallError> {
    if reply.outcomes.len() != ask.demands.len() {
        return Err(CallError::Nonsense("it is the answer to another question".into()));
    }
    reply.grants.resize(ask.demands.len(), None);
    reply.horizon = reply.horizon.max(HORIZON).min(LONGEST_HORIZON);
    // They are counted against `BUDGET`, of which one answer must not spend the day.
    let most = WORK.saturating_mul(u32::try_from(ask.demands.len()).unwrap_or(u32::MAX));
    (reply.rows, reply.d1) = (reply.rows.min(most), reply.d1.min(most));
    let mut wrong = None;
    for ((demand, outcome), grant) in ask.demands.iter().zip(&mut reply.outcomes).zip(&reply.grants) {
        if let (Terms::Quota(count, _), Outcome::Met { left, .. } | Outcome::Refused { left, .. }) =
            (&demand.terms, &mut *outcome)
        {
            // A day's count that has become smaller is news to the actor until it asks D1 again.
            *left = (*left).min(*count);
        }
        if let Outcome::Full { wait } = outcome {
            *wait = (*wait).min(FULL);
        }
        let alone = ask.subject.is_none() && matches!(outcome, Outcome::Full { .. });
        let full = alone.then_some("it is full of one bucket");
        let problem =
            full.or_else(|| outcome_problem(demand, outcome, wall)).or_else(|| grant_problem(demand, (*grant)?));
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

/// How far ahead of its now an actor's TAT may lie for a limit.
fn furthest(gcra: &Gcra) -> Span {
    gcra.capacity().plus(max_lead(gcra, 0))
}

fn outcome_problem(demand: &Demand, outcome: &Outcome, wall: Time) -> Option<&'static str> {
    let (burst, longest) = match &demand.terms {
        Terms::Rate(gcra) => {
            // While a rate warms up, it takes by up to a ramp longer to regain anything; it may be the ramp of other settings.
            let ramp = if demand.warmup == Span::ZERO { Span::ZERO } else { warmup::LONGEST };
            (gcra.burst(), furthest(gcra).plus(gcra.interval()).plus(ramp))
        }
        Terms::Quota(count, _) => (*count, DAY),
    };
    let (left, wait, slot, until) = match *outcome {
        Outcome::Met { left, more, slot, until } => (left, more, slot, until),
        Outcome::Refused { left, wait, until } => (left, wait, Span::ZERO, until),
        Outcome::Full { .. } | Outcome::Unknown => return None,
    };
    let end = until.map(|until| Time::from_millis(until.saturating_mul(1_000)));
    let rate = matches!(demand.terms, Terms::Rate(_));
    let no_day = end.is_some_and(|end| rate || end.plus(SKEW) < wall || wall.plus(DAY).plus(SKEW) < end);
    match () {
        () if left > burst => Some("more is left than there can be"),
        () if wait > longest => Some("a longer wait than there can be"),
        () if slot > longest => Some("a slot further ahead than there can be"),
        () if no_day => Some("the end of a day that there is not"),
        () => None,
    }
}

fn grant_problem(demand: &Demand, grant: Grant) -> Option<&'static str> {
    if grant.count > demand.wish.ahead.max(demand.wish.waiting) {
        return Some("more is granted than was wished for");
    }
    let Terms::Rate(gcra) = &demand.terms else { return None };
    let last = grant.first.plus(gcra.interval().times(grant.count));
    (last > furthest(gcra)).then_some("slots further ahead than there can be")
}
