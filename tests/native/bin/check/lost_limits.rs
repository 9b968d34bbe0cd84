//! Mistakes that lose a limit: the checker finds each, with its line and the way out.

use super::{PLATFORM, check_file};

/// Lines before the first one of an example: the platform's part.
fn lines_before() -> usize {
    PLATFORM.lines().count()
}

/// Mistakes in TOML: the example, the line of the fault in it (from 1), and words of the way out.
const MISTAKES: &[(&str, usize, &str)] = &[
    // Limits and vars outside of [vars].
    ("[LIMIT_LOGIN]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "its heading is [vars.LIMIT_LOGIN]"),
    ("[login]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "its heading is [vars.LIMIT_LOGIN]"),
    ("[limits.LIMIT_LOGIN]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "its heading is [vars.LIMIT_LOGIN]"),
    ("[vars.x.LIMIT_Y]\nroute = \"/y\"\nper_ip = \"5/min\"", 1, "its heading is [vars.LIMIT_Y]"),
    ("[var]\nLIMIT_Y = { route = \"/y\", per_ip = \"5/min\" }", 1, "did you mean [vars]?"),
    ("[Vars.LIMIT_Y]\nroute = \"/y\"\nper_ip = \"5/min\"", 1, "did you mean [vars]?"),
    ("[staging.vars.LIMIT_Y]\nroute = \"/y\"\nper_ip = \"5/min\"", 1, "did you mean [env.staging.vars]?"),
    ("[environments.staging.vars.LIMIT_Y]\nroute = \"/y\"\nper_ip = \"5/min\"", 1, "did you mean [env.NAME]?"),
    (
        "[migration]\n[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\n[vars.LIMIT_A.LIMIT_B]\nroute = \"/b\"\nper_ip = \"5/min\"",
        5,
        "its heading is [vars.LIMIT_B]",
    ),
    // Lines below the heading of a limit.
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\nBLOCK = \"203.0.113.7\"",
        4,
        "move it up, directly below [vars]",
    ),
    ("[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\nMODE = \"shadow\"", 4, "move it up, directly below [vars]"),
    // Names that are nearly right.
    ("[vars.LIMT_LOGIN]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "such as `LIMIT_LOGIN`"),
    ("[vars.limit_login]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "such as `LIMIT_LOGIN`"),
    ("[vars.LOGIN_LIMIT]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "such as `LIMIT_LOGIN`"),
    ("[vars.LOGIN]\nroute = \"/login\"\nper_ip = \"5/min\"", 1, "such as `LIMIT_LOGIN`"),
    ("[vars]\nLOGIN = '{ \"route\": \"/login\", \"per_ip\": \"5/min\" }'", 2, "such as `LIMIT_LOGIN`"),
    ("[vars]\nBLOCKLIST = \"203.0.113.7\"", 2, "did you mean `BLOCK`?"),
    ("[vars]\nDENY_LIST = \"203.0.113.7\"", 2, "did you mean `BLOCK`?"),
    ("[vars]\nALLOWED = \"203.0.113.7\"", 2, "did you mean `ALLOW`?"),
    ("[vars]\nTIMEOUT = \"5s\"", 2, "write it below [vars.LIMIT_BASE]"),
    ("[vars]\nper_ip = \"5/min\"", 2, "write it below [vars.LIMIT_BASE]"),
    ("[vars]\nMISCONFIGURD = \"closed\"", 2, "did you mean `MISCONFIGURED`?"),
    ("[vars.LIMIT_A]\nroute = \"/a\"\nglobal = \"5/s\"\nper-ip = \"5/min\"", 4, "did you mean `per_ip`?"),
    ("[vars.LIMIT_A]\nrotue = \"/a\"\nper_ip = \"5/min\"", 2, "did you mean `route`?"),
    // Values.
    ("[vars.LIMIT_A]\nroute = \"POST/login\"\nper_ip = \"5/min\"", 2, "expected \"POST /login\""),
    ("[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = [\"9/s\", \"5/minute\"]", 3, "did you mean min?"),
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = [\n  \"9/s\",\n  \"5/day Asia/Peking\",\n]",
        5,
        "did you mean Asia/Shanghai?",
    ),
    ("[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = 5", 3, "a rate such as \"5/min\""),
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nin_flight = 5\nwait = 100",
        4,
        "a duration needs its unit, such as \"100s\" or \"100ms\"",
    ),
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\n[vars.LIMIT_B]\nroute = \"/a/\"\nper_ip = \"9/min\"",
        5,
        "the same route as \"/a\" in LIMIT_A.route",
    ),
    ("[[vars.LIMIT_A]]\nroute = \"/a\"\nper_ip = \"5/min\"", 1, "not a table"),
    ("[vars]\nMODE = \"shaddow\"", 2, "expected \"enforce\", \"shadow\" or \"off\""),
    // Environments.
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\n[env.staging.vars]\nORIGIN = \"https://o.example.com\"",
        4,
        "repeat the limits as [env.staging.vars.LIMIT_…]",
    ),
    (
        "[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\n[env.staging.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"",
        4,
        "its heading is [env.staging.vars.LIMIT_A]",
    ),
];

#[test]
fn every_mistake_that_loses_a_limit_is_a_fault_with_its_line_and_the_way_out() {
    assert!(MISTAKES.len() >= 20);
    for (number, (example, line, way_out)) in MISTAKES.iter().enumerate() {
        let run = check_file(&format!("lost-{number}.toml"), &format!("{PLATFORM}{example}\n"));
        assert_eq!(run.code, Some(1), "{example}\n{}{}", run.stdout, run.stderr);
        let place = format!("{}:{}: ", run.file, lines_before() + line);
        let found = run.stderr.lines().any(|fault| fault.starts_with(&place) && fault.contains(way_out));
        assert!(found, "{example}\nexpected {place}… {way_out}\n{}", run.stderr);
    }
}

#[test]
fn a_var_above_the_platform_is_lost_outside_of_vars() {
    let text = format!("BLOCK = \"203.0.113.7\"\n{PLATFORM}[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n");
    let run = check_file("lost-above.toml", &text);
    let fault = format!(
        "{}:1: top level: BLOCK: stands outside [vars], where no Worker sees it: write it directly below [vars]",
        run.file
    );
    assert_eq!((run.code, run.stderr.lines().nth(1)), (Some(1), Some(fault.as_str())));
}

#[test]
fn an_environment_that_lacks_some_limits_is_warned_of() {
    let limits = "[vars]\nBLOCK = \"203.0.113.7\"\n[vars.LIMIT_A]\nroute = \"/a\"\nper_ip = \"5/min\"\n";
    let objects = "[[env.staging.durable_objects.bindings]]\nname = \"BUCKETS\"\nclass_name = \"BucketActor\"\n";
    let own = "[env.staging.vars.LIMIT_B]\nroute = \"/b\"\nper_ip = \"5/min\"\n";
    let run = check_file("lost-some.toml", &format!("{PLATFORM}{limits}{objects}{own}"));
    let warning = "env.staging: warning: wrangler lets no environment inherit vars, so it has no BLOCK, LIMIT_A of the top level\n";
    assert!(run.code == Some(0) && run.stdout.contains(warning), "{}{}", run.stdout, run.stderr);
}

#[test]
fn names_of_wrangler_and_of_other_programs_are_no_mistakes() {
    let others = "[limits]\ncpu_ms = 50\n[placement]\nmode = \"smart\"\n[vars]\nCOLOR = \"blue\"\nBUCKET = \"b\"\nALLOWED_ORIGINS = \"x\"\nNODE = \"n\"\nBLOCK_SIZE = 5\n[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n";
    let run = check_file("not-lost.toml", &format!("{PLATFORM}{others}"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}
