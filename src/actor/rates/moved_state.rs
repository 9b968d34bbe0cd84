//! Shared limits whose state an earlier version has kept in another object.
//!
//! That version had an object for each `global` limit, by its printed name: `shared/api/global-2`
//! for the second one of a list. Now one object keeps all of a binding, `shared/api/global`. It
//! asks the earlier object for its debt once, and the earlier object hands questions on.

use crate::identity::digest::Subject;
use crate::limit::gcra::Gcra;
use crate::limit::lease::Wish;
use crate::limit::time::Span;
use crate::protocol::rates::{Ask, Demand, Enforcement, Intent, Outcome, Terms};

/// Returns the name of the actor that keeps the limit now; `None` if an earlier version kept it
/// there as well.
pub fn home_of(limit: &str, subject: Option<Subject>) -> Option<&str> {
    let (home, number) = limit.rsplit_once('-')?;
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (subject.is_none() && is_numbered && home.ends_with("/global")).then_some(home)
}

/// Returns the actor to which a question of an earlier version is handed on; `None` if the question
/// is in the right place.
pub fn hand_on_to(ask: &Ask) -> Option<&str> {
    let demand = ask.demands.first().filter(|demand| demand.counter.is_none())?;
    home_of(&demand.limit, ask.subject)
}

/// The question as it is handed on. It names the state by its printed name, so that the actor now
/// in charge does not hand it on again.
pub fn handed_on(ask: &Ask) -> Ask {
    let mut ask = ask.clone();
    for demand in &mut ask.demands {
        demand.counter = Some(demand.limit.clone());
    }
    ask
}

/// Whether an earlier version may have kept the demand's debt in another object. The question for
/// that debt is itself about debt in its own object.
pub fn is_to_be_fetched(ask: &Ask, demand: &Demand) -> bool {
    let is_question = ask.intent == Intent::Peek && demand.counter.as_ref() == Some(&demand.limit);
    matches!(demand.terms, Terms::Rate(_)) && home_of(&demand.limit, ask.subject).is_some() && !is_question
}

/// The question for the debt of a shared rate, which every version understands.
pub fn question(demand: &Demand, patience: Span) -> Ask {
    let demand = Demand {
        counter: Some(demand.limit.clone()),
        cost: 0,
        wish: Wish::default(),
        unreported: 0,
        unused: None,
        enforcement: Enforcement::Shadow,
        warmup: Span::ZERO,
        ..demand.clone()
    };
    let horizon = Span::ZERO;
    Ask { intent: Intent::Peek, subject: None, demands: vec![demand], durable_after: Span::ZERO, patience, horizon }
}

/// The debt that an answer to [`question`] tells of; `None` if it tells of none.
pub fn debt(terms: &Terms, outcome: &Outcome) -> Option<Span> {
    let Terms::Rate(gcra) = terms else { return None };
    match *outcome {
        Outcome::Met { left, more, .. } => Some(debt_of(gcra, left, more)),
        Outcome::Refused { .. } | Outcome::Full { .. } | Outcome::Unknown => None,
    }
}

/// The debt of a bucket with `left` whole tokens, and one more after the time `more`.
fn debt_of(gcra: &Gcra, left: u64, more: Span) -> Span {
    if more == Span::ZERO {
        return Span::ZERO;
    }
    gcra.interval().times(gcra.burst().saturating_sub(left).saturating_sub(1)).plus(more)
}
