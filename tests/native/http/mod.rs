//! What a caller reads.

mod answer;
mod cors;
mod log;
mod negotiate;
mod page;
mod problem;
mod target;

use penstock::gate::decision::{Reason, Refusal};
use penstock::gate::plan::Plan;
use penstock::http::answer::{Answer, Recipient};
use penstock::http::problem::Problem;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::policy::{Binding, Policy};
use std::collections::BTreeMap;

/// The example of the documentation: refused at 18:00:00, twelve seconds to wait.
const NOW: Time = Time::from_millis(1_795_975_200_000);

/// The policy that `vars` (an object in JSON) says.
fn policy(vars: &str) -> Policy {
    let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
    Policy::read(&vars).unwrap()
}

/// What of a refusal a test chooses.
struct Refused {
    limit: &'static str,
    reason: Reason,
    wait: Span,
    until: Option<Time>,
}

impl Refused {
    /// The problem that a caller of `/login` has.
    fn problem<'p>(&self, policy: &'p Policy) -> Problem<'p> {
        let me = Subject::from_bytes([1; 16]);
        let plan = Plan::new(policy, policy.route("GET", "h", "/login"), me, |_| Some(me));
        let met = plan.limits().find(|met| met.limit.name == self.limit).unwrap();
        let Refused { reason, wait, until, .. } = *self;
        let words = policy.binding(met.binding).map(Binding::operator_message).unwrap();
        let refusal = Refusal { planned: met, reason, wait, until, left: 0, subject: None };
        Problem::refusal(&refusal, &plan, words, policy.settings.headers, NOW)
    }

    /// The answer to a request with this method and these headers.
    fn answer(&self, policy: &Policy, method: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::new(&self.problem(policy), &recipient(method, headers), &policy.settings)
    }
}

/// Whoever sends such a request.
fn recipient(method: &str, headers: &[(&str, &str)]) -> Recipient {
    Recipient::read(method, |name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
}

/// An answer's header; never there twice.
fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut found = answer.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = found.next().map(|(_, value)| value.as_str());
    assert!(found.next().is_none(), "{name} twice");
    first
}
