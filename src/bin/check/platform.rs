//! Penstock's needs of the platform beside its vars: the Durable Object class, the database, and no
//! way around the Worker.

use penstock::policy::{Fault, Policy};
use serde_json::{Map, Value};

use super::deployment::Deployment;

/// The class of all actors.
const CLASS: &str = "BucketActor";

/// The `database_id` of the example file, before there is a database.
const EXAMPLE_DATABASE_ID: &str = "00000000-0000-0000-0000-000000000000";

/// The `ORIGIN` of the example file.
const EXAMPLE_ORIGIN: &str = "https://origin.example.com";

/// The compatibility flag with which the Worker learns that a client has left.
const REQUEST_SIGNAL: &str = "enable_request_signal";

/// Finds parts of the platform that the Worker needs and the deployment lacks. `policy` is `None`
/// if the vars have faults of their own.
pub fn faults(deployment: &Deployment, policy: Option<&Policy>) -> Vec<Fault> {
    let mut faults: Vec<Fault> = class_fault(deployment).into_iter().collect();
    let has_database = || tables(deployment.own("d1_databases")).any(|database| is(database, "binding", "DB"));
    let needs_database = policy.and_then(|policy| match policy.settings.budget {
        _ if policy.has_quota() => Some("a daily quota"),
        Some(_) => Some("BUDGET"),
        None => None,
    });
    if let Some(user) = needs_database
        && !has_database()
    {
        faults.push(Fault {
            location: deployment.heading("d1_databases"),
            problem: format!("there is no database with binding = \"DB\", and {user} needs one"),
        });
    }
    faults.extend(policy.and_then(|policy| origin_fault(deployment, policy.settings.origin.as_deref())));
    faults
}

/// Finds a custom domain without an origin, or an origin that is the Worker itself.
fn origin_fault(deployment: &Deployment, origin: Option<&str>) -> Option<Fault> {
    let mut domains = routes(deployment).filter(|route| is_custom_domain(route));
    let Some(origin) = origin else {
        return domains.next().map(|_| Fault {
            location: "routes".to_owned(),
            problem: "a custom domain has no origin of its own: set the var ORIGIN, or use a route with zone_name"
                .to_owned(),
        });
    };
    let host = host(origin);
    let own = domains.filter_map(|route| route.get("pattern")?.as_str()).find(|own| own.eq_ignore_ascii_case(host))?;
    Some(Fault {
        location: "ORIGIN".to_owned(),
        problem: format!("{own} is this Worker's own custom domain, so requests would come back to it for ever"),
    })
}

/// Returns the host of a URL in the form of `ORIGIN`.
fn host(origin: &str) -> &str {
    let authority = origin.split_once("//").map_or(origin, |(_, rest)| rest);
    authority.split(['/', ':']).next().unwrap_or(authority)
}

/// The deployment's routes, in `route` and in `routes`.
pub fn routes(deployment: &Deployment) -> impl Iterator<Item = &Value> {
    let one = deployment.inherited("route").into_iter();
    one.chain(deployment.inherited("routes").and_then(Value::as_array).into_iter().flatten())
}

fn is_custom_domain(route: &Value) -> bool {
    route.get("custom_domain").and_then(Value::as_bool) == Some(true)
}

/// Finds ways around the Worker, and likely mistakes of a first deployment.
pub fn warnings(deployment: &Deployment, policy: Option<&Policy>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut flags = deployment.inherited("compatibility_flags").and_then(Value::as_array).into_iter().flatten();
    if policy.is_some_and(|policy| policy.caps().next().is_some())
        && !flags.any(|flag| flag.as_str() == Some(REQUEST_SIGNAL))
    {
        warnings.push(format!(
            "in_flight and sockets do not hear of clients that leave a quiet answer: set compatibility_flags = [\"{REQUEST_SIGNAL}\"]"
        ));
    }
    let on = |key| deployment.inherited(key).and_then(Value::as_bool);
    let routed = routes(deployment).next().is_some();
    // Without routes, wrangler turns the name on workers.dev on.
    let has_second_name = on("workers_dev").unwrap_or(!routed);
    let is_reachable = routed || has_second_name;
    if has_second_name {
        warnings.push(
            "workers_dev is on: the Worker can be reached under a second name; set workers_dev = false".to_owned(),
        );
    }
    if !routed && on("workers_dev") == Some(false) {
        warnings.push("there are no routes, so once it is deployed nothing will reach the Worker".to_owned());
    }
    let origin = deployment.vars.as_ref().and_then(|vars| vars.get("ORIGIN"));
    if origin.is_some() && routes(deployment).any(|route| !is_custom_domain(route)) {
        warnings.push(
            "ORIGIN is set, so requests go there and not to where the zone's DNS points; leave it out if that is not meant"
                .to_owned(),
        );
    }
    if is_reachable && origin.and_then(Value::as_str) == Some(EXAMPLE_ORIGIN) {
        warnings.push("ORIGIN is still the example's".to_owned());
    }
    if is_reachable
        && tables(deployment.own("d1_databases")).any(|database| is(database, "database_id", EXAMPLE_DATABASE_ID))
    {
        warnings.push(
            "database_id is still the example's: `npx wrangler d1 create penstock` prints the one to put there"
                .to_owned(),
        );
    }
    if on("preview_urls") == Some(true) {
        warnings.push(
            "preview_urls is on: every version can be reached under a name of its own; set preview_urls = false"
                .to_owned(),
        );
    }
    for secret in ["SECRET", "ORIGIN_SECRET"] {
        if deployment.vars.as_ref().is_some_and(|vars| vars.contains_key(secret)) {
            warnings.push(format!(
                "{secret} is in plain text here; `wrangler secret put {secret}` keeps it out of the file"
            ));
        }
    }
    warnings
}

/// Finds a missing or wrong binding, class or migration of the actors.
fn class_fault(deployment: &Deployment) -> Option<Fault> {
    let fault = |location: String, problem: String| Some(Fault { location, problem });
    let bindings = deployment.own("durable_objects").and_then(|objects| objects.get("bindings"));
    let location = deployment.heading("durable_objects.bindings");
    let Some(buckets) = tables(bindings).find(|binding| is(binding, "name", "BUCKETS")) else {
        return fault(location, format!("there is none with name = \"BUCKETS\" and class_name = \"{CLASS}\""));
    };
    if !is(buckets, "class_name", CLASS) {
        return fault(location, format!("BUCKETS has another class, expected class_name = \"{CLASS}\""));
    }
    if buckets.contains_key("script_name") {
        return None; // Another Worker has the class, and its migrations.
    }
    let migrated = |key: &str| {
        let lists = tables(deployment.inherited("migrations")).filter_map(|migration| migration.get(key)?.as_array());
        lists.flatten().any(|class| class.as_str() == Some(CLASS))
    };
    let location = "migrations".to_owned();
    match (migrated("new_sqlite_classes"), migrated("new_classes")) {
        (true, _) => None,
        (false, true) => fault(
            location,
            format!("{CLASS} is in new_classes, but it needs SQLite: expected new_sqlite_classes = [\"{CLASS}\"]"),
        ),
        (false, false) => fault(location, format!("none makes the class, expected new_sqlite_classes = [\"{CLASS}\"]")),
    }
}

fn tables(value: Option<&Value>) -> impl Iterator<Item = &Map<String, Value>> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn is(table: &Map<String, Value>, key: &str, expected: &str) -> bool {
    table.get(key).and_then(Value::as_str) == Some(expected)
}
