//! The vars of one deployment → its [`Policy`], or all faults at once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::identity::KeySources;
use crate::policy::fault::{Fault, Faults};
use crate::policy::known_names::Var;
use crate::policy::model::Policy;
use crate::policy::route_table::RouteTable;
use crate::policy::{binding, known_names, priority_effect, route_table, settings};

impl Policy {
    /// Reads the vars of one deployment. A limit is a table, or the JSON text of one.
    ///
    /// A `null` stands for a platform binding (a Durable Object, a database), which is no var.
    /// Under a name that begins with `LIMIT_` it is a fault.
    ///
    /// # Errors
    /// All faults, each with its location.
    pub fn read(vars: &BTreeMap<String, Value>) -> Result<Policy, Vec<Fault>> {
        let mut faults = Faults::default();
        let settings = settings::read(vars, &mut faults);
        let shared_key = match vars.get("KEY") {
            None | Some(Value::Null) => Some(KeySources::default()),
            Some(value) => settings::key_sources("KEY", value, &mut faults),
        };
        let mut base = None;
        let mut bindings = Vec::new();
        let mut names = BTreeMap::new();
        let mut routes = Vec::new();
        let mut priorities = Vec::new();
        for (var, value) in vars {
            match known_names::classify(var) {
                Var::Limit => {
                    let Some(read) = binding::read(var, value, shared_key.as_ref(), &mut faults) else { continue };
                    routes.extend(read.routes);
                    if read.has_priority {
                        priorities.push((read.binding.name.clone(), var.clone()));
                    }
                    if let Some(other) = names.insert(read.binding.name.clone(), var) {
                        faults.add(var, format!("its limits would have the same names as those of {other}"));
                    }
                    if var == binding::BASE { base = Some(read.binding) } else { bindings.push(read.binding) }
                }
                Var::Misspelt(problem) if !value.is_null() => faults.add(var, problem),
                Var::Misspelt(_) | Var::Setting | Var::Foreign => {}
            }
        }
        route_table::find_duplicates(&routes, &mut faults);
        priority_effect::find_unused(base.as_ref(), &bindings, &priorities, &mut faults);
        let faults = faults.into_vec();
        if !faults.is_empty() {
            return Err(faults);
        }

        priority_effect::set_highest(base.as_mut(), &mut bindings);
        let limits = base.iter_mut().chain(&mut bindings).flat_map(|binding| &mut binding.limits);
        for (limit, number) in limits.zip(0..) {
            limit.number = number;
        }
        let routes = RouteTable::new(bindings.iter().map(|binding| &binding.routes));
        Ok(Policy { base, bindings, settings, routes })
    }
}
