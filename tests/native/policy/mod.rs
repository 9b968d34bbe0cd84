//! What the vars say, and which binding a request is for.
mod access;
mod bindings;
mod capacity;
mod check;
mod faults;
mod precedence;
mod properties;
mod route_faults;
mod routes;
mod said;
mod settings;

use std::collections::BTreeMap;

use penstock::policy::Policy;
use serde_json::Value;

/// An object of vars as a map.
fn vars(vars: Value) -> BTreeMap<String, Value> {
    let Value::Object(vars) = vars else { panic!("an object of vars") };
    vars.into_iter().collect()
}

/// The policy that `json` says.
fn policy(json: Value) -> Policy {
    Policy::read(&vars(json)).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// All faults of `json`, as they are printed.
fn faults(json: Value) -> Vec<String> {
    match Policy::read(&vars(json)) {
        Ok(policy) => panic!("no fault in {policy:?}"),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Each `json` has the one fault beside it.
fn each_has_one_fault(table: &[(Value, &str)]) {
    for (json, fault) in table {
        assert_eq!(faults(json.clone()), [*fault], "{json}");
    }
}
