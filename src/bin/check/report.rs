//! Everything printed for one file: its limits and warnings, or its faults.

use std::fmt::Write as _;

use penstock::policy::{Binding, Fault, Mode, Policy, Scope};

use super::deployment::Deployment;
use super::{lists, platform, table};

/// Reads `file`, and returns the limits and warnings of its deployments.
///
/// # Errors
/// The reason why the file cannot be read; or all its faults, each on a line that begins with its
/// deployment.
pub fn report(file: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: cannot be read: {error}\n"))?;
    let deployments = Deployment::read_all(&text).map_err(|problem| format!("{file}: {problem}"))?;
    let mut understood = String::new();
    let mut faults = Vec::new();
    for deployment in &deployments {
        match policy(deployment) {
            Ok(policy) => describe(deployment, policy.as_ref(), &mut understood),
            Err(found) => faults.extend(found.into_iter().map(|fault| format!("{}: {fault}\n", deployment.name))),
        }
    }
    if faults.is_empty() {
        return Ok(understood);
    }
    let number = faults.len();
    Err(format!("{file}: {number} {}\n{}", if number == 1 { "fault" } else { "faults" }, faults.concat()))
}

/// Reads the deployment's policy. `None`: the deployment has no vars.
fn policy(deployment: &Deployment) -> Result<Option<Policy>, Vec<Fault>> {
    let Some(vars) = &deployment.vars else { return Ok(None) };
    let read = Policy::read(vars);
    let missing = platform::faults(deployment, read.as_ref().ok());
    match read {
        Ok(policy) if missing.is_empty() => Ok(Some(policy)),
        Ok(_) => Err(missing),
        Err(faults) => Err([faults, missing].concat()),
    }
}

/// Appends the limits and warnings of one deployment. Results of `write!` are ignored, because
/// writing to a `String` cannot fail.
fn describe(deployment: &Deployment, policy: Option<&Policy>, text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
    let name = &deployment.name;
    let vars = deployment.heading("vars");
    let _ = match policy {
        None if vars == "vars" => writeln!(text, "{name}: no [vars], so it limits nothing"),
        None => {
            writeln!(text, "{name}: no [{vars}], and wrangler lets no environment inherit vars, so it limits nothing")
        }
        Some(policy) if policy.base.is_none() && policy.bindings.is_empty() => {
            write!(text, "{name}: no LIMIT_ in [{vars}], so it limits nothing\n{}", lists::lists(policy))
        }
        Some(policy) => write!(text, "{name}:\n{}{}", table::table(policy), lists::lists(policy)),
    };
    let of_keys = policy.map(keys_alone).unwrap_or_default();
    for warning in of_keys.into_iter().chain(platform::warnings(deployment, policy)) {
        let _ = writeln!(text, "{name}: warning: {warning}");
    }
}

/// Warns of bindings that count keys and no addresses. A key is a claim: a client that sends a new
/// one with each request meets no such limit.
fn keys_alone(policy: &Policy) -> Vec<String> {
    let counts = |binding: &Binding, scope| {
        binding.limits.iter().any(|limit| limit.scope == scope && limit.mode == Mode::Enforce)
    };
    let base = policy.base.as_ref().is_some_and(|base| counts(base, Scope::Ip));
    let alone = policy
        .base
        .iter()
        .chain(&policy.bindings)
        .filter(|binding| !base && counts(binding, Scope::Key) && !counts(binding, Scope::Ip));
    alone
        .map(|binding| {
            format!(
                "{} counts keys alone: who sends none, or a new one each time, meets no limit of its own; \
                 add per_ip there or to LIMIT_BASE",
                binding.name
            )
        })
        .collect()
}
