//! Limits and vars that stand where no Worker sees them: wrangler ignores tables that it does not
//! know, and lets no environment inherit vars.

use penstock::policy::{self, Fault};
use serde_json::Value as Json;

use super::deployment::Deployment;
use super::source::Source;

/// Spellings of `vars` that wrangler does not know.
const NEARLY_VARS: [&str; 7] = ["var", "vars", "varss", "vras", "variables", "env_vars", "environment_variables"];

/// Spellings of `env` that wrangler does not know.
const NEARLY_ENV: [&str; 4] = ["env", "envs", "environment", "environments"];

/// Finds the limits and vars of `deployment` that are outside of its vars, each with its path in
/// the file. `others` are all deployments of the file, the top level first.
pub fn faults(deployment: &Deployment, others: &[Deployment]) -> Vec<(Vec<String>, Fault)> {
    let vars = deployment.heading("vars");
    let mut found = Vec::new();
    for (key, value) in &deployment.part {
        let problem = match key.as_str() {
            "vars" | "env" => None,
            _ if policy::is_own_var(key) => Some(place_for(key, &vars)),
            _ if NEARLY_VARS.contains(&key.to_ascii_lowercase().as_str()) => {
                Some(format!("wrangler knows no such table, so nothing in it holds; did you mean [{vars}]?"))
            }
            _ if NEARLY_ENV.contains(&key.to_ascii_lowercase().as_str()) => {
                Some("wrangler knows no such table, so nothing in it holds; did you mean [env.NAME]?".to_owned())
            }
            _ if value.get("vars").is_some_and(Json::is_object) => Some(format!(
                "wrangler knows no such table, so its vars hold nowhere; did you mean [env.{key}.vars]?"
            )),
            _ if policy::has_limit_fields(value) => Some(format!(
                "reads like a limit, and stands outside [{vars}], where no Worker sees it: its heading is [{vars}.LIMIT_{}]",
                key.to_ascii_uppercase()
            )),
            _ => inner_limit(value).map(|inner| {
                format!("holds {inner}, and stands outside [{vars}], where no Worker sees it: its heading is [{vars}.{inner}]")
            }),
        };
        if let Some(problem) = problem {
            let path = [deployment.path.as_slice(), std::slice::from_ref(key)].concat();
            found.push((path, Fault { location: deployment.heading(key), problem }));
        }
    }
    found.extend(lost_limits(deployment, others).map(|fault| (deployment.path.clone(), fault)));
    found
}

fn place_for(key: &str, vars: &str) -> String {
    match key.starts_with("LIMIT_") {
        true => format!("stands outside [{vars}], where no Worker sees it: its heading is [{vars}.{key}]"),
        false => format!("stands outside [{vars}], where no Worker sees it: write it directly below [{vars}]"),
    }
}

fn inner_limit(value: &Json) -> Option<&String> {
    value.as_object()?.keys().find(|key| key.starts_with("LIMIT_"))
}

/// Finds an environment without a limit, where other deployments have some.
fn lost_limits(deployment: &Deployment, others: &[Deployment]) -> Option<Fault> {
    let is_off = deployment.vars.as_ref().and_then(|vars| vars.get("MODE")).is_some_and(|mode| mode == "off");
    let is_lost = deployment.is_environment() && !deployment.has_limits() && !is_off;
    let vars = deployment.heading("vars");
    (is_lost && others.iter().any(Deployment::has_limits)).then(|| Fault {
        location: vars.clone(),
        problem: format!(
            "no LIMIT_ at all, and wrangler lets no environment inherit vars, so it limits nothing: repeat the limits as [{vars}.LIMIT_…], or say MODE = \"off\" in [{vars}] if that is meant"
        ),
    })
}

/// Finds keys that are there twice, with their paths. TOML has none, since its readers refuse them.
pub fn duplicates(source: &Source) -> impl Iterator<Item = (Vec<String>, Fault)> {
    source.duplicates.iter().map(|path| {
        let problem = "is there twice, and wrangler takes the last of them: join them, or rename one".to_owned();
        (path.clone(), Fault { location: path.join("."), problem })
    })
}

/// Names the limits and vars of the top level that an environment with limits of its own lacks.
pub fn missing_vars(deployment: &Deployment, others: &[Deployment]) -> Option<String> {
    let top = others.first().filter(|_| deployment.is_environment() && deployment.has_limits())?;
    let own = deployment.vars.as_ref()?;
    let names = top.vars.iter().flatten().map(|(name, _)| name.as_str());
    let missing: Vec<&str> = names.filter(|name| policy::is_own_var(name) && !own.contains_key(*name)).collect();
    (!missing.is_empty()).then(|| {
        format!("wrangler lets no environment inherit vars, so it has no {} of the top level", missing.join(", "))
    })
}
