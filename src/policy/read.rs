//! The vars of one deployment → its [`Policy`], or all faults at once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::identity::KeySources;
use crate::policy::capacity::Capacity;
use crate::policy::fault::{Fault, Faults};
use crate::policy::known_names::Var;
use crate::policy::limit::Mode;
use crate::policy::model::Policy;
use crate::policy::printed_name::Names;
use crate::policy::route_table::RouteTable;
use crate::policy::settings::Misconfigured;
use crate::policy::{
    binding, deployment_mode, known_names, printed_name, priority_effect, route_table, settings, socket_idle_effect,
};

/// All that the vars of one deployment say, right or wrong.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The configuration as it is written, before `MODE` has its effect. Parts at fault are left
    /// out, or have their default.
    pub written: Policy,
    /// The faults. A Worker with any of them is misconfigured.
    pub faults: Vec<Fault>,
    /// Vars whose names are nearly ours. They may belong to another program, so the Worker only
    /// warns of them; `make check` takes them for faults.
    pub near_misses: Vec<Fault>,
    /// The names of the bindings at fault.
    broken: Vec<String>,
}

impl Policy {
    /// Reads the vars of one deployment, as [`Reading::new`] does.
    ///
    /// # Errors
    /// All faults, each with its location.
    pub fn read(vars: &BTreeMap<String, Value>) -> Result<Policy, Vec<Fault>> {
        match Reading::new(vars).into_policy() {
            (Some(policy), faults) if faults.is_empty() => Ok(policy),
            (_, faults) => Err(faults),
        }
    }

    /// Gives all limits and caps the deployment's mode. `None` is `off`: they are removed.
    pub fn with_mode(mut self, mode: Option<Mode>) -> Policy {
        let bindings = self.base.iter_mut().chain(&mut self.bindings);
        bindings.for_each(|binding| deployment_mode::apply(mode, binding));
        // Without limits there are no calls to count.
        self.settings.budget = self.settings.budget.filter(|_| mode.is_some());
        self
    }
}

impl Reading {
    /// Reads the vars of one deployment. A limit is a table, or the JSON text of one.
    ///
    /// A `null` stands for a platform binding (a Durable Object, a database), which is no var.
    /// Under a name that begins with `LIMIT_` it is a fault.
    pub fn new(vars: &BTreeMap<String, Value>) -> Reading {
        let mut faults = Faults::default();
        let settings = settings::read(vars, &mut faults);
        let shared_key = match vars.get("KEY") {
            None | Some(Value::Null) => Some(KeySources::default()),
            Some(value) => settings::key_sources("KEY", value, &mut faults),
        };
        let (mut base, mut bindings) = (None, Vec::new());
        let mut names = BTreeMap::new();
        let (mut routes, mut priorities) = (Vec::new(), Vec::new());
        let (mut broken, mut near_misses, mut printed) = (Vec::new(), Faults::default(), Vec::new());
        for (var, value) in vars {
            match known_names::classify(var, value) {
                Var::Limit => {
                    let before = faults.count();
                    let Some(read) = binding::read(var, value, shared_key.as_ref(), &mut faults) else { continue };
                    if faults.count() > before {
                        broken.push(read.binding.name.clone());
                    }
                    routes.extend(read.routes);
                    printed.push(Names { var: var.clone(), own: read.binding.name.clone(), printed: read.printed });
                    if read.has_priority {
                        priorities.push((read.binding.name.clone(), var.clone()));
                    }
                    if let Some(other) = names.insert(read.binding.name.clone(), var) {
                        faults.add(var, format!("its limits would have the same names as those of {other}"));
                    }
                    if var == binding::BASE { base = Some(read.binding) } else { bindings.push(read.binding) }
                }
                Var::Misspelt(problem) => near_misses.add(var, problem),
                Var::Setting | Var::Foreign => {}
            }
        }
        route_table::find_duplicates(&routes, &mut faults);
        printed_name::find_duplicates(&printed, &mut faults);
        priority_effect::find_unused(base.as_ref(), &bindings, &priorities, &mut faults);
        socket_idle_effect::find_unused(base.as_ref(), &bindings, &mut faults);
        priority_effect::set_highest(base.as_mut(), &mut bindings);
        let routes = RouteTable::new(bindings.iter().map(|binding| &binding.routes));
        let written = Policy { base, bindings, settings, routes };
        Reading { written, faults: faults.into_vec(), near_misses: near_misses.into_vec(), broken }
    }

    /// Returns the policy by which a Worker decides, and all faults. `None`: the Worker answers
    /// every request with 500.
    ///
    /// A Worker with faults goes on only where `MISCONFIGURED` says `open`, and `ORIGIN` can be
    /// read: otherwise nobody knows where requests would go. Its policy then has no limit and no
    /// cap, and all else as far as it can be read. Bindings at fault do nothing at all.
    pub fn into_policy(self) -> (Option<Policy>, Vec<Fault>) {
        let Reading { mut written, faults, broken, .. } = self;
        if faults.is_empty() {
            let mode = written.settings.mode;
            return (Some(written.with_mode(mode)), faults);
        }
        let has_origin = !faults.iter().any(|fault| fault.location == "ORIGIN");
        if written.settings.misconfigured == Misconfigured::Closed || !has_origin {
            return (None, faults);
        }
        for binding in written.base.iter_mut().chain(&mut written.bindings) {
            if broken.contains(&binding.name) {
                binding.off = true;
                binding.capacity = Capacity::default();
            }
        }
        (Some(written.with_mode(None)), faults)
    }
}
