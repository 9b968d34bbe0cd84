//! The checker as it is called, over good and bad files.

use std::path::PathBuf;
use std::process::Command;

const PLATFORM: &str = r#"
compatibility_flags = ["enable_request_signal"]
workers_dev = false
routes = [{ pattern = "api.example.com/*", zone_name = "example.com" }]
[[durable_objects.bindings]]
name = "BUCKETS"
class_name = "BucketActor"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["BucketActor"]
[[d1_databases]]
binding = "DB"
database_name = "penstock"
database_id = "0"
"#;

struct Run {
    code: Option<i32>,
    said: String,
    complained: String,
    file: String,
}

/// Runs the checker over a file with this text; `name` is the test's own.
fn check(name: &str, toml: &str) -> Run {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&file, toml).unwrap();
    run(&[file.to_str().unwrap()])
}

fn run(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_check")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run {
        code: output.status.code(),
        said: text(output.stdout),
        complained: text(output.stderr),
        file: arguments.first().copied().unwrap_or_default().to_owned(),
    }
}

fn complaints(name: &str, toml: &str, expected: &[&str]) {
    let run = check(name, toml);
    let head = format!("{}: {} {}", run.file, expected.len(), if expected.len() == 1 { "fault" } else { "faults" });
    let lines: Vec<&str> = run.complained.lines().collect();
    assert_eq!(lines, [&[head.as_str()], expected].concat());
    assert_eq!((run.code, run.said.as_str()), (Some(1), ""));
}

