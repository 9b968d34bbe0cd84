//! Limits for hosts that no request of this Worker can have.

use penstock::policy::Policy;
use serde_json::Value;

use super::deployment::Deployment;
use super::platform;

/// Warns of each route of a limit whose host none of the Worker's own routes brings. Without
/// routes in the file, nothing is known of the hosts.
pub fn warnings(deployment: &Deployment, policy: &Policy) -> Vec<String> {
    let patterns = platform::routes(deployment)
        .filter_map(|route| route.as_str().or_else(|| route.get("pattern").and_then(Value::as_str)).map(host_of));
    let hosts: Vec<String> = patterns.collect();
    if hosts.is_empty() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for binding in &policy.bindings {
        for pattern in &binding.routes {
            let host = pattern.host();
            if host.as_ref().is_some_and(|host| !hosts.iter().any(|own| meet(own, host))) {
                warnings.push(format!(
                    "{}: the route {pattern} matches nothing, since the Worker's own routes bring only {}",
                    binding.name,
                    hosts.join(", ")
                ));
            }
        }
    }
    warnings
}

/// Returns the host of a Worker's route: `*.example.com` of `https://*.example.com/v1/*`.
fn host_of(pattern: &str) -> String {
    let rest = pattern.split_once("://").map_or(pattern, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_ascii_lowercase()
}

/// Whether there are hosts that both match. Each is a name, or `*` and the end of names.
fn meet(left: &str, right: &str) -> bool {
    match (left.strip_prefix('*'), right.strip_prefix('*')) {
        (None, None) => left == right,
        (Some(end), None) => right.ends_with(end),
        (None, Some(end)) => left.ends_with(end),
        (Some(left), Some(right)) => left.ends_with(right) || right.ends_with(left),
    }
}
