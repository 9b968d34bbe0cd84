//! The platform's bindings, routes and flags.

use super::{PLATFORM, check, expect_faults};

#[test]
fn missing_parts_of_the_platform_are_faults() {
    let limits = "[vars.LIMIT_BASE]\nper_ip = [\"5/min\", \"9/day\"]\n";
    expect_faults(
        "nothing",
        limits,
        &[
            " top level: durable_objects.bindings: there is none with name = \"BUCKETS\" and class_name = \"BucketActor\"",
            " top level: d1_databases: there is no database with binding = \"DB\", and a daily quota needs one",
        ],
    );
    expect_faults(
        "budget-without-database",
        &(PLATFORM.replace("\"DB\"", "\"D1\"")
            + "[vars]\nBUDGET = \"100000/day\"\n[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n"),
        &["11: top level: d1_databases: there is no database with binding = \"DB\", and BUDGET needs one"],
    );
    let bindings = "[[durable_objects.bindings]]\nname = \"BUCKETS\"\nclass_name = \"BucketActor\"\n";
    let daily = "[[d1_databases]]\nbinding = \"DB\"\n";
    expect_faults(
        "no-migration",
        &format!("{bindings}{daily}{limits}"),
        &[" top level: migrations: none makes the class, expected new_sqlite_classes = [\"BucketActor\"]"],
    );
    expect_faults(
        "old-migration",
        &format!("{bindings}{daily}[[migrations]]\ntag = \"v1\"\nnew_classes = [\"BucketActor\"]\n{limits}"),
        &[
            "6: top level: migrations: BucketActor is in new_classes, but it needs SQLite: expected new_sqlite_classes = [\"BucketActor\"]",
        ],
    );
    expect_faults(
        "other-class",
        &(PLATFORM.replace("class_name = \"BucketActor\"", "class_name = \"Other\"") + limits),
        &["5: top level: durable_objects.bindings: BUCKETS has another class, expected class_name = \"BucketActor\""],
    );
}

#[test]
fn caps_without_the_request_signal_flag_are_warned_of() {
    let warned = |name: &str, flags: &str, limit: &str| {
        let flagged = PLATFORM.lines().nth(1).unwrap();
        let stdout = check(name, &format!("{}[vars.LIMIT_BASE]\n{limit}\n", PLATFORM.replace(flagged, flags))).stdout;
        stdout.lines().filter(|line| line.contains("compatibility_flags")).map(str::to_owned).collect::<Vec<_>>()
    };
    let warning = "top level: warning: in_flight and sockets do not hear of clients that leave a quiet answer: set compatibility_flags = [\"enable_request_signal\"]";
    let other = "compatibility_flags = [\"nodejs_compat\"]";
    assert_eq!(warned("no-flags", "", "in_flight = \"5\""), [warning]);
    assert_eq!(warned("other-flags", other, "sockets = \"5\""), [warning]);
    let flag = "compatibility_flags = [\"nodejs_compat\", \"enable_request_signal\"]";
    assert!(warned("flag", flag, "in_flight = \"5\"").is_empty());
    assert!(warned("no-caps", "", "per_ip = \"5/s\"").is_empty());
}

#[test]
fn likely_mistakes_of_a_first_deployment_are_warned_of() {
    let limits = "[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n";
    let with = |routes: &str, origin: &str| {
        let platform = PLATFORM.replace(PLATFORM.lines().nth(3).unwrap(), routes);
        check("first-deploy", &format!("{platform}[vars]\n{origin}\n{limits}"))
    };
    let (zone, custom) =
        (r#"routes = ["a.example.com/*"]"#, r#"route = { pattern = "a.example.com", custom_domain = true }"#);
    let origin = r#"ORIGIN = "https://b.example.com""#;
    assert!(with("", origin).stdout.contains("there are no routes"));
    assert!(with(zone, origin).stdout.contains("not to where the zone's DNS points"));
    let itself = with(custom, "");
    assert_eq!(itself.code, Some(1));
    assert!(itself.stderr.contains("routes: a custom domain has no origin of its own"), "{}", itself.stderr);
    for own in ["https://a.example.com", "https://A.example.com:443/api"] {
        let run = with(custom, &format!("ORIGIN = \"{own}\""));
        assert!(run.stderr.contains("ORIGIN: a.example.com is this Worker's own custom domain"), "{}", run.stderr);
    }
    let example = with(custom, r#"ORIGIN = "https://origin.example.com""#);
    assert!(example.stdout.contains("ORIGIN is still the example's"), "{}", example.stdout);
    let (id, none) = ("database_id = \"0\"", "database_id = \"00000000-0000-0000-0000-000000000000\"");
    let example = check("no-database", &(PLATFORM.replace(id, none) + limits));
    assert!(example.stdout.contains("database_id is still the example's"), "{}", example.stdout);
    // A name on workers.dev is reached without routes.
    let second_name = PLATFORM.replace("workers_dev = false", "workers_dev = true").replace(id, none);
    let run = check("second-name", &(second_name.replace(PLATFORM.lines().nth(3).unwrap(), "") + limits));
    assert!(run.stdout.contains("database_id is still the example's"), "{}", run.stdout);
    for (routes, origin) in [(zone, ""), (custom, origin)] {
        let run = with(routes, origin);
        assert_eq!((run.code, run.stdout.contains("warning")), (Some(0), false), "{}", run.stdout);
    }
}

#[test]
fn cf_01_ways_around_the_worker_are_warned_of() {
    let limits = "[vars]\nSECRET = \"0a1b2c3d4e5f6071\"\nLIMIT_BASE = { per_ip = \"5/min\" }\n";
    let unrouted: String = PLATFORM
        .lines()
        .filter(|line| !line.contains("workers_dev") && !line.contains("routes"))
        .map(|line| format!("{line}\n"))
        .collect();
    let run = check("doors", &format!("preview_urls = true\n{unrouted}{limits}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let warnings: Vec<&str> = run.stdout.lines().filter(|line| line.contains("warning")).collect();
    assert_eq!(
        warnings,
        [
            "top level: warning: workers_dev is on: the Worker can be reached under a second name; set workers_dev = false",
            "top level: warning: preview_urls is on: every version can be reached under a name of its own; set preview_urls = false",
            "top level: warning: SECRET is in plain text here; `wrangler secret put SECRET` keeps it out of the file",
        ]
    );
    assert!(!run.stdout.contains("0a1b"));
}