#[test]
fn a_good_file_is_shown_as_a_table() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars]
KEY = "header:x-api-key, bearer"
LIMIT_TEXT = '{"route": "/text", "global": "60/min burst 3", "mode": "shadow"}'
[vars.LIMIT_BASE]
per_ip = "1200/min"
[vars.LIMIT_API]
route = ["api.example.com/v1/*", "/v1/*"]
per_key = ["100/s burst 200", "100000/day Asia/Shanghai"]
cost = 2
on_error = "open"
[vars.LIMIT_HEALTH]
route = ["GET /healthz", "/ready"]
exempt = true
[vars.LIMIT_OLD]
route = "/old"
per_ip = "1/s"
mode = "off"
"#;
    let run = check("good", &toml);
    assert_eq!(run.complained, "");
    assert_eq!(run.code, Some(0));
    assert_eq!(
        run.said,
        "\
top level:
ROUTE                 LIMIT        SCOPE   RATE                      BURST  INTERVAL  COST  MODE     ON_ERROR
(every request)       base/ip      ip      1200/min                  1200   50ms      1     enforce  local
api.example.com/v1/*  api/key      key     100/s                     200    10ms      2     enforce  open
/v1/*                 api/key-2    key     100000/day Asia/Shanghai  -      -         2     enforce  open
GET /healthz          health       -       -                         -      -         -     exempt   -
/ready
/old                  old          -       -                         -      -         -     off      -
/text                 text/global  global  60/min                    3      1s        1     shadow   closed
"
    );
}

#[test]
fn the_addresses_that_stand_apart_are_shown_below_the_table() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars]
ALLOW = "203.0.113.7, ::ffff:10.0.0.0/104"
BLOCK = ["2001:DB8::/32"]
[vars.LIMIT_BACK_OFFICE]
route = "/back-office/*"
block = "198.51.100.0/24"
"#;
    let run = check("lists", &toml);
    assert_eq!((run.code, run.complained.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.said.lines().skip(3).collect();
    let expected =
        ["ALLOW: 203.0.113.7, 10.0.0.0/8", "BLOCK: 2001:db8::/32", "LIMIT_BACK_OFFICE.block: 198.51.100.0/24"];
    assert_eq!(lines, expected, "{}", run.said);
}

#[test]
fn capacity_is_shown_with_the_limits_and_below_them() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars.LIMIT_BASE]
in_flight = "auto"
timeout = "10s"
[vars.LIMIT_PAY]
route = "/pay"
in_flight = "200"
sockets = "50"
wait = "100ms"
priority = "high"
"#;
    let run = check("capacity", &toml);
    assert_eq!((run.code, run.complained.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.said.lines().skip(2).collect();
    let expected = [
        "(every request)  base/in-flight  global  auto 10..1000 at once  -      -         1     enforce  closed",
        "/pay             pay/in-flight   global  200 at once            -      -         1     enforce  closed",
        "                 pay/sockets     global  50 at once             -      -         1     enforce  closed",
        "LIMIT_BASE.timeout: 10s",
        "LIMIT_PAY.wait: 100ms",
        "LIMIT_PAY.priority: high",
    ];
    assert_eq!(lines, expected, "{}", run.said);
}

#[test]
fn caps_that_do_not_hear_of_clients_that_leave_are_warned_of() {
    let warned = |name: &str, flags: &str, limit: &str| {
        let flagged = PLATFORM.lines().nth(1).unwrap();
        let said = check(name, &format!("{}[vars.LIMIT_BASE]\n{limit}\n", PLATFORM.replace(flagged, flags))).said;
        said.lines().filter(|line| line.contains("compatibility_flags")).map(str::to_owned).collect::<Vec<_>>()
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
fn the_likely_mistakes_of_a_first_deploy_are_told() {
    let limits = "[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n";
    let with = |routes: &str, origin: &str| {
        let platform = PLATFORM.replace(PLATFORM.lines().nth(3).unwrap(), routes);
        check("first-deploy", &format!("{platform}[vars]\n{origin}\n{limits}"))
    };
    let (zone, custom) =
        (r#"routes = ["a.example.com/*"]"#, r#"route = { pattern = "a.example.com", custom_domain = true }"#);
    let origin = r#"ORIGIN = "https://b.example.com""#;
    assert!(with("", origin).said.contains("there are no routes"));
    assert!(with(zone, origin).said.contains("not to where the zone's DNS points"));
    let itself = with(custom, "");
    assert_eq!(itself.code, Some(1));
    assert!(itself.complained.contains("routes: a custom domain has no origin of its own"), "{}", itself.complained);
    for own in ["https://a.example.com", "https://A.example.com:443/api"] {
        let run = with(custom, &format!("ORIGIN = \"{own}\""));
        assert!(
            run.complained.contains("ORIGIN: a.example.com is this Worker's own custom domain"),
            "{}",
            run.complained
        );
    }
    let example = with(custom, r#"ORIGIN = "https://origin.example.com""#);
    assert!(example.said.contains("ORIGIN is still the example's"), "{}", example.said);
    let (id, none) = ("database_id = \"0\"", "database_id = \"00000000-0000-0000-0000-000000000000\"");
    let example = check("no-database", &(PLATFORM.replace(id, none) + limits));
    assert!(example.said.contains("database_id is still the example's"), "{}", example.said);
    for (routes, origin) in [(zone, ""), (custom, origin)] {
        let run = with(routes, origin);
        assert_eq!((run.code, run.said.contains("warning")), (Some(0), false), "{}", run.said);
    }
}

#[test]
fn key_01_keys_counted_without_addresses_are_warned_of() {
    let warned = |name: &str, vars: &str| {
        let said = check(name, &format!("{PLATFORM}[vars]\n{vars}")).said;
        said.lines().filter(|line| line.contains("counts keys alone")).count()
    };
    let api = r#"LIMIT_API = { route = "/api", per_key = "5/min" }"#;
    assert_eq!(warned("keys", api), 1);
    let with_base = |base: &str| format!("LIMIT_BASE = {base}\n{api}");
    assert_eq!(warned("keys-shadow", &with_base(r#"{ per_ip = "5/s", mode = "shadow" }"#)), 1);
    assert_eq!(warned("keys-base", &with_base(r#"{ per_ip = "5/s" }"#)), 0);
    assert_eq!(warned("keys-ip", r#"LIMIT_API = { route = "/api", per_key = "5/min", per_ip = "60/min" }"#), 0);
}

#[test]
fn cfg_01_all_faults_of_all_environments_are_reported_at_once() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars.LIMIT_LOGIN]
route = "POST /login"
per_ip = "5/minn"
limt = 5
cost = nan
[env.staging.vars.LIMIT_A]
route = "/a"
per_ip = "5/day"
[env.staging.vars.LIMIT_B]
route = "/a/"
per_ip = 2026-11-29
"#;
    complaints(
        "environments",
        &toml,
        &[
            "top level: LIMIT_LOGIN.limt: unknown field, expected route, per_ip, per_key, global, cost, mode, exempt, on_error, key, allow, block, message, docs, in_flight, sockets, wait, timeout, priority or warmup",
            "top level: LIMIT_LOGIN.per_ip: \"5/minn\": unknown period \"minn\", expected s, min, h, day, or a count such as 30s",
            "top level: LIMIT_LOGIN.cost: \"NaN\": expected a whole number, 1 or more",
            "env.staging: LIMIT_B.per_ip: \"2026-11-29\": expected a count and a period, such as 5/min, 100/s burst 200 or 1000/day",
            "env.staging: LIMIT_B.route: \"/a/\": the same route as \"/a\" in LIMIT_A.route",
            "env.staging: env.staging.durable_objects.bindings: there is none with name = \"BUCKETS\" and class_name = \"BucketActor\"",
        ],
    );
}

#[test]
fn an_environment_inherits_no_vars() {
    let run = check(
        "inherits",
        &(PLATFORM.to_owned() + "[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n[env.staging]\nname = \"s\"\n"),
    );
    assert_eq!(run.code, Some(0), "{}", run.complained);
    let note =
        "\nenv.staging: no [env.staging.vars], and wrangler lets no environment inherit vars, so it limits nothing\n";
    assert!(run.said.ends_with(note), "{}", run.said);
}

#[test]
fn a_file_without_limits_says_so() {
    assert_eq!(
        check("empty", "workers_dev = false\nroute = \"a.example.com/*\"").said,
        "top level: no [vars], so it limits nothing\n"
    );
    let run = check("foreign", &(PLATFORM.to_owned() + "[vars]\nCOLOR = \"blue\"\n"));
    assert_eq!(run.said, "top level: no LIMIT_ in [vars], so it limits nothing\n");
}

#[test]
fn the_platform_must_have_what_the_limits_need() {
    let limits = "[vars.LIMIT_BASE]\nper_ip = [\"5/min\", \"9/day\"]\n";
    complaints(
        "nothing",
        limits,
        &[
            "top level: durable_objects.bindings: there is none with name = \"BUCKETS\" and class_name = \"BucketActor\"",
            "top level: d1_databases: there is no database with binding = \"DB\", and a daily quota needs one",
        ],
    );
    complaints(
        "budget-without-database",
        &(PLATFORM.replace("\"DB\"", "\"D1\"")
            + "[vars]\nBUDGET = \"100000/day\"\n[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n"),
        &["top level: d1_databases: there is no database with binding = \"DB\", and BUDGET needs one"],
    );
    let bindings = "[[durable_objects.bindings]]\nname = \"BUCKETS\"\nclass_name = \"BucketActor\"\n";
    let daily = "[[d1_databases]]\nbinding = \"DB\"\n";
    complaints(
        "no-migration",
        &format!("{bindings}{daily}{limits}"),
        &["top level: migrations: none makes the class, expected new_sqlite_classes = [\"BucketActor\"]"],
    );
    complaints(
        "old-migration",
        &format!("{bindings}{daily}[[migrations]]\ntag = \"v1\"\nnew_classes = [\"BucketActor\"]\n{limits}"),
        &[
            "top level: migrations: BucketActor is in new_classes, but it needs SQLite: expected new_sqlite_classes = [\"BucketActor\"]",
        ],
    );
    complaints(
        "other-class",
        &(PLATFORM.replace("class_name = \"BucketActor\"", "class_name = \"Other\"") + limits),
        &["top level: durable_objects.bindings: BUCKETS has another class, expected class_name = \"BucketActor\""],
    );
}

#[test]
fn cf_01_side_doors_are_warned_of() {
    let limits = "[vars]\nSECRET = \"s\"\nLIMIT_BASE = { per_ip = \"5/min\" }\n";
    let unrouted: String = PLATFORM
        .lines()
        .filter(|line| !line.contains("workers_dev") && !line.contains("routes"))
        .map(|line| format!("{line}\n"))
        .collect();
    let run = check("doors", &format!("preview_urls = true\n{unrouted}{limits}"));
    assert_eq!(run.code, Some(0), "{}", run.complained);
    let warnings: Vec<&str> = run.said.lines().filter(|line| line.contains("warning")).collect();
    assert_eq!(
        warnings,
        [
            "top level: warning: workers_dev is on: the Worker can be reached under a second name; set workers_dev = false",
            "top level: warning: preview_urls is on: every version can be reached under a name of its own; set preview_urls = false",
            "top level: warning: SECRET is in plain text here; `wrangler secret put SECRET` keeps it out of the file",
        ]
    );
    assert!(!run.said.contains("\"s\""));
}

#[test]
fn broken_toml_is_reported_with_its_line() {
    let run = check("broken", "name = \"x\"\n[vars\nKEY = 1\n");
    assert_eq!(run.code, Some(1));
    assert!(
        run.complained.starts_with(&format!("{}: TOML parse error at line 2, column 6\n", run.file)),
        "{}",
        run.complained
    );
    let run = check("no-table", "vars = 5\n");
    assert_eq!(
        (run.code, run.complained),
        (Some(1), format!("{}: top level: vars: not a table, expected [vars]\n", run.file))
    );
}

#[test]
fn a_missing_file_is_named() {
    let run = run(&["nowhere/wrangler.toml"]);
    assert_eq!(run.code, Some(1));
    assert!(run.complained.starts_with("nowhere/wrangler.toml: cannot be read: "), "{}", run.complained);
}

#[test]
fn a_wrong_call_is_told_the_right_one() {
    for arguments in [["a", "b"].as_slice(), &["--help"]] {
        let run = run(arguments);
        assert_eq!((run.code, run.complained.as_str()), (Some(2), "usage: check [wrangler.toml]\n"));
    }
}
