//! The checker as a program, over good and bad files.

mod advice;
mod against;
mod deployment;
mod lists;
mod lost_limits;
mod platform;
mod reach;
mod report;
mod source;
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
    check_file(&format!("{name}.toml"), toml)
}

/// The same of a file with this whole name.
fn check_file(name: &str, text: &str) -> Run {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).unwrap();
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

/// Expects exactly these faults, each with its line in `toml`: `7: top level: …`, or without a line
/// ` top level: …`.
#[track_caller]
fn expect_faults(name: &str, toml: &str, expected: &[&str]) {
    let run = check(name, toml);
    let head = format!("{} {}", expected.len(), if expected.len() == 1 { "fault" } else { "faults" });
    let lines: Vec<&str> =
        run.stderr.lines().map(|line| line.strip_prefix(&run.file).unwrap().strip_prefix(':').unwrap()).collect();
    assert_eq!(lines, [&[format!(" {head}").as_str()], expected].concat());
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_wrong_call_prints_the_usage() {
    for arguments in [["a", "b"].as_slice(), &["--help"], &["a", "--against"], &["--against", "a", "--against", "b"]] {
        let run = run(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), "usage: check [FILE] [--against OLD]\n"));
    }
}
