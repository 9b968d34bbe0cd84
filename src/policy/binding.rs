//! One `LIMIT_` table: the [`Binding`], and reading it.

use serde_json::Value;

use crate::identity::KeySources;
use crate::policy::access::{self, Access};
use crate::policy::allowed::{Allowed, LimitParts};
use crate::policy::capacity::{Capacity, CapacityReader};
use crate::policy::fault::{Faults, excerpt};
use crate::policy::json_table::{self, TableFields};
use crate::policy::known_names::{self, Effect};
use crate::policy::limit::{Limit, MODES, Mode, ON_ERROR, SCOPES};
use crate::policy::operator_message::{self, OperatorMessage};
use crate::policy::route::Pattern;
use crate::policy::route_table::WrittenRoute;
use crate::policy::{counter, printed_name, settings, value};

/// The var of the one binding without a route.
pub(super) const BASE: &str = "LIMIT_BASE";

/// One `LIMIT_*` table: the routes it is for, and the limits that their requests meet.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name in logs, and in its limits' names unless it has a `name`: `LIMIT_LOGIN_PAGE` is
    /// `login-page`.
    pub name: String,
    /// `route`: the patterns of its requests. Empty for `LIMIT_BASE` alone.
    pub routes: Vec<Pattern>,
    /// `per_ip`, `per_key` and `global`, in this order, and as listed within each. Requests meet
    /// them in the same order.
    pub limits: Vec<Limit>,
    /// The name of the actor that keeps the `global` limits.
    pub shared_actor: String,
    /// `exempt`: its requests meet no limit at all, not even those of base.
    pub exempt: bool,
    /// `mode = "off"`: the binding has no limits. It still takes its routes from less specific
    /// bindings, so that its requests meet the base limits alone.
    pub off: bool,
    /// Whether its limits and its `block` refuse.
    pub mode: Mode,
    /// `allow` and `block`, for its requests.
    pub access: Access,
    /// `in_flight`, `sockets` and the other fields about the load of its requests.
    pub capacity: Capacity,
    /// `message`: a text for its refusals, by language tag.
    pub messages: Vec<(String, String)>,
    /// `support`: a text for its refusals that says how to reach the operator.
    pub support: Option<String>,
    /// `docs`: a URL that its refusals link to.
    pub docs: Option<String>,
    /// The places where its callers put their key: `key`, or else `KEY`.
    pub key: KeySources,
}

impl Binding {
    /// Returns the operator's own words for its refusals.
    pub fn operator_message(&self) -> OperatorMessage<'_> {
        OperatorMessage { messages: &self.messages, support: self.support.as_deref(), docs: self.docs.as_deref() }
    }
}

/// A binding as far as it could be read, with facts that only the whole configuration can judge.
pub(super) struct ReadBinding {
    pub(super) binding: Binding,
    pub(super) routes: Vec<WrittenRoute>,
    /// `name`: the first half of its limits' printed names; `None` for the binding's own.
    pub(super) printed: Option<String>,
    /// Whether the table has the field `priority`.
    pub(super) has_priority: bool,
}

