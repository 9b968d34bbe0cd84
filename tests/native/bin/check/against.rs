//! The effect of an edit on counts, in words.

use super::{PLATFORM, Run, run};
use std::path::PathBuf;

/// Compares two vars, `new` against `old`. No two calls use the same `name`.
fn against(name: &str, old: &str, new: &str) -> Run {
    let write = |suffix: &str, vars: &str| {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{suffix}.toml"));
        std::fs::write(&file, format!("{PLATFORM}{vars}")).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (old, new) = (write("old", old), write("new", new));
    run(&[&new, "--against", &old])
}

/// The lines below `top level, against …`.
fn fates(name: &str, old: &str, new: &str) -> Vec<String> {
    let run = against(name, &format!("[vars]\n{old}"), &format!("[vars]\n{new}"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    let (_, told) = run.stdout.split_once("top level, against ").unwrap();
    let told = told.split("\n\n").next().unwrap();
    told.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn cfg_10_check_says_what_is_kept_cut_anew_and_dropped() {
    let old = r#"
LIMIT_BASE  = { per_ip = "1200/min", global = "5000/s" }
LIMIT_API   = { route = "/v1/*", per_ip = "60/min", per_key = ["5/h", "100/day", "100/s burst 200"] }
LIMIT_LOGIN = { route = "/login", per_ip = "10/min" }
LIMIT_OLD   = { route = "/old", per_ip = "5/min" }
"#;
    let new = r#"
LIMIT_BASE  = { per_ip = "1200/min" }
LIMIT_API   = { route = "/v1/*", per_ip = "60/min", per_key = ["100/day Asia/Shanghai", "6/h", "80/s burst 200", "9/min"] }
LIMIT_LOGIN = { route = "/login", per_ip = "5/min" }
LIMIT_NEW   = { route = "/old", per_ip = "5/min" }
"#;
    assert_eq!(
        fates("fates", old, new),
        [
            "kept     base/ip      1200/min",
            "kept     api/ip       60/min",
            "anew     api/key      100/day Asia/Shanghai: in place of 100/day, and another zone is another counter",
            "kept     api/key-2    5/h → 6/h: tokens that are used stay used; it was called api/key",
            "kept     api/key-3    100/s burst 200 → 80/s burst 200: tokens that are used stay used",
            "anew     api/key-4    9/min: nothing was counted for it before",
            "cut      login/ip     10/min → 5/min: who has used more than 5 has used 5",
            "anew     new/ip       5/min: the binding was called old, and another binding is another counter",
            "dropped  base/global  5000/s: nobody asks for its count",
            "dropped  api/key-2    100/day: nobody asks for its count",
            "dropped  old/ip       5/min: nobody asks for its count",
        ]
    );
}

#[test]
fn cfg_10_swapped_and_added_neighbours_keep_their_counts() {
    let old = r#"LIMIT_BASE = { per_ip = "1/day" }"#;
    let new = r#"LIMIT_BASE = { per_ip = ["100/s", "1/day"] }"#;
    assert_eq!(
        fates("neighbours", old, new),
        ["anew  base/ip    100/s: nothing was counted for it before", "kept  base/ip-2  1/day; it was called base/ip",]
    );
    let period = r#"LIMIT_BASE = { per_ip = "5/min" }"#;
    assert_eq!(
        fates("period", period, r#"LIMIT_BASE = { per_ip = "5/h" }"#),
        [
            "anew     base/ip  5/h: in place of 5/min, and another period is another counter",
            "dropped  base/ip  5/min: nobody asks for its count",
        ]
    );
}

#[test]
fn limit_that_is_switched_off_keeps_its_count() {
    let on = r#"LIMIT_A = { route = "/a", per_ip = "5/h" }"#;
    let off = r#"LIMIT_A = { route = "/a", per_ip = "5/h", mode = "off" }"#;
    assert_eq!(fates("off", on, off), ["kept  a/ip  5/h"]);
    let text = r#"LIMIT_A = '{"route": "/a", "per_ip": "6/h", "mode": "off"}'"#;
    assert_eq!(fates("on", text, on), ["cut  a/ip  6/h → 5/h: who has used more than 5 has used 5"]);
}

#[test]
fn each_deployment_is_compared_with_its_own() {
    let platform = PLATFORM.replace("[[durable", "[[env.staging.durable").replace("[[d1", "[[env.staging.d1");
    let staging = format!(
        "{}\n[env.staging.vars]\nLIMIT_A = {{ route = \"/a\", per_ip = \"5/h\" }}\n",
        platform
            .lines()
            .filter(|line| !line.contains("migrations") && !line.contains("tag") && !line.contains("new_sql"))
            .skip(4)
            .collect::<Vec<_>>()
            .join("\n")
    );
    let top = "[vars]\nLIMIT_A = { route = \"/a\", per_ip = \"6/h\" }\n";
    let run = against("staging", &format!("{top}{staging}"), top);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("\n  kept  a/ip  6/h\n"), "{}", run.stdout);
    assert!(run.stdout.ends_with(": is no deployment any more\n"), "{}", run.stdout);
    let none = against("none", "", top);
    assert!(none.stdout.ends_with("  anew  a/ip  6/h: nothing was counted for it before\n"), "{}", none.stdout);
}

#[test]
fn old_file_that_cannot_be_compared_is_an_error() {
    let good = "[vars]\nLIMIT_A = { route = \"/a\", per_ip = \"6/h\" }\n";
    let run = against("broken", "[vars]\nLIMIT_A = { route = \"/a\", per_ip = \"6/hh\" }\n", good);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.contains("broken-old.toml: top level: LIMIT_A.per_ip: \"6/hh\""), "{}", run.stderr);
    let run = super::run(&[&run.file, "--against", "nowhere.toml"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("nowhere.toml: cannot be read: "), "{}", run.stderr);
}
