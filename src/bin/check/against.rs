//! The effect of an edit on counts: the counters of two configurations, side by side.
//!
//! Limits with `mode = "off"` are compared like the others. Their counts are not deleted, so a
//! limit that is switched on again goes on from them.

use std::collections::BTreeMap;

use penstock::limit::rate::Allowance;
use penstock::policy::{Binding, Fault, Limit, Policy, Reading};
use serde_json::Value as Json;

use super::deployment::Deployment;
use super::source::Source;

/// The fate of one counter: in a word, the limit's printed name, and the reason.
type Fate = [String; 3];

/// Says for each limit of the deployments of a file and of an `old` file whether its count is kept,
/// cut, begins anew or is dropped.
///
/// # Errors
/// The reason why `old` cannot be read; or the faults of its vars.
pub fn compare(deployments: &[Deployment], old: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(old).map_err(|error| format!("{old}: cannot be read: {error}\n"))?;
    let named = |problem| format!("{old}: {problem}");
    let source = Source::read(old, &text).map_err(named)?;
    let before = Deployment::read_all(&source.root).map_err(named)?;
    let mut told = String::new();
    for deployment in deployments {
        let name = &deployment.name;
        let earlier = before.iter().find(|earlier| earlier.name == *name);
        let policies = (policy_of(earlier, old)?, policy_of(Some(deployment), "")?);
        told += &format!("\n{name}, against {old}:\n{}", aligned(&fates(&policies.0, &policies.1)));
    }
    for gone in before.iter().filter(|gone| gone.has_limits() && !deployments.iter().any(|left| left.name == gone.name))
    {
        told += &format!("\n{}, against {old}: is no deployment any more\n", gone.name);
    }
    Ok(told)
}

/// The policy of a deployment as it is written, with the limits that are off. Empty: there is no
/// such deployment, or it has no vars.
fn policy_of(deployment: Option<&Deployment>, file: &str) -> Result<Policy, String> {
    let mut vars = deployment.and_then(|deployment| deployment.vars.clone()).unwrap_or_default();
    switch_on(&mut vars);
    let Reading { written, faults, .. } = Reading::new(&vars);
    if faults.is_empty() || file.is_empty() {
        return Ok(written);
    }
    let name = deployment.map_or("", |deployment| &deployment.name);
    let told = |fault: &Fault| format!("{file}: {name}: {fault}\n");
    Err(faults.iter().map(told).collect())
}

/// Switches on the limits that are off.
fn switch_on(vars: &mut BTreeMap<String, Json>) {
    for (_, value) in vars.iter_mut().filter(|(var, _)| var.starts_with("LIMIT_")) {
        if let Json::String(text) = value
            && let Ok(table) = serde_json::from_str(text)
        {
            *value = table;
        }
        if value.get("mode").is_some_and(|mode| mode == "off")
            && let Some(table) = value.as_object_mut()
        {
            table.remove("mode");
        }
    }
}

fn limits(policy: &Policy) -> impl Iterator<Item = (&Binding, &Limit)> {
    let bindings = policy.base.iter().chain(&policy.bindings);
    bindings.flat_map(|binding| binding.limits.iter().map(move |limit| (binding, limit)))
}

fn fates(old: &Policy, new: &Policy) -> Vec<Fate> {
    let find =
        |policy, counter: &str| limits(policy).find(|(_, limit)| limit.counter == counter).map(|(_, limit)| limit);
    let (mut fates, mut replaced) = (Vec::new(), Vec::new());
    for (binding, limit) in limits(new) {
        let fate = match find(old, &limit.counter) {
            Some(before) => goes_on(before, limit),
            None => ["anew".to_owned(), reason(binding, limit, (old, new), &mut replaced)],
        };
        let [fate, reason] = fate;
        fates.push([fate, limit.name.clone(), reason]);
    }
    for (_, limit) in limits(old).filter(|(_, limit)| find(new, &limit.counter).is_none()) {
        fates.push(["dropped".into(), limit.name.clone(), format!("{}: nobody asks for its count", limit.allowance)]);
    }
    fates
}

/// The most tokens that a caller can have used.
fn most(limit: &Limit) -> u64 {
    match &limit.allowance {
        Allowance::Rate(rate) => rate.gcra().burst(),
        Allowance::Quota(quota) => quota.count(),
    }
}

fn goes_on(before: &Limit, limit: &Limit) -> [String; 2] {
    let (was, is) = (before.allowance.to_string(), limit.allowance.to_string());
    let renamed = if before.name == limit.name { String::new() } else { format!("; it was called {}", before.name) };
    if was == is {
        return ["kept".to_owned(), is + &renamed];
    }
    let (fate, effect) = match most(limit) {
        most if most < self::most(before) => ("cut", format!("who has used more than {most} has used {most}")),
        _ => ("kept", "tokens that are used stay used".to_owned()),
    };
    [fate.to_owned(), format!("{was} → {is}: {effect}{renamed}")]
}

/// The reason why nothing was counted for a limit before. `replaced` are counters that are gone,
/// and that other limits stand in place of.
fn reason<'p>(
    binding: &Binding,
    limit: &Limit,
    (old, new): (&'p Policy, &Policy),
    replaced: &mut Vec<&'p str>,
) -> String {
    let is = &limit.allowance;
    let gone = |before: &Limit| limits(new).all(|(_, limit)| limit.counter != before.counter);
    let before = limits(old).map(|(_, before)| before).filter(|before| gone(before));
    let before: Vec<&Limit> = before.filter(|before| !replaced.contains(&before.counter.as_str())).collect();
    let same = before.iter().filter(|before| before.binding == limit.binding && before.scope == limit.scope);
    let same = same.clone().find(|before| before.name == limit.name).or_else(|| same.clone().next());
    if let Some(before) = same {
        replaced.push(&before.counter);
        let why = match (&before.allowance, is) {
            (Allowance::Rate(_), Allowance::Rate(_)) => "another period is another counter",
            (Allowance::Quota(_), Allowance::Quota(_)) => "another zone is another counter",
            _ => "a rate and a quota are two counters",
        };
        return format!("{is}: in place of {}, and {why}", before.allowance);
    }
    let known = limits(old).any(|(other, _)| other.name == binding.name);
    let renamed = limits(old).find(|(other, _)| !known && !other.routes.is_empty() && other.routes == binding.routes);
    match renamed {
        Some((other, _)) => {
            format!("{is}: the binding was called {}, and another binding is another counter", other.name)
        }
        None => format!("{is}: nothing was counted for it before"),
    }
}

/// Returns the fates in columns, two spaces apart.
fn aligned(fates: &[Fate]) -> String {
    if fates.is_empty() {
        return "  no limits\n".to_owned();
    }
    let width =
        |column: usize| fates.iter().filter_map(|fate| fate.get(column)).map(|cell| cell.len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    fates.iter().map(|[fate, name, why]| format!("  {fate:first$}  {name:second$}  {why}\n")).collect()
}
