//! One `LIMIT_` table → a [`Binding`].

use serde_json::{Map, Value};

use crate::identity::KeySources;
use crate::limit::rate::Allowance;
use crate::policy::fault::{Faults, shown};
use crate::policy::route::Pattern;
use crate::policy::{
    Access, Binding, Limit, Mode, OnError, Scope, access, capacity, json_table, known_names, operator_message,
    settings, value,
};

/// A binding as far as it could be read, and its patterns with their place and as written.
pub(super) struct Read {
    pub(super) binding: Binding,
    pub(super) routes: Vec<(String, String, Pattern)>,
    /// Whether it says a priority.
    pub(super) ranked: bool,
}

/// What one field that holds limits says, before the other fields are known.
pub(super) struct Allowed<'a> {
    pub(super) scope: Scope,
    field: &'static str,
    /// The text, for messages, and what it means.
    pub(super) entries: Vec<(&'a str, Allowance)>,
}

const MODES: &[(&str, Option<Mode>)] =
    &[("enforce", Some(Mode::Enforce)), ("shadow", Some(Mode::Shadow)), ("off", None)];
const ON_ERROR: &[(&str, OnError)] = &[("local", OnError::Local), ("open", OnError::Open), ("closed", OnError::Closed)];
const SCOPES: &[(&str, Scope)] = &[("per_ip", Scope::Ip), ("per_key", Scope::Key), ("global", Scope::Global)];

/// Reads the var `var`. `shared_key` is what `KEY` says: `None` where it is at fault, which has been said already.
pub(super) fn read(var: &str, value: &Value, shared_key: Option<&KeySources>, faults: &mut Faults) -> Option<Read> {
    let name = binding_name(var, faults);
    let fields = json_table::fields(var, value, faults)?;
    for field in fields.keys().filter(|field| !known_names::FIELDS.contains(&field.as_str())) {
        faults.add(format!("{var}.{field}"), known_names::unknown_field(field));
    }
    let is_base = var == crate::policy::BASE;
    let table = BindingFields { var, fields: &fields };

    let routes = table.routes(is_base, faults);
    let allowed: Vec<Allowed<'_>> =
        SCOPES.iter().filter_map(|(field, scope)| table.allowed(field, *scope, faults)).collect();
    let cost = table.field("cost", faults, |value| value::whole(value, 1, u64::MAX));
    let mode = table.field("mode", faults, |value| value::choice(value, MODES)).unwrap_or(Some(Mode::Enforce));
    let on_error = table.field("on_error", faults, |value| value::choice(value, ON_ERROR));
    let exempt = table.exempt(is_base, &allowed, faults);
    let reader = capacity::CapacityFields { var, name: &name, fields: &fields, mode, on_error };
    let capacity = reader.read(&allowed, routes.iter().map(|(_, _, pattern)| pattern), faults);
    let mut nets = |field| fields.get(field).map(|value| access::nets(&table.place(field), value, faults));
    let access = Access { allow: nets("allow").unwrap_or_default(), block: nets("block").unwrap_or_default() };
    let message = table.field("message", faults, operator_message::message);
    let docs = table.field("docs", faults, operator_message::docs);

    let key = match fields.get("key") {
        Some(value) => settings::key_sources(&table.place("key"), value, faults),
        None => shared_key.cloned(),
    };

    let cost = cost.unwrap_or(1);
    table.check_cost(cost, &allowed, faults);
    let limits = mode.map_or_else(Vec::new, |mode| {
        allowed.into_iter().flat_map(|allowed| allowed.limits(&name, cost, mode, on_error)).collect()
    });
    let patterns = routes.iter().map(|(_, _, pattern)| pattern.clone()).collect();
    let binding = Binding {
        name,
        routes: patterns,
        limits,
        exempt,
        off: mode.is_none(),
        mode: mode.unwrap_or(Mode::Enforce),
        access,
        capacity,
        message,
        docs,
        key: key.unwrap_or_default(),
    };
    Some(Read { binding, routes, ranked: fields.contains_key("priority") })
}

/// `LIMIT_LOGIN_PAGE` is `login-page`.
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

