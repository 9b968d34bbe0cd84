//! The forms of a configuration file.

use super::check_file;

/// A configuration with comments, trailing commas, and these vars.
fn jsonc(vars: &str) -> String {
    format!(
        r#"{{
  // The Worker's own name; "//" within a text is no comment: "https://example.com".
  "name": "penstock",
  "compatibility_flags": ["enable_request_signal",],
  "workers_dev": false, /* one
  two */ "routes": [{{ "pattern": "api.example.com/*", "zone_name": "example.com" }}],
  "durable_objects": {{ "bindings": [{{ "name": "BUCKETS", "class_name": "BucketActor" }}] }},
  "migrations": [{{ "tag": "v1", "new_sqlite_classes": ["BucketActor"] }}],
  "vars": {{
{vars}
  }},
}}
"#
    )
}

#[test]
fn jsonc_is_read_with_comments_and_trailing_commas() {
    for name in ["good.jsonc", "good.json"] {
        let run = check_file(name, &jsonc("\"LIMIT_BASE\": { \"per_ip\": [\"5/min\",], }, // all"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        assert!(run.stdout.contains("  base/ip  ip     5/min"), "{}", run.stdout);
        assert!(!run.stdout.contains("warning"), "{}", run.stdout);
    }
}

#[test]
fn faults_in_jsonc_have_their_lines() {
    let limit = "    \"LIMIT_A\": {\n      \"route\": [\"/a\",\n        \"^/b\"],\n      \"per_ip\": \"5/minute\"\n    },\n    \"LIMT_B\": {}";
    let run = check_file("faults.jsonc", &jsonc(limit));
    let places: Vec<String> = run
        .stderr
        .lines()
        .skip(1)
        .map(|line| line.replace(&run.file, "").split(": ").take(3).collect::<Vec<_>>().join(": "))
        .collect();
    assert_eq!(
        places,
        [":12: top level: LIMIT_A.route[1]", ":13: top level: LIMIT_A.per_ip", ":15: top level: LIMT_B"]
    );
    assert_eq!(run.code, Some(1));
}

#[test]
fn a_limit_that_is_there_twice_is_a_fault_since_wrangler_takes_the_last() {
    let twice = "    \"LIMIT_BASE\": { \"per_ip\": \"5/min\" },\n    \"LIMIT_BASE\": { \"global\": \"5/s\" }";
    let run = check_file("twice.jsonc", &jsonc(twice));
    let fault =
        "whole file: vars.LIMIT_BASE: is there twice, and wrangler takes the last of them: join them, or rename one";
    assert_eq!((run.code, run.stderr.lines().nth(1).unwrap().split_once(": ").unwrap().1), (Some(1), fault));
}

#[test]
fn broken_json_is_reported_with_its_line() {
    for broken in ["{\n  \"vars\": {\n    \"KEY\" 5 } }", "{\n  'vars': {} }", "{\n  vars: {} }", "[]", ""] {
        let run = check_file("broken.jsonc", broken);
        assert_eq!(run.code, Some(1), "{broken}: {}", run.stdout);
        assert!(run.stderr.starts_with(&format!("{}: ", run.file)), "{}", run.stderr);
        assert!(broken.len() < 3 || run.stderr.contains("line "), "{}", run.stderr);
    }
}

/// Runs the checker in a folder with these files, without naming one.
fn in_folder(name: &str, files: &[&str]) -> (String, String) {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for file in files {
        let text = match file.ends_with("toml") {
            true => format!("{}[vars.LIMIT_BASE]\nper_ip = \"7/min\"\n", super::PLATFORM),
            false => jsonc(&format!("\"LIMIT_BASE\": {{ \"per_ip\": \"{}/min\" }}", file.len())),
        };
        std::fs::write(folder.join(file), text).unwrap();
    }
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_check")).current_dir(folder).output().unwrap();
    assert!(run.status.success());
    (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap())
}

#[test]
fn of_several_files_the_one_that_wrangler_reads_is_read() {
    let (toml, json, jsonc) = ("wrangler.toml", "wrangler.json", "wrangler.jsonc");
    let (stdout, stderr) = in_folder("files-1", &[toml]);
    assert!(stdout.contains(" 7/min") && stderr.is_empty(), "{stdout}{stderr}");
    let (stdout, stderr) = in_folder("files-2", &[toml, jsonc]);
    assert!(stdout.contains(" 14/min"), "{stdout}");
    assert_eq!(
        stderr,
        "warning: wrangler reads wrangler.jsonc and not wrangler.toml; CONFIG=wrangler.toml names the other one\n"
    );
    let (stdout, stderr) = in_folder("files-3", &[toml, jsonc, json]);
    assert!(stdout.contains(" 13/min") && stderr.lines().count() == 2, "{stdout}{stderr}");
}
