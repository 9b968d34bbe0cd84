//! Answers that Penstock makes itself: their text, their headers and their formats.

mod answer;
mod cors;
mod loop_detection;
mod negotiate;
mod preflight;
mod problem;
mod rate_headers;
mod refusal_page;
mod rpc;
mod target;

use penstock::gate::decision::{Reason, Refusal};
use penstock::gate::plan::Plan;
use penstock::gate::usages::Usages;
use penstock::http::answer::Answer;
use penstock::http::negotiate::Recipient;
use penstock::http::problem::Problem;
use penstock::http::rate_headers::RateHeaders;
use penstock::identity::Subject;
use penstock::limit::time::{Span, Time};
use penstock::log::request_id::RequestId;
use penstock::policy::{Binding, Policy};
use std::collections::BTreeMap;

/// The example of the documentation: refused at 18:00:00, twelve seconds to wait.
const NOW: Time = Time::from_millis(1_795_975_200_000);

/// Reads a policy from `vars`, an object in JSON.
fn policy(vars: &str) -> Policy {
    let vars: BTreeMap<String, serde_json::Value> = serde_json::from_str(vars).unwrap();
    Policy::read(&vars).unwrap()
}

/// The parts of a refusal that a test chooses.
struct Refused {
    limit: &'static str,
    reason: Reason,
    wait: Span,
    until: Option<Time>,
}

impl Refused {
    /// The problem of a request for `/login` that is refused.
    fn problem<'p>(&self, policy: &'p Policy) -> Problem<'p> {
        let me = Subject::from_bytes([1; 16]);
        let plan = Plan::new(policy, policy.route("GET", "h", "/login"), me, |_| Some(me));
        let limit = plan.limits().find(|limit| limit.name == self.limit).unwrap();
        let Refused { reason, wait, until, .. } = *self;
        let operator = policy.binding(&limit.binding).map(Binding::operator_message).unwrap();
        let refusal = Refusal { limit, reason, wait, until, left: 0, subject: None };
        let told = RateHeaders { style: policy.settings.headers, plan: &plan, usages: &Usages::default(), now: NOW };
        Problem::refusal(&refusal, operator, &told)
    }

    /// The answer to a request with this method and these headers.
    fn answer(&self, policy: &Policy, method: &str, headers: &[(&str, &str)]) -> Answer {
        Answer::new(&self.problem(policy), &recipient(method, headers), &policy.settings)
    }
}

/// The recipient of the answer to a request with this method and these headers.
fn recipient(method: &str, headers: &[(&str, &str)]) -> Recipient {
    let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
    let id = RequestId::new(header("cf-ray").as_deref(), 0xff);
    Recipient::read(method, None, header, id)
}

/// The value of a header in an answer. Panics when the header is there twice.
fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut found = answer.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = found.next().map(|(_, value)| value.as_str());
    assert!(found.next().is_none(), "{name} twice");
    first
}