/// The fields of one var.
struct BindingFields<'a> {
    var: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'a> BindingFields<'a> {
    fn place(&self, field: &str) -> String {
        format!("{}.{field}", self.var)
    }

    fn field<T>(&self, field: &str, faults: &mut Faults, read: impl Fn(&Value) -> Result<T, String>) -> Option<T> {
        faults.keep(&self.place(field), read(self.fields.get(field)?))
    }

    fn routes(&self, is_base: bool, faults: &mut Faults) -> Vec<(String, String, Pattern)> {
        let place = self.place("route");
        let Some(value) = self.fields.get("route") else {
            if !is_base {
                faults.add(
                    place,
                    "missing, expected a pattern such as \"POST /login\"; only LIMIT_BASE is met by every request",
                );
            }
            return Vec::new();
        };
        if is_base {
            faults.add(place, format!("{}: LIMIT_BASE is met by every request and has no route; a limit for some of them needs another name", shown(value)));
            return Vec::new();
        }
        let texts = json_table::texts(&place, value, "a pattern such as \"POST /login\", or a list of them", faults);
        let read = texts.into_iter().filter_map(|(place, text)| {
            let pattern = Pattern::parse(text).map_err(|problem| format!("{text:?}: {problem}"));
            let pattern = faults.keep(&place, pattern)?;
            Some((place, text.to_owned(), pattern))
        });
        read.collect()
    }

    /// What `field` says; `None` where it is not there.
    fn allowed(&self, field: &'static str, scope: Scope, faults: &mut Faults) -> Option<Allowed<'a>> {
        let value = self.fields.get(field)?;
        let texts = json_table::texts(&self.place(field), value, "a rate such as \"5/min\", or a list of them", faults);
        let entries = texts.into_iter().filter_map(|(place, text)| {
            let allowance = text.parse::<Allowance>().map_err(|invalid| invalid.to_string());
            Some((text, faults.keep(&place, allowance)?))
        });
        Some(Allowed { scope, field, entries: entries.collect() })
    }

    fn exempt(&self, is_base: bool, allowed: &[Allowed<'_>], faults: &mut Faults) -> bool {
        let exempt = self.field("exempt", faults, value::flag);
        let mut fields: Vec<&str> = allowed.iter().map(|allowed| allowed.field).collect();
        fields.extend(self.fields.contains_key("allow").then_some("allow"));
        fields.extend(capacity::limiting(self.fields));
        let does_else = self.fields.contains_key("block") || capacity::is_given(self.fields);
        match exempt {
            Some(true) if is_base => faults.add(
                self.place("exempt"),
                "LIMIT_BASE cannot be exempt from itself: leave it out to have no base limits",
            ),
            Some(true) if !fields.is_empty() => {
                let fields = value::listed(&fields, "and");
                faults.add(
                    self.place("exempt"),
                    format!("an exempt route meets no limit, so {fields} would mean nothing: remove one or the other"),
                );
            }
            // Where `exempt` itself is at fault nobody knows what was meant.
            Some(false) | None
                if fields.is_empty() && !does_else && (exempt.is_some() || !self.fields.contains_key("exempt")) =>
            {
                faults.add(
                    self.var,
                    "limits nothing, expected at least one of per_ip, per_key, global, in_flight, sockets, timeout, allow and block, or exempt = true",
                );
            }
            _ => {}
        }
        exempt.unwrap_or(false)
    }

    /// A cost that the bucket can never hold would refuse everything.
    fn check_cost(&self, cost: u64, allowed: &[Allowed<'_>], faults: &mut Faults) {
        for (field, text, allowance) in allowed
            .iter()
            .flat_map(|allowed| allowed.entries.iter().map(|(text, allowance)| (allowed.field, text, allowance)))
        {
            let (most, what) = match allowance {
                Allowance::Rate(rate) => (rate.gcra().burst(), "burst"),
                Allowance::Quota(quota) => (quota.count(), "day's count"),
            };
            if cost > most {
                faults.add(self.place("cost"), format!("{cost}: above the {what} of {field} {text:?}, so that no request could ever pass, expected at most {most}"));
            }
        }
    }
}

impl Allowed<'_> {
    fn limits(self, binding: &str, cost: u64, mode: Mode, on_error: Option<OnError>) -> Vec<Limit> {
        let scope = self.scope;
        let on_error = on_error.unwrap_or(match scope {
            Scope::Ip | Scope::Key => OnError::Local,
            Scope::Global => OnError::Closed,
        });
        let numbered = (1_usize..).zip(self.entries);
        let named = numbered.map(|(number, (_, allowance))| {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            Limit { name: format!("{binding}/{scope}{suffix}"), number: 0, scope, allowance, cost, mode, on_error }
        });
        named.collect()
    }
}