/// Reads the var `var`. `shared_key` is the value of `KEY`; `None`: `KEY` is at fault, and the
/// fault is recorded.
///
/// Returns `None` if the value is not a table.
pub(super) fn read(
    var: &str,
    value: &Value,
    shared_key: Option<&KeySources>,
    faults: &mut Faults,
) -> Option<ReadBinding> {
    let name = binding_name(var, faults);
    let fields = json_table::fields(var, value, faults)?;
    let table = TableFields { var, fields: &fields };
    for field in fields.keys().filter(|field| !known_names::is_field(field)) {
        faults.add(table.location(field), known_names::unknown_field(var, field));
    }
    let is_base = var == BASE;

    let routes = read_routes(&table, is_base, faults);
    let allowed: Vec<Allowed<'_>> =
        SCOPES.iter().filter_map(|(field, scope)| Allowed::read(&table, field, *scope, faults)).collect();
    let cost = table.read("cost", faults, |value| value::whole_number_or_text(value, 1, u64::MAX, ""));
    let mode = table.read("mode", faults, |value| value::choice(value, MODES)).unwrap_or(Some(Mode::Enforce));
    let on_error = table.read("on_error", faults, |value| value::choice(value, ON_ERROR));
    let exempt = read_exempt(&table, is_base, faults);
    let printed = table.read("name", faults, printed_name::read);
    let first_half = printed.as_deref().unwrap_or(&name);
    let capacity = CapacityReader { table, binding: &name, first_half, mode, on_error }.read(&allowed, &routes, faults);
    let mut nets = |field| table.get(field).map(|value| access::nets(&table.location(field), value, faults));
    let access = Access { allow: nets("allow").unwrap_or_default(), block: nets("block").unwrap_or_default() };
    let messages = table.read("message", faults, operator_message::messages).unwrap_or_default();
    let support = table.read("support", faults, operator_message::line);
    let docs = table.read("docs", faults, operator_message::docs);
    let key = match table.get("key") {
        Some(value) => settings::key_sources(&table.location("key"), value, faults),
        None => shared_key.cloned(),
    };

    let cost = cost.unwrap_or(1);
    for allowed in &allowed {
        allowed.check_cost(cost, &table, faults);
    }
    let mut limits = mode.map_or_else(Vec::new, |mode| {
        let parts = LimitParts { binding: &name, first_half, cost, mode, on_error, warmup: capacity.warmup };
        allowed.into_iter().flat_map(|allowed| allowed.into_limits(&parts)).collect()
    });
    counter::name_counters(&mut limits);
    limits.iter_mut().for_each(Limit::set_header_item);
    let binding = Binding {
        shared_actor: format!("{name}/global"),
        name,
        routes: routes.iter().map(|route| route.pattern.clone()).collect(),
        limits,
        exempt,
        off: mode.is_none(),
        mode: mode.unwrap_or(Mode::Enforce),
        access,
        capacity,
        messages,
        support,
        docs,
        key: key.unwrap_or_default(),
    };
    Some(ReadBinding { binding, routes, printed, has_priority: table.has("priority") })
}

/// Returns the name of the binding in `var`: `LIMIT_LOGIN_PAGE` is `login-page`.
fn binding_name(var: &str, faults: &mut Faults) -> String {
    let name = var.strip_prefix("LIMIT_").unwrap_or(var);
    let good = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() {
        faults.add(var, "a limit without a name, expected LIMIT_<NAME>, such as LIMIT_LOGIN");
    } else if !name.bytes().all(good) {
        faults.add(var, format!("{name:?} is no name for a limit, expected upper-case letters, digits and underscores, such as LIMIT_LOGIN"));
    }
    name.to_ascii_lowercase().replace('_', "-")
}

/// Reads `route`. Patterns at fault are left out.
fn read_routes(table: &TableFields<'_>, is_base: bool, faults: &mut Faults) -> Vec<WrittenRoute> {
    let location = table.location("route");
    let Some(value) = table.get("route") else {
        if !is_base {
            faults.add(
                location,
                "missing, expected a pattern such as \"POST /login\"; only LIMIT_BASE is met by every request",
            );
        }
        return Vec::new();
    };
    if is_base {
        faults.add(
            location,
            format!(
                "{}: LIMIT_BASE is met by every request and has no route; a limit for some of them needs another name",
                excerpt(value)
            ),
        );
        return Vec::new();
    }
    let texts = json_table::texts(&location, value, "a pattern such as \"POST /login\", or a list of them", faults);
    let read = texts.into_iter().filter_map(|(location, text)| {
        let pattern = Pattern::parse(text).map_err(|problem| format!("{text:?}: {problem}"));
        let pattern = faults.value_or_record(&location, pattern)?;
        Some(WrittenRoute { location, text: text.to_owned(), pattern })
    });
    read.collect()
}

/// Reads `exempt`, and finds contradictions between it and the other fields.
fn read_exempt(table: &TableFields<'_>, is_base: bool, faults: &mut Faults) -> bool {
    let exempt = table.read("exempt", faults, value::flag);
    let limiting: Vec<&str> = known_names::fields_with(Effect::Limits).filter(|field| table.has(field)).collect();
    let acts = known_names::fields_with(Effect::Acts).any(|field| table.has(field));
    match exempt {
        Some(true) if is_base => faults.add(
            table.location("exempt"),
            "LIMIT_BASE cannot be exempt from itself: leave it out to have no base limits",
        ),
        Some(true) if !limiting.is_empty() => {
            let fields = value::join_names(&limiting, "and");
            faults.add(
                table.location("exempt"),
                format!("an exempt route meets no limit, so {fields} would mean nothing: remove one or the other"),
            );
        }
        // An `exempt` at fault may have been meant as true, so the binding may be meant to have no
        // limits.
        Some(false) | None if limiting.is_empty() && !acts && (exempt.is_some() || !table.has("exempt")) => {
            faults.add(
                table.var,
                "limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, upload, allow and block, or exempt = true",
            );
        }
        _ => {}
    }
    exempt.unwrap_or(false)
}
