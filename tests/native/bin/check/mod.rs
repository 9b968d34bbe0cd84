//! The checker as a program, over good and bad files.

mod deployment;
mod lists;
mod platform;
mod report;
mod table;

use crate::support::PLATFORM;
use std::path::PathBuf;
use std::process::Command;

/// One call of the checker.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    file: String,
}

/// Runs the checker over a file with this text. No two calls use the same `name`.
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
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        file: arguments.first().copied().unwrap_or_default().to_owned(),
    }
}

/// Expects exactly these lines of faults.
#[track_caller]
fn expect_faults(name: &str, toml: &str, expected: &[&str]) {
    let run = check(name, toml);
    let head = format!("{}: {} {}", run.file, expected.len(), if expected.len() == 1 { "fault" } else { "faults" });
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines, [&[head.as_str()], expected].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_wrong_call_prints_the_usage() {
    for arguments in [["a", "b"].as_slice(), &["--help"]] {
        let run = run(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), "usage: check [wrangler.toml]\n"));
    }
}
