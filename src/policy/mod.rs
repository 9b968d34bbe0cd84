//! What the vars say: raw values → a validated, immutable [`Policy`], or every fault at once, each with its place.
//!
//! ```text
//! vars ─▶ name (whose var is it?) ─▶ settings            ─┐
//!                                 ─▶ table ─▶ binding    ─┴─▶ Policy ─▶ lookup (which binding is a request for?)
//! ```
//!
//! The Worker and `make check` use this one parser, so what passes the check is what runs. Nothing is ever taken to
//! mean "unlimited": a field or a value that is not understood is a fault.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::identity::KeySources;
use crate::limit::rate::Allowance;

pub mod access;
mod binding;
pub mod capacity;
mod cors;
mod display;
pub mod fault;
mod host;
mod json_table;
mod known_names;
mod operator_message;
mod origin;
pub mod path;
mod priority;
pub mod route;
mod route_table;
mod settings;
mod value;

pub use access::{Access, AddressVerdict, Block};
pub use capacity::{Cap, Capacity, Size};
pub use cors::{Cors, Readable};
pub use fault::Fault;
pub use operator_message::OperatorMessage;
pub use priority::Priority;
pub use settings::{HeaderStyle, Settings};

/// The one binding without a route.
const BASE: &str = "LIMIT_BASE";

/// Everything the configuration says, validated; read once per isolate.
#[derive(Clone, Debug)]
pub struct Policy {
    /// `LIMIT_BASE`, which every request meets unless its route is exempt.
    pub base: Option<Binding>,
    /// The other `LIMIT_*` bindings, by name. Which of them a request is for says [`Policy::route`].
    pub bindings: Vec<Binding>,
    /// The vars that are not limits.
    pub settings: Settings,
    lookup: route_table::RouteTable,
}

/// One `LIMIT_*` table.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Its name in limits' names and logs: `LIMIT_LOGIN_PAGE` is `login-page`.
    pub name: String,
    /// The patterns it is for; empty for `LIMIT_BASE` alone.
    pub routes: Vec<route::Pattern>,
    /// In the order in which they are met: `per_ip`, `per_key`, `global`, and as listed within each.
    pub limits: Vec<Limit>,
    /// Meets no limit at all, not even the base ones.
    pub exempt: bool,
    /// `mode = "off"`: has no limits, and still takes its routes from less specific bindings, so that what it matches
    /// meets the base limits alone.
    pub off: bool,
    /// Whether its limits and its `block` refuse.
    pub mode: Mode,
    /// Who of its requests' addresses stands apart.
    pub access: Access,
    /// How much may be under way at once.
    pub capacity: Capacity,
    /// `message`: said in its refusals.
    pub message: Option<String>,
    /// `docs`: a URL that its refusals link to.
    pub docs: Option<String>,
    /// Where this binding's callers put their key (`key`, or else `KEY`).
    pub key: KeySources,
}

/// One limit of one binding.
#[derive(Clone, Debug)]
pub struct Limit {
    /// `login/ip`, `api/key-2`.
    pub name: String,
    /// Its place among all of the policy's limits: a short name for it within one isolate, whose policy never changes.
    pub number: u32,
    /// Who is counted.
    pub scope: Scope,
    /// How much is allowed.
    pub allowance: Allowance,
    /// Tokens that one request takes, ≥ 1 and never above the burst or the day's count.
    pub cost: u64,
    /// Whether it refuses, or only decides and logs. (`off` limits are validated and then left out.)
    pub mode: Mode,
    /// What to do when it cannot be checked.
    pub on_error: OnError,
}

/// Who is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The client's address.
    Ip,
    /// The caller's key.
    Key,
    /// Everyone together.
    Global,
}

/// Whether a limit refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It does.
    Enforce,
    /// It decides, counts and logs, and refuses nobody.
    Shadow,
}

/// What happens when a limit cannot be checked within its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The isolate goes on alone.
    Local,
    /// The request passes.
    Open,
    /// The request is refused.
    Closed,
}

impl Policy {
    /// Reads the vars of one deployment. A limit is a table or the JSON text of one. A `null` stands for a binding of
    /// another kind (a Durable Object, a database), which is nobody's var; only as a `LIMIT_` it is a fault.
    ///
    /// # Errors
    /// Every fault there is, each with its place.
    pub fn read(vars: &BTreeMap<String, Value>) -> Result<Policy, Vec<Fault>> {
        let mut faults = fault::Faults::default();
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
            match known_names::var(var) {
                known_names::Var::Limit => {
                    let Some(read) = binding::read(var, value, shared_key.as_ref(), &mut faults) else { continue };
                    routes.extend(read.routes);
                    if read.ranked {
                        priorities.push((read.binding.name.clone(), var.clone()));
                    }
                    if let Some(other) = names.insert(read.binding.name.clone(), var) {
                        faults.add(var, format!("its limits would have the same names as those of {other}"));
                    }
                    if var == BASE { base = Some(read.binding) } else { bindings.push(read.binding) }
                }
                known_names::Var::Wrong(problem) if !value.is_null() => faults.add(var, problem),
                known_names::Var::Wrong(_) | known_names::Var::Setting | known_names::Var::Foreign => {}
            }
        }
        route_table::find_duplicates(&routes, &mut faults);
        priority::rank(&mut base, &mut bindings, &priorities, &mut faults);
        let faults = faults.into_vec();
        if !faults.is_empty() {
            return Err(faults);
        }
        let limits = base.iter_mut().chain(&mut bindings).flat_map(|binding| &mut binding.limits);
        for (limit, number) in limits.zip(0..) {
            limit.number = number;
        }
        let lookup = route_table::RouteTable::new(&bindings);
        Ok(Policy { base, bindings, settings, lookup })
    }
}
