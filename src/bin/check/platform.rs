//! What Penstock needs of the platform beside its vars: its Durable Object class, its database, and no side doors.

use penstock::policy::{Fault, Policy};
use serde_json::Value as Json;
use toml::{Table, Value};

use super::deployment::Deployment;

const CLASS: &str = "BucketActor";

/// What stands in the file until there is a database.
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

/// What stands there until there is an origin.
const EXAMPLE: &str = "https://origin.example.com";

/// The compatibility flag by which caps hear of clients that leave.
const SIGNAL: &str = "enable_request_signal";

/// What the Worker needs, and the deployment does not have. `policy` is `None` where its vars are at fault themselves.
pub fn faults(deployment: &Deployment, policy: Option<&Policy>) -> Vec<Fault> {
    let mut faults: Vec<Fault> = bucket_fault(deployment).into_iter().collect();
    let database = || tables(deployment.own("d1_databases")).any(|database| is(database, "binding", "DB"));
    let needs_it = policy.and_then(|policy| match policy.settings.budget {
        _ if policy.has_quota() => Some("a daily quota"),
        Some(_) => Some("BUDGET"),
        None => None,
    });
    if let Some(what) = needs_it
        && !database()
    {
        faults.push(Fault {
            place: deployment.heading("d1_databases"),
            problem: format!("there is no database with binding = \"DB\", and {what} needs one"),
        });
    }
    faults.extend(policy.and_then(|policy| origin_fault(deployment, policy.settings.origin.as_deref())));
    faults
}

/// What is wrong with where requests go on to.
fn origin_fault(deployment: &Deployment, origin: Option<&str>) -> Option<Fault> {
    let mut domains = routes(deployment).filter(|route| is_custom_domain(route));
    let Some(origin) = origin else {
        return domains.next().map(|_| Fault {
            place: "routes".to_owned(),
            problem: "a custom domain has no origin of its own: set the var ORIGIN, or use a route with zone_name"
                .to_owned(),
        });
    };
    let host = host(origin);
    let own = domains.filter_map(|route| route.get("pattern")?.as_str()).find(|own| own.eq_ignore_ascii_case(host))?;
    Some(Fault {
        place: "ORIGIN".to_owned(),
        problem: format!("{own} is this Worker's own custom domain, so requests would come back to it for ever"),
    })
}

/// The host of a URL of `ORIGIN`'s form.
fn host(origin: &str) -> &str {
    let authority = origin.split_once("//").map_or(origin, |(_, rest)| rest);
    authority.split(['/', ':']).next().unwrap_or(authority)
}

/// The deployment's routes, of either spelling.
fn routes(deployment: &Deployment) -> impl Iterator<Item = &Value> {
    let one = deployment.inherited("route").into_iter();
    one.chain(deployment.inherited("routes").and_then(Value::as_array).into_iter().flatten())
}

fn is_custom_domain(route: &Value) -> bool {
    route.get("custom_domain").and_then(Value::as_bool) == Some(true)
}

/// What lets requests in beside the routes that Penstock guards, and what else is likely to be a mistake.
pub fn warnings(deployment: &Deployment, policy: Option<&Policy>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut flags = deployment.inherited("compatibility_flags").and_then(Value::as_array).into_iter().flatten();
    if policy.is_some_and(|policy| policy.caps().next().is_some()) && !flags.any(|flag| flag.as_str() == Some(SIGNAL)) {
        warnings.push(format!(
            "in_flight and sockets do not hear of clients that leave a quiet answer: set compatibility_flags = [\"{SIGNAL}\"]"
        ));
    }
    let on = |key| deployment.inherited(key).and_then(Value::as_bool);
    let routed = routes(deployment).next().is_some();
    // Without routes, wrangler takes the name on workers.dev as what is wanted.
    if on("workers_dev").unwrap_or(!routed) {
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
    if routed && origin.and_then(Json::as_str) == Some(EXAMPLE) {
        warnings.push("ORIGIN is still the example's".to_owned());
    }
    if routed && tables(deployment.own("d1_databases")).any(|database| is(database, "database_id", NO_ID)) {
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
    if deployment.vars.as_ref().is_some_and(|vars| vars.contains_key("SECRET")) {
        warnings.push("SECRET is in plain text here; `wrangler secret put SECRET` keeps it out of the file".to_owned());
    }
    warnings
}

fn bucket_fault(deployment: &Deployment) -> Option<Fault> {
    let fault = |place: String, problem: String| Some(Fault { place, problem });
    let bindings = deployment.own("durable_objects").and_then(|objects| objects.get("bindings"));
    let place = deployment.heading("durable_objects.bindings");
    let Some(buckets) = tables(bindings).find(|binding| is(binding, "name", "BUCKETS")) else {
        return fault(place, format!("there is none with name = \"BUCKETS\" and class_name = \"{CLASS}\""));
    };
    if !is(buckets, "class_name", CLASS) {
        return fault(place, format!("BUCKETS has another class, expected class_name = \"{CLASS}\""));
    }
    if buckets.contains_key("script_name") {
        return None; // The class is another Worker's, and so are its migrations.
    }
    let migrated = |key: &str| {
        let lists = tables(deployment.inherited("migrations")).filter_map(|migration| migration.get(key)?.as_array());
        lists.flatten().any(|class| class.as_str() == Some(CLASS))
    };
    let place = "migrations".to_owned();
    match (migrated("new_sqlite_classes"), migrated("new_classes")) {
        (true, _) => None,
        (false, true) => fault(
            place,
            format!("{CLASS} is in new_classes, but it needs SQLite: expected new_sqlite_classes = [\"{CLASS}\"]"),
        ),
        (false, false) => fault(place, format!("none makes the class, expected new_sqlite_classes = [\"{CLASS}\"]")),
    }
}

fn tables(value: Option<&Value>) -> impl Iterator<Item = &Table> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

fn is(table: &Table, key: &str, expected: &str) -> bool {
    table.get(key).and_then(Value::as_str) == Some(expected)
}
