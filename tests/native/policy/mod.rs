//! The configuration, and questions to it.
//!
//! The tests of `src/policy/NAME.rs` are in `NAME.rs` here. `strategies` makes arbitrary values for
//! property tests.

mod access;
mod address_verdict;
mod allowed;
mod binding;
mod capacity;
mod cors;
mod counter;
mod deployment_mode;
mod fault;
mod json_table;
mod known_names;
mod limit;
mod lookups;
mod operator_message;
mod origin;
mod path;
mod printed_name;
mod priority_effect;
mod read;
mod route;
mod route_parse;
mod route_table;
mod settings;
mod strategies;
mod value;

use std::collections::BTreeMap;

use penstock::policy::{Binding, Policy, Reading, Settings};
use serde_json::{Value, json};

/// Turns an object of vars into a map.
fn vars(vars: Value) -> BTreeMap<String, Value> {
    let Value::Object(vars) = vars else { panic!("an object of vars") };
    vars.into_iter().collect()
}

/// Reads the policy of these vars, which have no fault and no near miss.
fn policy(json: Value) -> Policy {
    let misses = Reading::new(&vars(json.clone())).near_misses;
    assert!(misses.is_empty(), "{misses:?}");
    Policy::read(&vars(json)).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn settings(vars: Value) -> Settings {
    policy(vars).settings
}

/// The names of the limits of a binding.
fn limit_names(binding: &Binding) -> Vec<&str> {
    binding.limits.iter().map(|limit| limit.name.as_str()).collect()
}

/// Returns all faults of these vars, as they are printed; the near misses come last.
#[track_caller]
fn faults(json: Value) -> Vec<String> {
    let Reading { written, faults, near_misses, .. } = Reading::new(&vars(json));
    assert!(faults.len() + near_misses.len() > 0, "no fault in {written:?}");
    faults.iter().chain(&near_misses).map(ToString::to_string).collect()
}

/// Expects each of these vars to have exactly the fault beside it.
#[track_caller]
fn each_has_one_fault(table: &[(Value, &str)]) {
    for (json, fault) in table {
        assert_eq!(faults(json.clone()), [*fault], "{json}");
    }
}

/// Expects each value of the var `name` to have exactly the problem beside it.
#[track_caller]
fn each_value_is_refused(name: &str, table: &[(Value, &str)]) {
    for (value, problem) in table {
        assert_eq!(faults(json!({ name: value })), [format!("{name}: {problem}")], "{value}");
    }
}
