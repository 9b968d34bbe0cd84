//! Warnings about a policy without faults.

use super::{PLATFORM, Run, check};

fn with_vars(name: &str, vars: &str) -> Run {
    check(name, &format!("{PLATFORM}[vars]\n{vars}\n"))
}

fn warnings(name: &str, vars: &str) -> Vec<String> {
    let run = with_vars(name, vars);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stdout.lines().filter_map(|line| line.strip_prefix("top level: warning: ")).map(str::to_owned).collect()
}

const BASE: &str = "LIMIT_BASE = { per_ip = \"5/min\", in_flight = 5, timeout = \"10s\" }";

#[test]
fn the_table_shows_the_mode_that_holds_and_nothing_enforced_is_said_plainly() {
    let own = r#"LIMIT_SHADOW = { route = "/s", global = "1/s", mode = "shadow" }"#;
    for (mode, effect, modes) in [
        ("shadow", "limits and caps decide, count and log", ["shadow", "shadow", "shadow"]),
        ("off", "limits and caps are not asked", ["off", "off", "off"]),
    ] {
        let run = with_vars(&format!("mode-{mode}"), &format!("MODE = \"{mode}\"\n{BASE}\n{own}"));
        let warning = format!(
            "top level: warning: NOTHING IS ENFORCED: MODE is \"{mode}\": {effect}, and refuse nobody; BLOCK, timeout and upload hold\n"
        );
        assert!(run.code == Some(0) && run.stdout.contains(&warning), "{}{}", run.stdout, run.stderr);
        let rows = run.stdout.lines().filter(|line| line.starts_with("  ") && line.contains('/'));
        let shown: Vec<&str> = rows.map(|row| row.split_whitespace().rev().nth(1).unwrap()).collect();
        assert_eq!(shown, modes, "{}", run.stdout);
    }
    assert!(warnings("mode-enforce", &format!("MODE = \"enforce\"\n{BASE}")).is_empty());
}

#[test]
fn an_open_misconfigured_says_what_would_happen() {
    let open = format!("MISCONFIGURED = \"open\"\n{BASE}");
    assert_eq!(
        warnings("open", &open),
        ["MISCONFIGURED is \"open\": should the configuration be broken, requests pass without limits"]
    );
    for (name, more, fate) in [
        ("open-fault", "LIMIT_X = 5", "requests would pass without limits"),
        (
            "open-origin",
            "ORIGIN = \"x\"",
            "requests would be answered with 500 all the same, since ORIGIN cannot be read",
        ),
    ] {
        let run = with_vars(name, &format!("{more}\n{open}"));
        let last = run.stderr.lines().last().unwrap();
        assert_eq!(last, format!("top level: MISCONFIGURED is \"open\": deployed like this, {fate}"), "{}", run.stderr);
        assert_eq!(run.code, Some(1));
    }
    let closed = with_vars("closed-fault", &format!("LIMIT_X = 5\n{BASE}"));
    assert!(!closed.stderr.contains("deployed like this"), "{}", closed.stderr);
}

#[test]
fn sec_01_a_secret_that_can_be_guessed_is_warned_of_without_a_word_of_it() {
    let found = warnings("weak-secret", &format!("SECRET = \"hunter2\"\n{BASE}"));
    assert!(
        found.iter().any(|warning| warning.starts_with("SECRET can be guessed: it has under 16 bytes")),
        "{found:?}"
    );
    assert!(!found.iter().any(|warning| warning.contains("hunter2")), "{found:?}");
    let strong = warnings("strong-secret", &format!("SECRET = \"0a1b2c3d4e5f60718293a4b5c6d7e8f9\"\n{BASE}"));
    assert!(!strong.iter().any(|warning| warning.contains("guessed")), "{strong:?}");
}

#[test]
fn an_origin_secret_that_protects_nothing_is_warned_of_without_a_word_of_it() {
    let secret = |name: &str, vars: &str| warnings(name, &format!("ORIGIN_SECRET = {vars}\n{BASE}"));
    let found = secret("weak-origin-secret", "\"hunter2\"\nORIGIN = \"https://o.example.com\"");
    assert!(found.iter().any(|warning| warning.starts_with("ORIGIN_SECRET can be guessed: ")), "{found:?}");
    assert!(found.iter().any(|warning| warning.starts_with("ORIGIN_SECRET is in plain text here; ")), "{found:?}");
    assert!(!found.iter().any(|warning| warning.contains("hunter2")), "{found:?}");
    let idle = secret("idle-origin-secret", "\"0a1b2c3d4e5f60718293a4b5c6d7e8f9\"");
    assert!(idle.contains(&"ORIGIN_SECRET is sent to nobody, because there is no ORIGIN".to_owned()), "{idle:?}");
}

