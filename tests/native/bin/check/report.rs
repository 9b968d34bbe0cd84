//! The report of a whole file.

use super::{PLATFORM, check, expect_faults, run};

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
    expect_faults(
        "environments",
        &toml,
        &[
            "19: top level: LIMIT_LOGIN.limt: unknown field, expected route, per_ip, per_key, global, cost, mode, exempt, on_error, key, allow, block, message, docs, support, name, in_flight, sockets, wait, timeout, upload, socket_idle, priority or warmup",
            "18: top level: LIMIT_LOGIN.per_ip: \"5/minn\": unknown period \"minn\", expected s, min, h, day, or a count such as 30s",
            "20: top level: LIMIT_LOGIN.cost: \"NaN\": expected a whole number, 1 or more",
            "26: env.staging: LIMIT_B.per_ip: \"2026-11-29\": expected a count and a period, such as 5/min, 100/s burst 200 or 1000/day",
            "25: env.staging: LIMIT_B.route: \"/a/\": the same route as \"/a\" in LIMIT_A.route",
            "21: env.staging: env.staging.durable_objects.bindings: there is none with name = \"BUCKETS\" and class_name = \"BucketActor\"",
        ],
    );
}

#[test]
fn key_01_keys_counted_without_addresses_are_warned_of() {
    let warned = |name: &str, vars: &str| {
        let stdout = check(name, &format!("{PLATFORM}[vars]\n{vars}")).stdout;
        stdout.lines().filter(|line| line.contains("counts keys alone")).count()
    };
    let api = r#"LIMIT_API = { route = "/api", per_key = "5/min" }"#;
    assert_eq!(warned("keys", api), 1);
    let with_base = |base: &str| format!("LIMIT_BASE = {base}\n{api}");
    assert_eq!(warned("keys-shadow", &with_base(r#"{ per_ip = "5/s", mode = "shadow" }"#)), 1);
    assert_eq!(warned("keys-base", &with_base(r#"{ per_ip = "5/s" }"#)), 0);
    assert_eq!(warned("keys-ip", r#"LIMIT_API = { route = "/api", per_key = "5/min", per_ip = "60/min" }"#), 0);
}

#[test]
fn a_file_without_limits_says_so() {
    assert_eq!(
        check("empty", "workers_dev = false\nroute = \"a.example.com/*\"").stdout,
        "top level: no [vars], so it limits nothing\n"
    );
    let run = check("foreign", &(PLATFORM.to_owned() + "[vars]\nCOLOR = \"blue\"\n"));
    assert_eq!(run.stdout, "top level: no LIMIT_ in [vars], so it limits nothing\n");
}

#[test]
fn a_missing_file_is_named() {
    let run = run(&["nowhere/wrangler.toml"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("nowhere/wrangler.toml: cannot be read: "), "{}", run.stderr);
}
