//! The deployments of a wrangler.toml.

use super::{PLATFORM, check, expect_faults};

#[test]
fn an_environment_without_limits_has_lost_them() {
    let limits = PLATFORM.to_owned() + "[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n[env.staging]\nname = \"s\"\n";
    let lost = "17: env.staging: env.staging.vars: no LIMIT_ at all, and wrangler lets no environment inherit vars, so it limits nothing: repeat the limits as [env.staging.vars.LIMIT_…], or say MODE = \"off\" in [env.staging.vars] if that is meant";
    expect_faults("inherits", &limits, &[lost]);
    let bindings = PLATFORM.replace("[[", "[[env.staging.").replace("[[env.staging.migrations]]", "[[migrations]]");
    let environment: String = bindings.lines().skip(4).map(|line| format!("{line}\n")).collect();
    let vars = |vars: &str| {
        format!("{limits}{}[env.staging.vars]\n{vars}\n", environment.split("[[migrations]]").next().unwrap())
    };
    expect_faults("inherits-vars", &vars("COLOR = \"blue\""), &[lost]);
    let run = check("inherits-off", &vars("MODE = \"off\""));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn broken_toml_is_reported_with_its_line() {
    let run = check("broken", "name = \"x\"\n[vars\nKEY = 1\n");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with(&format!("{}: TOML parse error at line 2, column 6\n", run.file)), "{}", run.stderr);
    let run = check("no-table", "vars = 5\n");
    assert_eq!(
        (run.code, run.stderr),
        (Some(1), format!("{}: top level: vars: not a table, expected [vars]\n", run.file))
    );
}