#[test]
fn the_lock_of_an_origin_is_advised() {
    let lines = |name: &str, vars: &str| {
        let run = with_vars(name, &format!("{vars}\n{BASE}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let about = |what: &str| run.stdout.lines().filter(|line| line.contains(what)).count();
        (about("advice: if others can reach ORIGIN"), about("warning: the path of ORIGIN looks like a lock"))
    };
    assert_eq!(lines("lock-none", ""), (0, 0));
    let secret = "ORIGIN_SECRET = \"0a1b2c3d4e5f60718293a4b5c6d7e8f9\"";
    assert_eq!(lines("lock-there", &format!("ORIGIN = \"https://o.example.com\"\n{secret}")), (0, 0));
    for (index, path) in ["", "/", "/v2/base", "/api2024", "/s3-eu-west-1", "/2026/q4", "/oauth2/v1"].iter().enumerate()
    {
        let vars = format!("ORIGIN = \"https://a1b2c3d4.example.com{path}\"");
        assert_eq!(lines(&format!("lock-plain-{index}"), &vars), (1, 0), "{path}");
    }
    for (index, path) in
        ["/secret-7f3", "/v2/My-Secret", "/7f3a9c", "/x/k4f9b2m1", "/550e8400-e29b-41d4-a716"].iter().enumerate()
    {
        let vars = format!("ORIGIN = \"https://o.example.com{path}\"");
        assert_eq!(lines(&format!("lock-path-{index}"), &vars), (1, 1), "{path}");
    }
}

#[test]
fn cfg_11_a_fast_rate_with_a_small_burst_is_warned_of_with_its_cost() {
    let global = |rate: &str| {
        let vars = format!("LIMIT_BASE = {{ global = \"{rate}\" }}");
        warnings(&format!("burst-{}", rate.replace('/', "-")), &vars)
    };
    assert_eq!(
        global("3000/s burst 100"),
        [
            "base/global has a small burst: an isolate takes 12 tokens ahead at most, and has nothing left before more is there, so nearly every request costs a call to its object, 3000 in a second; burst 3000 makes that a few per 1,000 requests"
        ]
    );
    let one = global("100/s burst 1").concat();
    assert!(one.contains("an isolate takes 1 token ahead at most"), "wrd_10: {one}");
    for enough in [
        "3000/s",
        "3000/s burst 600",
        "3000/s burst 3000",
        "3000/s burst 9000",
        "5/s burst 1",
        "60000/min",
        "20/s burst 10",
    ] {
        assert!(global(enough).is_empty(), "{enough}");
    }
}

#[test]
fn soc_10_cap_10_caps_whose_permits_may_be_kept_for_ever_are_warned_of() {
    let capacity = |name: &str, vars: &str| warnings(&format!("unbounded-{name}"), vars);
    assert_eq!(
        capacity("base", r#"LIMIT_BASE = { in_flight = 5, sockets = 5 }"#),
        [
            "base/in-flight has no timeout: requests that the origin never answers keep its permits; set timeout, \
             and upload says how long a client's body may stand still, 30s if it is left out",
            "base/sockets has no socket_idle: the runtime answers an origin's pings for a client that is gone, and \
             its slot stays taken; set socket_idle",
        ]
    );
    assert_eq!(
        capacity("route", r#"LIMIT_X = { route = "/x", in_flight = 5, upload = "10s" }"#),
        ["x/in-flight has no timeout: requests that the origin never answers keep its permits; \
          set timeout there or in LIMIT_BASE"]
    );
    let bounded = r#"
        LIMIT_BASE = { timeout = "10s", sockets = 9, socket_idle = "5min" }
        LIMIT_X = { route = "/x", in_flight = 5, sockets = 5 }
        LIMIT_Y = { route = "/y", in_flight = 5, mode = "shadow" }"#;
    assert!(capacity("bounded", bounded).is_empty());
}
