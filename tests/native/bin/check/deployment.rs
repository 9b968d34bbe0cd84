//! The deployments of a wrangler.toml.

use super::{PLATFORM, check};

#[test]
fn an_environment_inherits_no_vars() {
    let run = check(
        "inherits",
        &(PLATFORM.to_owned() + "[vars.LIMIT_BASE]\nper_ip = \"5/min\"\n[env.staging]\nname = \"s\"\n"),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let note =
        "\nenv.staging: no [env.staging.vars], and wrangler lets no environment inherit vars, so it limits nothing\n";
    assert!(run.stdout.ends_with(note), "{}", run.stdout);
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
