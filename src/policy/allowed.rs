//! The fields that hold limits: `per_ip`, `per_key` and `global`.

use crate::limit::rate::Allowance;
use crate::limit::time::Span;
use crate::policy::fault::Faults;
use crate::policy::json_table::{self, TableFields};
use crate::policy::limit::{Limit, Mode, OnError, Scope};

/// The rates and quotas in one field. They become limits once the other fields of the binding are
/// read.
pub(super) struct Allowed<'a> {
    scope: Scope,
    field: &'static str,
    /// Each rate or quota, with its text for messages. Entries at fault are left out.
    entries: Vec<(&'a str, Allowance)>,
}

/// The parts that all limits of one binding have in common.
#[derive(Clone, Copy)]
pub(super) struct LimitParts<'a> {
    /// The name of the binding.
    pub(super) binding: &'a str,
    /// The first half of the limits' printed names.
    pub(super) first_half: &'a str,
    pub(super) cost: u64,
    pub(super) mode: Mode,
    pub(super) on_error: Option<OnError>,
    pub(super) warmup: Option<Span>,
}

impl<'a> Allowed<'a> {
    /// Reads `field`. `None`: the field is not there.
    pub(super) fn read(
        table: &TableFields<'a>,
        field: &'static str,
        scope: Scope,
        faults: &mut Faults,
    ) -> Option<Allowed<'a>> {
        let value = table.get(field)?;
        let example = "a rate such as \"5/min\", or a list of them";
        let texts = json_table::texts(&table.location(field), value, example, faults);
        let entries = texts.into_iter().filter_map(|(location, text)| {
            let allowance = text.parse::<Allowance>().map_err(|invalid| invalid.to_string());
            Some((text, faults.value_or_record(&location, allowance)?))
        });
        Some(Allowed { scope, field, entries: entries.collect() })
    }

    /// Records a fault for each rate or quota that can never hold `cost` tokens: it would refuse
    /// every request.
    pub(super) fn check_cost(&self, cost: u64, table: &TableFields<'_>, faults: &mut Faults) {
        for (text, allowance) in &self.entries {
            let (most, name) = match allowance {
                Allowance::Rate(rate) => (rate.gcra().burst(), "burst"),
                Allowance::Quota(quota) => (quota.count(), "day's count"),
            };
            if cost > most {
                faults.add(table.location("cost"), format!("{cost}: above the {name} of {} {text:?}, so that no request could ever pass, expected at most {most}", self.field));
            }
        }
    }

    /// Whether the field holds a `global` rate. A field with no readable entry counts as one,
    /// because it has its fault already.
    pub(super) fn may_be_global_rate(&self) -> bool {
        let is_rate = |(_, allowance): &(&str, Allowance)| matches!(allowance, Allowance::Rate(_));
        self.scope == Scope::Global && (self.entries.is_empty() || self.entries.iter().any(is_rate))
    }

    /// Makes the limits, still without their counters. Where `on_error` is not given, `global`
    /// limits are closed and the others local. `warmup` is for `global` ones.
    pub(super) fn into_limits(self, parts: &LimitParts<'_>) -> Vec<Limit> {
        let LimitParts { binding, first_half, cost, mode, on_error, warmup } = *parts;
        let scope = self.scope;
        let on_error = on_error.unwrap_or(match scope {
            Scope::Ip | Scope::Key => OnError::Local,
            Scope::Global => OnError::Closed,
        });
        let warmup = warmup.filter(|_| scope == Scope::Global).unwrap_or_default();
        let numbered = (1_usize..).zip(self.entries);
        let named = numbered.map(|(number, (_, allowance))| {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let (name, binding) = (format!("{first_half}/{scope}{suffix}"), binding.to_owned());
            Limit {
                name,
                header_item: String::new(),
                binding,
                counter: String::new(),
                number: 0,
                scope,
                allowance,
                cost,
                mode,
                on_error,
                warmup,
            }
        });
        named.collect()
    }
}
