//! The log.

mod lines;
mod refusal_sampler;
mod warnings;

use penstock::gate::plan::Plan;
use penstock::identity::Subject;
use penstock::policy::{Limit, Policy};
use std::collections::BTreeMap;

/// Calls `check` with a limit of 5 per minute and address.
fn with_limit(check: impl FnOnce(&Limit)) {
    let vars = BTreeMap::from([("LIMIT_BASE".to_string(), serde_json::json!({"per_ip": "5/min"}))]);
    let policy = Policy::read(&vars).unwrap();
    let plan = Plan::new(&policy, None, Subject::from_bytes([1; 16]), |_| None);
    check(plan.limits().next().unwrap());
}
